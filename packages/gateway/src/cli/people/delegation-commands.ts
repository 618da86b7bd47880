// Declares `tollgate delegations`, `tollgate sessions` and `tollgate trust`.

import type { To } from '../commands.ts'
import { collect, local, remote, whole } from '../program/forms.ts'
import type { Command } from '../program/help.ts'

/** Adds `delegations`. */
export function addDelegations(program: Command, to: To): void {
  const delegations = program
    .command('delegations')
    .summary('list, grant and revoke delegations')
    .description('A delegation lets one principal act for another, within limits and until a time.')
  remote(delegations, 'list')
    .summary('list the delegations')
    .examples(['tollgate delegations list', ''])
    .action(to(async () => (await import('./delegations.ts')).runList))
  remote(delegations, 'show')
    .summary('show a delegation and its parents')
    .argument('<delegation>', 'its id, or at least its first 8 characters')
    .examples(['tollgate delegations show 3f2a9c01', ''])
    .action(to(async () => (await import('./delegations.ts')).runShow))
  addGrant(delegations, to)
  remote(delegations, 'revoke')
    .summary('revoke a delegation and everything delegated from it')
    .argument('<delegation>', 'its id, or at least its first 8 characters')
    .examples(['tollgate delegations revoke 3f2a9c01', ''])
    .action(to(async () => (await import('./delegations.ts')).runRevoke))
  local(delegations, 'key')
    .summary('create a key that signs delegations')
    .description(
      'Creates a private key in a new file that only you can read, and prints its public key as a line for policy.yaml.',
    )
    .argument('<file>', 'the new file')
    .examples(['tollgate delegations key planner.pem', ''])
    .action(to(async () => (await import('./delegation-key.ts')).runKey))
}

function addGrant(delegations: Command, to: To): void {
  remote(delegations, 'grant')
    .summary('sign and register a delegation')
    .description(
      'Signs a delegation on this machine with the key of the delegator, and registers it at the gateway. A delegation only limits: each call is checked as usual, and must also be within the delegation.',
    )
    .requiredOption('--from <principal>', 'the delegator; its public key is in the policy')
    .requiredOption('--to <principal>', 'the delegate, which acts for the delegator')
    .requiredOption('--tools <pattern>', 'a tool, or a pattern with `*`; repeatable', collect)
    .option('--effects <class>', 'only this effect class, such as read; repeatable', collect)
    .requiredOption('--until <time>', 'duration, such as 2h or 30d, or end time')
    .addOption(whole('--depth <n>', 'how many further levels of delegation are allowed', 0, 8).default(0))
    .option('--parent <delegation>', 'the delegation that it narrows, if the delegator is itself a delegate')
    .option('--session <id>', 'only in this session')
    .requiredOption('--key <file>', 'the private key of the delegator, from `tollgate delegations key FILE`')
    .examples([
      "tollgate delegations grant --from agent:planner --to agent:worker --tools 'fs/*' --until 2h --key planner.pem",
      '',
    ])
    .action(to(async () => (await import('./delegation-grant.ts')).runGrant))
}

/** Adds `sessions`. */
export function addSessions(program: Command, to: To): void {
  const sessions = program
    .command('sessions')
    .summary('show, reset and close sessions')
    .description('A session is the state between the calls of a principal: risk, data labels and scope.')
  remote(sessions, 'show')
    .summary('show the risk, data labels and delegations of a session')
    .argument('<session>', 'its id')
    .option('--principal <name>', 'the principal of the session; optional if there is only one')
    .examples(['tollgate sessions show s1 --principal agent:worker', ''])
    .action(to(async () => (await import('./sessions.ts')).runShow))
  remote(sessions, 'reset')
    .summary('reset the risk of a session')
    .description(
      'For a session that is denied because of its risk, after you have reviewed it. Also removes its share of the risk of its principal. Data labels stay. Recorded as a receipt.',
    )
    .argument('<session>', 'its id')
    .requiredOption('--because <why>', 'the reason; stored in the receipt')
    .option('--principal <name>', 'the principal of the session; optional if there is only one')
    .examples(['tollgate sessions reset s1 --because "the user asked for the export"', ''])
    .action(to(async () => (await import('./pardons.ts')).runReset))
  remote(sessions, 'close')
    .summary('close a session and delete its state')
    .description(
      'The principal keeps its own risk. A new call in the session starts it again. Recorded as a receipt.',
    )
    .argument('<session>', 'its id')
    .requiredOption('--because <why>', 'the reason; stored in the receipt')
    .option('--principal <name>', 'the principal of the session; optional if there is only one')
    .examples(['tollgate sessions close s1 --because "the task is done"', ''])
    .action(to(async () => (await import('./pardons.ts')).runClose))
}

/** Adds `trust`. */
export function addTrust(program: Command, to: To): void {
  const trust = program
    .command('trust')
    .summary('reset the trust of a principal')
    .description('The trust score of a principal changes with the outcomes of its calls.')
  remote(trust, 'reset')
    .summary('reset the trust of a principal to its initial score')
    .argument('<principal>', 'its name')
    .requiredOption('--because <why>', 'the reason; stored in the receipt')
    .examples(['tollgate trust reset agent:worker --because "the tool was broken"', ''])
    .action(to(async () => (await import('./pardons.ts')).runTrustReset))
}
