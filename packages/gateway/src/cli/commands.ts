// Declares every command with its options and examples. The code of a command is loaded when it runs.

import process from 'node:process'
import type { Command as AnyCommand } from 'commander'
import { chooseGateway, typedGateway } from './program/choose-gateway.ts'
import { collect, complaint, dated, filtered, local, port, remote, whole } from './program/forms.ts'
import { Command, HELP } from './program/help.ts'
import type * as browserCommands from './browser/commands.ts'
import type * as delegationCommands from './people/delegation-commands.ts'
import type * as groupCommands from './groups.ts'
import type * as mcpCommands from './mcp/commands.ts'
import { addPolicy } from './policy/commands.ts'
import type * as scopeCommands from './policy/scope-commands.ts'
import { withNotesBelow } from './program/fit.ts'
import { repeatGateway, runnable } from './program/runnable.ts'
import type * as packCommands from './receipts/pack-commands.ts'
import type * as setupCommands from './setup/setup-commands.ts'
import { openTerminal, type Terminal } from './program/terminal.ts'
import { VERSION } from './program/version.ts'

/** The code of a command. It returns the exit code. */
type RunCommand<O> = (terminal: Terminal, options: O, ...args: readonly string[]) => Promise<number>

/** Options of commands that use a data directory. */
export interface DataOptions {
  readonly data?: string
  readonly json?: boolean
}

/** Options of commands that send requests to a gateway. */
export interface GatewayOptions extends DataOptions {
  readonly url?: string
  /** The PEM file of the authorities to trust. */
  readonly ca?: string
  readonly tokenFile?: string
}

/**
 * Creates the program. `finish` gets the exit code of the command that ran. `tollgate policy` runs often, and MCP clients wait for
 * `tollgate mcp`: if `first` is one of them, no other command is declared.
 */
export async function createProgram(finish: (exit: number) => void, first?: string): Promise<AnyCommand> {
  repeatGateway({})
  const program = new Command('tollgate')
    .description('a fail-closed execution firewall for AI agents, with evidence anyone can verify offline')
    .version(VERSION, '-V, --version', 'print the version')
    .helpCommand('help [command]', 'print help for a command')
    .helpOption('-h, --help', 'print help')
    .configureHelp(HELP)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void process.stdout.write(withNotesBelow(runnable(text), process.stdout.columns)),
      writeErr: (text) => void process.stderr.write(runnable(text)),
      outputError: (text, write) => write(complaint(text, program.args)),
    })
    .examples(
      ['tollgate up', 'start a gateway and create missing files'],
      ['tollgate demo', 'see what it does, in 20 seconds'],
    )
  const to = <O>(load: () => Promise<RunCommand<O>>): ((...given: unknown[]) => Promise<void>) =>
    lazily(load, finish)

  if (first === 'policy') addPolicy(program, to)
  else if (first === 'mcp') (await import('./mcp/commands.ts')).addMcp(program, to)
  else await addAll(program, to)
  return program
}

type Groups = typeof groupCommands &
  typeof browserCommands &
  typeof delegationCommands &
  typeof mcpCommands &
  typeof scopeCommands &
  typeof setupCommands &
  typeof packCommands

async function addAll(program: Command, to: To): Promise<void> {
  const [groups, browser, delegations, mcp, scope, setup, pack] = await Promise.all([
    import('./groups.ts'),
    import('./browser/commands.ts'),
    import('./people/delegation-commands.ts'),
    import('./mcp/commands.ts'),
    import('./policy/scope-commands.ts'),
    import('./setup/setup-commands.ts'),
    import('./receipts/pack-commands.ts'),
  ])
  const all = { ...groups, ...browser, ...delegations, ...mcp, ...scope, ...setup, ...pack }
  addSetup(program.commandsGroup('Start:'), to, all)
  addDaily(program.commandsGroup('Every day:'), to, all)
  addEvidence(program.commandsGroup('Evidence:'), to, all)
  addUpkeep(program.commandsGroup('Upkeep:'), to, all)
}

/** Makes the action of a command from the function that loads it. */
export type To = <O>(load: () => Promise<RunCommand<O>>) => (...given: unknown[]) => Promise<void>

function lazily<O>(
  load: () => Promise<RunCommand<O>>,
  finish: (exit: number) => void,
): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    // Sound: commander passes the arguments, the options as they were declared with the action, and the command.
    const command = given.pop() as Command
    given.pop()
    const sourceOf = (name: string): string | undefined => command.getOptionValueSourceWithGlobals(name)
    const options = chooseGateway(command.optsWithGlobals<O & GatewayOptions>(), sourceOf)
    repeatGateway(typedGateway(options, sourceOf))
    // The exit code is 1 until the command returns its own.
    process.exitCode = 1
    const run = await load()
    // Variadic arguments arrive as an array.
    const args = given.flat().filter((each): each is string => typeof each === 'string')
    finish(await run(openTerminal(options.json === true), options, ...args))
  }
}

