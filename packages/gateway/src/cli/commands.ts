// Every command with its options and examples. What a command does is in a file of its own, and loaded when it runs.

import process from 'node:process'
import { Command } from 'commander'
import { collect, complaint, examples, local, port, remote, whole } from './program/forms.ts'
import type * as delegationCommands from './people/delegation-commands.ts'
import type * as groupCommands from './groups.ts'
import type * as mcpCommands from './mcp/commands.ts'
import { addPolicy } from './policy/commands.ts'
import type * as scopeCommands from './policy/scope-commands.ts'
import { openTerminal, type Terminal } from './program/terminal.ts'
import { VERSION } from './program/version.ts'

/** What a command does; answers with the exit code. */
type RunCommand<O> = (terminal: Terminal, options: O, ...args: readonly string[]) => Promise<number>

/** Options of every command that works on a data directory. */
export interface DataOptions {
  readonly data?: string
  readonly json?: boolean
}

/** Options of every command that talks to a gateway. */
export interface GatewayOptions extends DataOptions {
  readonly url?: string
  readonly tokenFile?: string
}

/**
 * Makes the program. `finish` gets the exit code of the command that ran. The workbench is used again and again while somebody
 * waits: if its name comes first, no other command is made.
 */
export async function createProgram(finish: (exit: number) => void, first?: string): Promise<Command> {
  const program = new Command('tollgate')
    .description('a fail-closed execution firewall for AI agents, with evidence anyone can check offline')
    .version(VERSION, '-V, --version', 'print the version')
    .helpCommand('help [command]', 'print help on a command')
    .helpOption('-h, --help', 'print help')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(complaint(text)) })
    .addHelpText(
      ...examples(
        ['tollgate up', 'start a gateway, making what is missing'],
        ['tollgate demo', 'see what it does, in 20 seconds'],
      ),
    )
  const to = <O>(load: () => Promise<RunCommand<O>>): ((...given: unknown[]) => Promise<void>) =>
    lazily(load, finish)

  if (first === 'policy') addPolicy(program, to)
  else await addAll(program, to)
  return program
}

/** The groups that have files of their own. */
type Groups = typeof groupCommands & typeof delegationCommands & typeof mcpCommands & typeof scopeCommands

async function addAll(program: Command, to: To): Promise<void> {
  const [groups, delegations, mcp, scope] = await Promise.all([
    import('./groups.ts'),
    import('./people/delegation-commands.ts'),
    import('./mcp/commands.ts'),
    import('./policy/scope-commands.ts'),
  ])
  const all = { ...groups, ...delegations, ...mcp, ...scope }
  addSetup(program.commandsGroup('Start:'), to)
  addDaily(program.commandsGroup('Every day:'), to, all)
  addEvidence(program.commandsGroup('Evidence:'), to)
  addUpkeep(program.commandsGroup('Upkeep:'), to, all)
}

/** Makes the action of a command from what loads it. */
export type To = <O>(load: () => Promise<RunCommand<O>>) => (...given: unknown[]) => Promise<void>

function lazily<O>(
  load: () => Promise<RunCommand<O>>,
  finish: (exit: number) => void,
): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    // Sound: commander hands over the arguments, the options as they were declared beside the action, and the command.
    const command = given.pop() as Command
    given.pop()
    const options = command.optsWithGlobals<O & { readonly json?: boolean }>()
    // Until there is an answer, the answer is that it failed.
    process.exitCode = 1
    const run = await load()
    // A list of arguments comes as a list.
    const args = given.flat().filter((each): each is string => typeof each === 'string')
    finish(await run(openTerminal(options.json === true), options, ...args))
  }
}

function addSetup(program: Command, to: To): void {
  local(program, 'init')
    .summary('make a data directory: keys, configuration, policy, ledger')
    .description(
      'Makes a new data directory and says what it made. Refuses to overwrite anything.\nThe admin token is printed once, on standard output, and kept nowhere.',
    )
    .addOption(port('the port that the new configuration names'))
    .option('--passphrase', 'encrypt the key files with the passphrase in TOLLGATE_KEY_PASSPHRASE')
    .option('--salted', 'begin a ledger whose hashes of arguments cannot be guessed; it stays so')
    .addHelpText(
      ...examples(
        ['tollgate init', 'in the default place'],
        ['export TOLLGATE_TOKEN=$(tollgate init --data ./gate)', 'keep the admin token in this shell'],
      ),
    )
    .action(to(async () => (await import('./setup/init.ts')).runInit))
  program
    .command('self-install')
    .summary('put `tollgate` on your PATH')
    .description(
      'Writes a small launcher for this installation into a directory of your own, ~/.local/bin by default.\nRefuses to replace another program. Needs no root and downloads nothing.',
    )
    .option('--dir <dir>', 'the directory for the launcher')
    .option('--remove', 'remove the launcher again')
    .option('--json', 'print JSON')
    .addHelpText(...examples(['tollgate self-install', ''], ['tollgate self-install --remove', 'undo it']))
    .action(to(async () => (await import('./setup/self-install.ts')).runSelfInstall))
  local(program, 'up')
    .summary('start a gateway here, making whatever is missing')
    .description(
      'For trying and authoring: makes what is missing and says so, then serves until Ctrl-C.\nFor production use `tollgate serve`.',
    )
    .addOption(port('listen on this port instead of the configured one; 0 for any that is free'))
    .option('--watch', 'put a changed policy file in force by itself: for authoring only')
    .option(
      '--background',
      'for programs that start it: takes any port if the configured one is taken, and makes no token',
    )
    .addHelpText(
      ...examples(
        ['tollgate up', ''],
        ['tollgate up --port 9000 --watch', 'on another port, with the policy file in force as it is saved'],
      ),
    )
    .action(to(async () => (await import('./setup/up.ts')).runUp))
  local(program, 'serve')
    .summary('run the gateway of a data directory, for production')
    .description(
      'Creates nothing: what is missing is refused with what to do. Logs JSON lines to standard error.\nSIGTERM stops it after the requests under way.',
    )
    .addOption(port('listen on this port instead of the configured one; 0 for any that is free'))
    .addHelpText(...examples(['tollgate serve --data /var/lib/tollgate', '']))
    .action(to(async () => (await import('./setup/serve.ts')).runServe))
  program
    .command('demo')
    .summary('see what a gateway does, against a real one')
    .description(
      'Starts a gateway of its own in a temporary directory and tells a story with it: an allowed call, a denied one,\none that a person approves, a slow exfiltration, an export, a verification, a forgery. Leaves nothing behind.',
    )
    .option('--json', 'print each step as a line of JSON')
    .addHelpText(...examples(['tollgate demo', '']))
    .action(to(async () => (await import('./setup/demo.ts')).runDemo))
}

