// The commands `delegations` and `sessions`: who acts for whom, and how far they got.

import type { Command } from 'commander'
import type { To } from '../commands.ts'
import { collect, examples, local, remote, whole } from '../program/forms.ts'

/** `delegations`. */
export function addDelegations(program: Command, to: To): void {
  const delegations = program
    .command('delegations')
    .summary('who may act for whom')
    .description('Delegations: one principal lets another act for it, within limits, until a time.')
  remote(delegations, 'list')
    .summary('list the delegations')
    .addHelpText(...examples(['tollgate delegations list', '']))
    .action(to(async () => (await import('./delegations.ts')).runList))
  remote(delegations, 'show')
    .summary('show one, and all that it hangs from')
    .argument('<delegation>', 'its id, or the first characters of it')
    .addHelpText(...examples(['tollgate delegations show 3f2a9c01', '']))
    .action(to(async () => (await import('./delegations.ts')).runShow))
  addGrant(delegations, to)
  remote(delegations, 'revoke')
    .summary('take one back, and with it all that hang below it')
    .argument('<delegation>', 'its id, or the first characters of it')
    .addHelpText(...examples(['tollgate delegations revoke 3f2a9c01', '']))
    .action(to(async () => (await import('./delegations.ts')).runRevoke))
  local(delegations, 'key')
    .summary('make a key that signs delegations')
    .description(
      'Makes a private key in a new file that only you can read, and prints the line of its public key for policy.yaml.',
    )
    .argument('<file>', 'the new file')
    .addHelpText(...examples(['tollgate delegations key planner.pem', '']))
    .action(to(async () => (await import('./delegation-key.ts')).runKey))
}

function addGrant(delegations: Command, to: To): void {
  remote(delegations, 'grant')
    .summary('sign one, and register it')
    .description(
      'Signs a delegation with the key of its delegator, here on this machine, and hands it to the gateway.\nIt grants nothing by itself: each call is judged as before, and must lie within it besides.',
    )
    .requiredOption('--from <principal>', 'who delegates; its public key is in the policy')
    .requiredOption('--to <principal>', 'who may act for it')
    .requiredOption('--tools <pattern>', 'a tool, or some of them with `*`; may be given again', collect)
    .option('--effects <class>', 'only what does this, such as read; may be given again', collect)
    .requiredOption('--until <time>', 'how long, such as 2h or 30d, or a moment')
    .addOption(whole('--depth <n>', 'how many further delegations may hang below it', 0, 8).default(0))
    .option('--parent <delegation>', 'the one that it narrows, where the delegator acts for others itself')
    .option('--session <id>', 'only in this session')
    .requiredOption(
      '--key <file>',
      'the private key of the delegator, as `tollgate delegations key` makes it',
    )
    .addHelpText(
      ...examples([
        "tollgate delegations grant --from agent:planner --to agent:worker --tools 'fs/*' --until 2h --key planner.pem",
        '',
      ]),
    )
    .action(to(async () => (await import('./delegation-grant.ts')).runGrant))
}

/** `sessions`. */
export function addSessions(program: Command, to: To): void {
  const sessions = program
    .command('sessions')
    .summary('look at a session, take its risk from it, close it')
    .description('Sessions: what is remembered between the calls of a principal.')
  remote(sessions, 'show')
    .summary('show a session: its risk, its data, and in whose name it acts')
    .argument('<session>', 'its id')
    .option('--principal <name>', 'whose session; not needed if only one has it')
    .addHelpText(...examples(['tollgate sessions show s1 --principal agent:worker', '']))
    .action(to(async () => (await import('./sessions.ts')).runShow))
  remote(sessions, 'reset')
    .summary('take the risk from a session, and its share from its principal')
    .description(
      'For a session that is denied for its risk, once a person has looked at what it did. What it has read stays labelled. It is a receipt.',
    )
    .argument('<session>', 'its id')
    .requiredOption('--because <why>', 'why, for the receipt')
    .option('--principal <name>', 'whose session; not needed if only one has it')
    .addHelpText(
      ...examples(['tollgate sessions reset s1 --because "checked: the export was asked for"', '']),
    )
    .action(to(async () => (await import('./pardons.ts')).runReset))
  remote(sessions, 'close')
    .summary('close a session: all that is remembered of it goes')
    .description(
      'Its principal keeps its own risk. A call that names the session begins it again. It is a receipt.',
    )
    .argument('<session>', 'its id')
    .requiredOption('--because <why>', 'why, for the receipt')
    .option('--principal <name>', 'whose session; not needed if only one has it')
    .addHelpText(...examples(['tollgate sessions close s1 --because "the task is done"', '']))
    .action(to(async () => (await import('./pardons.ts')).runClose))
}

/** `trust`. */
export function addTrust(program: Command, to: To): void {
  const trust = program
    .command('trust')
    .summary('set the trust of a principal back')
    .description('Trust: what a principal has earned or lost by what came of its calls.')
  remote(trust, 'reset')
    .summary('set the trust of a principal back to where it began')
    .argument('<principal>', 'its name')
    .requiredOption('--because <why>', 'why, for the receipt')
    .addHelpText(...examples(['tollgate trust reset agent:worker --because "the tool was broken"', '']))
    .action(to(async () => (await import('./pardons.ts')).runTrustReset))
}