function addSetup(program: Command, to: To, groups: Groups): void {
  local(program, 'init')
    .summary('create a data directory: keys, configuration, policy, ledger')
    .description(
      'Creates a data directory and lists the new files. Never overwrites a file. On a terminal, it stores the admin token under a passphrase, as `tollgate login` does. Otherwise it prints the token once, to standard output.',
    )
    .addOption(port('the port in the new configuration'))
    .option('--passphrase', 'encrypt the key files with the passphrase in TOLLGATE_KEY_PASSPHRASE')
    .option('--salted', 'salt argument hashes, so that they reveal nothing; permanent')
    .option('--database-env <name>', 'keep the ledger in PostgreSQL; this environment variable has its URL')
    .examples(
      ['tollgate init', 'in the default directory'],
      ['tollgate init --database-env TOLLGATE_DATABASE_URL', 'a ledger that several gateways share'],
      ['(umask 077; tollgate init --data ./gate > admin.token)', 'for a program: use it with `--token-file`'],
    )
    .action(to(async () => (await import('./setup/init.ts')).runInit))
  program
    .command('self-install')
    .summary('put `tollgate` on your PATH')
    .description(
      'Writes a small launcher for this installation into a directory of your own, ~/.local/bin by default. Refuses to replace another program. Needs no root and downloads nothing.',
    )
    .option('--dir <dir>', 'the directory for the launcher')
    .option('--remove', 'remove the launcher again')
    .option('--json', 'print JSON')
    .examples(['tollgate self-install', ''], ['tollgate self-install --remove', 'undo it'])
    .action(to(async () => (await import('./setup/self-install.ts')).runSelfInstall))
  local(program, 'up')
    .summary('start a gateway on this machine and create missing files')
    .description(
      'For evaluation and policy authoring. Creates missing files, lists them, and serves until Ctrl-C. For production use `tollgate serve`.',
    )
    .addOption(port('listen on this port instead of the configured one; 0 picks a free port'))
    .option('--watch', 'activate the policy file whenever it changes; for policy authoring only')
    .option(
      '--background',
      'for programs that start a gateway: uses any free port if the configured one is taken, and creates no token',
    )
    .examples(
      ['tollgate up', ''],
      ['tollgate up --port 9000 --watch', 'on another port, and activate the policy file on every save'],
    )
    .action(to(async () => (await import('./setup/up.ts')).runUp))
  local(program, 'serve')
    .summary('run the gateway of a data directory, for production')
    .description(
      'Creates no files: if one is missing, it stops with an error. Logs JSON lines to standard error. After SIGTERM it finishes the running requests and stops.',
    )
    .addOption(port('listen on this port instead of the configured one; 0 picks a free port'))
    .examples(['tollgate serve --data /var/lib/tollgate', ''])
    .action(to(async () => (await import('./setup/serve.ts')).runServe))
  groups.addSetupTargets(program, to)
  program
    .command('demo')
    .summary('see what a gateway does, with real calls')
    .description(
      'Starts a gateway in a temporary directory and shows an allowed call, denied calls, a call that a person approves, a slow exfiltration, an export, a verification and a forgery. Removes all its files at the end.',
    )
    .option('--json', 'print each step as one line of JSON')
    .examples(['tollgate demo', ''])
    .action(to(async () => (await import('./setup/demo.ts')).runDemo))
}

function addDaily(program: Command, to: To, groups: Groups): void {
  remote(program, 'status')
    .summary('show the state of the gateway and its ledger')
    .option('--line', 'print one short line for a status bar; exit code 1 if something needs you')
    .examples(
      ['tollgate status', ''],
      ['tollgate status --json', 'for a script'],
      ['tollgate status --line', 'for a status bar, such as that of tmux'],
    )
    .action(to(async () => (await import('./setup/status.ts')).runStatus))
  groups.addLogin(program, to)
  groups.addReceipts(program, to)
  groups.addApprovals(program, to)
  groups.addSessions(program, to)
  groups.addTrust(program, to)
  groups.addScope(program, to)
  groups.addDelegations(program, to)
  for (const [name, act] of [
    ['freeze', 'Denies'],
    ['unfreeze', 'Ends the freeze of'],
  ] as const) {
    remote(program, name)
      .summary(name === 'freeze' ? 'deny calls: all, or of a principal, tool or session' : 'lift a freeze')
      .description(
        `${act} all calls, or the calls of one principal, tool or session, with immediate effect. Recorded as a receipt.`,
      )
      .argument('<scope>', '`all`, `principal`, `tool` or `session`')
      .argument('[target]', 'the name of the principal, tool or session; not for `all`')
      .option('--because <why>', 'the reason; stored in the receipt')
      .examples(
        [`tollgate ${name} all --because "incident 7"`, ''],
        [`tollgate ${name} principal agent:ci`, ''],
      )
      .action(
        to(async () => (await import('./people/freeze.ts'))[name === 'freeze' ? 'runFreeze' : 'runUnfreeze']),
      )
  }
  addPolicy(program, to)
  groups.addMcp(program, to)
  groups.addThreat(program, to)
  groups.addBrowser(program, to)
  groups.addSentinel(program, to)
}