function addDaily(program: Command, to: To, groups: Groups): void {
  remote(program, 'status')
    .summary('how the gateway and its ledger stand')
    .addHelpText(...examples(['tollgate status', ''], ['tollgate status --json', 'for a script']))
    .action(to(async () => (await import('./setup/status.ts')).runStatus))
  groups.addReceipts(program, to)
  groups.addApprovals(program, to)
  groups.addSessions(program, to)
  groups.addTrust(program, to)
  groups.addScope(program, to)
  groups.addDelegations(program, to)
  for (const [name, act] of [
    ['freeze', 'stops'],
    ['unfreeze', 'lets pass again'],
  ] as const) {
    remote(program, name)
      .summary(name === 'freeze' ? 'stop everything, a principal, a tool or a session' : 'lift a freeze')
      .description(
        `At once ${act} all calls, or those of a principal, to a tool, or in a session. It is a receipt.`,
      )
      .argument('<scope>', '`all`, `principal`, `tool` or `session`')
      .argument('[target]', 'which one; not for `all`')
      .option('--because <why>', 'why, for the record')
      .addHelpText(
        ...examples(
          [`tollgate ${name} all --because "incident 7"`, ''],
          [`tollgate ${name} principal agent:ci`, ''],
        ),
      )
      .action(
        to(async () => (await import('./people/freeze.ts'))[name === 'freeze' ? 'runFreeze' : 'runUnfreeze']),
      )
  }
  addPolicy(program, to)
  groups.addMcp(program, to)
  groups.addThreat(program, to)
}

function addEvidence(program: Command, to: To): void {
  remote(program, 'export')
    .summary('write an evidence pack')
    .description(
      'Writes a part of the ledger as a pack that anybody can verify offline. Never overwrites a file.',
    )
    .option('-o, --output <file>', 'the new file; standard output if not given')
    .addOption(whole('--from <index>', 'the first entry', 0, Number.MAX_SAFE_INTEGER))
    .addOption(whole('--to <index>', 'the entry after the last', 1, Number.MAX_SAFE_INTEGER))
    .addOption(
      whole(
        '--since <size>',
        'prove that the ledger continues the one of this size',
        0,
        Number.MAX_SAFE_INTEGER,
      ),
    )
    .option('--receipt <id>', 'only this receipt; may be given again', collect)
    .addHelpText(
      ...examples(
        ['tollgate export -o all.pack', 'the whole ledger'],
        ['tollgate export --from 100 --to 200 -o part.pack', ''],
      ),
    )
    .action(to(async () => (await import('./receipts/export.ts')).runExport))
  program
    .command('verify')
    .summary('check an evidence pack, offline')
    .description(
      'The same as `tollgate-verify`, which auditors can install alone.\nExit code: 0 verified, 1 a proof failed, 2 it cannot be read, 3 integrity only (no trust file).',
    )
    .argument('<pack>', 'the pack to check')
    .option('--trust <file>', 'what you trust: the key of the ledger, from somewhere else than the pack')
    .option('--json', 'print the whole report as JSON')
    .addOption(whole('--workers <n>', 'threads that check signatures; 0 for none', 0, 256))
    .addHelpText(
      ...examples(
        ['tollgate keys trust > trust.json', 'once, on the machine of the gateway'],
        ['tollgate verify all.pack --trust trust.json', ''],
      ),
    )
    .action(to(async () => (await import('./receipts/verify.ts')).runVerify))
}

function addUpkeep(program: Command, to: To, groups: Groups): void {
  local(program, 'doctor')
    .summary('check the whole installation, and say what to do')
    .addHelpText(...examples(['tollgate doctor', '']))
    .action(to(async () => (await import('./setup/doctor.ts')).runDoctor))
  local(program, 'fsck')
    .summary('check every entry of the ledger on disk')
    .description(
      'Reads the whole ledger and checks signatures, links, tree and private records. Changes nothing, but for `--fold`.',
    )
    .option(
      '--fold',
      'if all is sound, move `ledger.sqlite-wal` into `ledger.sqlite`; the gateway must be stopped',
    )
    .addHelpText(
      ...examples(['tollgate fsck', ''], ['tollgate fsck --fold', 'before you copy `ledger.sqlite` by hand']),
    )
    .action(to(async () => (await import('./receipts/fsck.ts')).runFsck))
  local(program, 'backup')
    .summary('copy the ledger, also while the gateway runs')
    .argument('<directory>', 'a directory that is not there yet')
    .addHelpText(...examples(['tollgate backup /mnt/backup/2026-01-05', '']))
    .action(to(async () => (await import('./receipts/backup.ts')).runBackup))
  groups.addKeys(program, to)
  groups.addTokens(program, to)
}