function addEvidence(program: Command, to: To, groups: Groups): void {
  dated(filtered(remote(program, 'export')))
    .summary('write a pack: receipts with their proofs')
    .description(
      'Writes the ledger, or a part of it, as a pack that anyone can verify offline. Never overwrites a file. With filters it writes only the receipts that match, each with its own proof.',
    )
    .option('-o, --output <file>', 'the new file; default: standard output')
    .addOption(whole('--from <index>', 'the first entry', 0, Number.MAX_SAFE_INTEGER))
    .addOption(whole('--to <index>', 'the entry after the last', 1, Number.MAX_SAFE_INTEGER))
    .addOption(
      whole(
        '--continues <size>',
        'prove that the ledger extends its earlier state of this size',
        0,
        Number.MAX_SAFE_INTEGER,
      ),
    )
    .option('--receipt <id>', 'only this receipt; at least 8 digits of its id; repeatable', collect)
    .examples(
      ['tollgate export -o all.pack', 'the whole ledger'],
      ['tollgate export --from 100 --to 200 -o part.pack', ''],
      ['tollgate export --principal agent:ci --since 7d -o week.pack', 'the calls of one agent in a week'],
    )
    .action(to(async () => (await import('./receipts/export.ts')).runExport))
  program
    .command('verify')
    .summary('verify a pack, offline')
    .description(
      'The same check as `tollgate-verify`, which auditors can install separately.\n\nExit code: 0 verified, 1 a proof failed, 2 unreadable, 3 integrity only (no trust file).',
    )
    .argument('<pack>', 'the pack to check')
    .option('--trust <file>', 'the trust file with the ledger key; get it separately from the pack')
    .option('--json', 'print the whole report as JSON')
    .addOption(
      whole(
        '--workers <n>',
        'number of extra threads that check signatures; with 0, the main thread checks them',
        0,
        256,
      ),
    )
    .examples(
      ['tollgate keys trust > trust.json', 'once, on the machine of the gateway'],
      ['tollgate verify all.pack --trust trust.json', ''],
    )
    .action(to(async () => (await import('./receipts/verify.ts')).runVerify))
  groups.addPack(program, to)
}

function addUpkeep(program: Command, to: To, groups: Groups): void {
  local(program, 'doctor')
    .summary('check the installation and print how to fix problems')
    .examples(['tollgate doctor', ''])
    .action(to(async () => (await import('./setup/doctor.ts')).runDoctor))
  local(program, 'join')
    .summary('add this gateway to the ledger of others, in PostgreSQL')
    .description(
      'Creates a key for the `writer` in tollgate.yaml and records it with the ledger key. The other gateways continue to run. Copy tollgate.yaml, policy.yaml, the ledger key and the key for kept calls of another gateway first, and set another `writer`.',
    )
    .examples(['tollgate join', 'on the machine of the new gateway'])
    .action(to(async () => (await import('./setup/join.ts')).runJoin))
  local(program, 'migrate')
    .summary('move the ledger from its file into PostgreSQL')
    .description(
      'Copies every byte of the ledger and its private records, checks the copy, renames the old file and adds `database` to tollgate.yaml. Old packs, proofs and checkpoints stay valid. Stop the gateway first.',
    )
    .option('--database-env <name>', 'the environment variable with the URL of the database')
    .examples(['tollgate migrate --database-env TOLLGATE_DATABASE_URL', ''])
    .action(to(async () => (await import('./setup/migrate.ts')).runMigrate))
  local(program, 'fsck')
    .summary('check every entry of the ledger on disk')
    .description(
      'Reads the whole ledger and checks signatures, links, tree and private records. Changes nothing without `--fold`.',
    )
    .option(
      '--fold',
      'if the ledger is intact, merge `ledger.sqlite-wal` into `ledger.sqlite`; stop the gateway first',
    )
    .examples(['tollgate fsck', ''], ['tollgate fsck --fold', 'before you copy `ledger.sqlite` by hand'])
    .action(to(async () => (await import('./receipts/fsck.ts')).runFsck))
  local(program, 'backup')
    .summary('copy the ledger; works while the gateway runs')
    .argument('<directory>', 'the new directory; it must not exist')
    .examples(['tollgate backup /mnt/backup/2026-01-05', ''])
    .action(to(async () => (await import('./receipts/backup.ts')).runBackup))
  groups.addKeys(program, to)
  groups.addTokens(program, to)
}
