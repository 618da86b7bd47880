// Declares the commands that have subcommands, such as `tollgate receipts list`.

import { Option } from 'commander'
import type { To } from './commands.ts'
import { unknownCommand, collect, dated, filtered, local, remote, whole } from './program/forms.ts'
import type { Command } from './program/help.ts'

/** Adds `login`, `logout` and `whoami`. */
export function addLogin(program: Command, to: To): void {
  const load = () => import('./people/login.ts')
  remote(program, 'login')
    .summary('store your token, encrypted under a passphrase')
    .description(
      'Asks for a token, or reads it from standard input, and checks it. Then it asks for a passphrase on the terminal and stores the token encrypted. Commands that decide, such as `tollgate approvals approve ID`, ask for the passphrase. An agent that runs as the same user cannot read the token without it.',
    )
    .examples(
      ['tollgate login', 'for the gateway of the data directory'],
      ['tollgate login --url https://gate.example', 'for a gateway elsewhere'],
    )
    .action(to(async () => (await load()).runLogin))
  remote(program, 'logout')
    .summary('remove the stored token of a gateway')
    .description('Removes the token from this machine. The token stays valid until it is revoked.')
    .examples(['tollgate logout', ''])
    .action(to(async () => (await load()).runLogout))
  remote(program, 'whoami')
    .summary('show the identity that commands use for a gateway')
    .description('Asks for no passphrase and sends nothing to the gateway.')
    .examples(['tollgate whoami', ''])
    .action(to(async () => (await load()).runWhoami))
}

/** Adds `receipts`. */
export function addReceipts(program: Command, to: To): void {
  const receipts = program
    .command('receipts')
    .summary('list and show receipts')
    .description('Receipts are the signed records of decisions, effects and administrative acts.')
  dated(filtered(remote(receipts, 'list')))
    .summary('list receipts, newest first')
    .addOption(whole('--limit <n>', 'the maximum number of receipts', 1, 1000).default(20))
    .addOption(whole('--from <index>', 'start at this entry', 0, Number.MAX_SAFE_INTEGER))
    .option('--oldest-first', 'list the oldest receipts first')
    .examples(
      ['tollgate receipts list --verdict DENY', 'only denied calls'],
      [
        'tollgate receipts list --principal agent:ci --since 2h',
        'the calls of this agent in the last 2 hours',
      ],
    )
    .action(to(async () => (await import('./receipts/receipts.ts')).runList))
  remote(receipts, 'show')
    .summary('show one receipt')
    .argument('<receipt>', 'its id, at least 8 digits of it, or its index in the ledger')
    .option('--envelope', 'print the signed envelope, byte for byte')
    .option('--proof', 'print an inclusion proof for a new checkpoint')
    .examples(['tollgate receipts show 12', ''], ['tollgate receipts show 12 --proof > 12.tlog-proof', ''])
    .action(to(async () => (await import('./receipts/receipts.ts')).runShow))
  filtered(remote(receipts, 'tail'))
    .summary('print receipts as they are written, until Ctrl-C')
    .addOption(
      whole('--from <index>', 'start at this entry instead of the next one', 0, Number.MAX_SAFE_INTEGER),
    )
    .examples(['tollgate receipts tail --verdict DENY', ''])
    .action(to(async () => (await import('./receipts/receipts-tail.ts')).runTail))
}

/** Adds `approvals`. */
export function addApprovals(program: Command, to: To): void {
  const approvals = program
    .command('approvals')
    .summary('list, approve and deny calls that wait for approval')
    .description('Escalated calls wait here for a person. You cannot approve your own calls.')
    .hook('preSubcommand', refuseUnknown)
  remote(approvals, 'view', { isDefault: true })
    .summary('answer open requests on the terminal; the default')
    .description(
      'Shows open requests with their exact arguments. Keys: up and down select, a approves once, d denies, w proposes a rule that always allows the call, q quits. Without a terminal or a running gateway, it prints the list.',
    )
    .examples(['tollgate approvals', ''])
    .action(to(async () => (await import('./people/approvals-view.ts')).runView))
  remote(approvals, 'list')
    .summary('list open requests')
    .option('--watch', 'also print new requests, until Ctrl-C')
    .examples(['tollgate approvals list --watch', ''])
    .action(to(async () => (await import('./people/approvals.ts')).runList))
  remote(approvals, 'show')
    .summary('show one request and everything that an approval would allow')
    .argument('<request>', 'its id; for an open request, the first 8 characters are enough')
    .examples(['tollgate approvals show 3f2a9c01', ''])
    .action(to(async () => (await import('./people/approvals-show.ts')).runShow))
  remote(approvals, 'always')
    .summary('propose a rule that always allows the call of an open request')
    .description(
      'Shows a narrow rule for exactly this call as a change of the policy, tested with generated calls. An admin is asked whether to activate it and approve the call. For other roles the changed policy becomes a file that an admin can activate.',
    )
    .argument('<request>', 'its id, or its first 8 characters')
    .option('--out <file>', 'only write the changed policy to a new file')
    .option('--because <why>', 'the reason of the approval; stored in the receipt permanently')
    .examples(['tollgate approvals always 3f2a9c01', ''])
    .action(to(async () => (await import('./people/always.ts')).runAlways))
  for (const [name, summary] of [
    ['approve', 'approve: the call is allowed once'],
    ['deny', 'deny the call'],
  ] as const) {
    const command = remote(approvals, name)
      .summary(summary)
      .argument('<request>', 'its id, or its first 8 characters')
      .option('--because <why>', 'the reason, at most 500 characters; stored in the receipt permanently')
      .examples([`tollgate approvals ${name} 3f2a9c01 --because "checked the recipient"`, ''])
    if (name === 'approve') {
      command.option('--widen', 'also add this tool and the targets of this call to the scope of the session')
    }
    command.action(
      to(async () => (await import('./people/approvals.ts'))[name === 'approve' ? 'runApprove' : 'runDeny']),
    )
  }
}

/** Refuses a misspelt subcommand. Without this, commander gives the word to the default subcommand. */
function refuseUnknown({ args: [word], commands }: Pick<Command, 'args' | 'commands'>): void {
  const names = commands.map((each) => each.name())
  if (word === undefined || word.startsWith('-') || names.includes(word)) return
  throw unknownCommand(word, names, 'see `tollgate help approvals`')
}

/** Adds `keys`. */
export function addKeys(program: Command, to: To): void {
  const keys = program
    .command('keys')
    .summary('list, rotate and publish the signing keys')
    .description('Keys that sign checkpoints (ledger) and receipts (writer), and encrypt kept calls (seal).')
  local(keys, 'list')
    .summary('list the key files')
    .action(to(async () => (await import('./keys/keys.ts')).runList))
  local(keys, 'rotate')
    .summary('replace a key and record the change')
    .description('Creates a new key, puts it in service and retires the old one. Stop the gateway first.')
    .option('--ledger', 'rotate the ledger key, which trust files name, instead of the writer key')
    .examples(
      ['tollgate keys rotate', 'the writer key'],
      ['tollgate keys rotate --ledger', 'then send auditors a new trust file'],
    )
    .action(to(async () => (await import('./keys/keys.ts')).runRotate))
  local(keys, 'seal')
    .summary('create the key that encrypts kept calls, if it is missing')
    .description(
      'Use it if the seal key is lost. Without the old key, kept calls and the arguments of open requests stay unreadable.',
    )
    .examples(['tollgate keys seal', 'then restart the gateway'])
    .action(to(async () => (await import('./keys/keys.ts')).runSeal))
  local(keys, 'trust')
    .summary('print the trust file for auditors')
    .description('Send it to auditors separately from the packs. They verify packs with it.')
    .examples(['tollgate keys trust > trust.json', ''])
    .action(to(async () => (await import('./keys/keys.ts')).runTrust))
}

const ROLES = ['agent', 'host', 'sentinel', 'operator', 'admin', 'auditor', 'metrics']

/** Adds `tokens`. */
export function addTokens(program: Command, to: To): void {
  const tokens = program
    .command('tokens')
    .summary('list, issue and revoke access tokens')
    .description('A token is shown once. The gateway stores only its hash.')
  remote(tokens, 'list')
    .summary('list valid tokens')
    .action(to(async () => (await import('./people/tokens.ts')).runList))
  remote(tokens, 'issue')
    .summary('create a token and print it once')
    .addOption(new Option('--role <role>', 'the rights of the token').choices(ROLES).makeOptionMandatory())
    .requiredOption('--principal <name>', 'the principal, such as agent:ci or user:olga')
    .option('--group <name>', 'an approver group of the principal; repeatable', collect)
    .option('--lasts <time>', 'validity, such as 12h or 30d; default: no expiry')
    .examples(
      ['tollgate tokens issue --role agent --principal agent:ci --lasts 30d', ''],
      ['tollgate tokens issue --role operator --principal user:olga --group ops', ''],
      [
        'tollgate tokens issue --role metrics --principal monitor:prometheus',
        'reads `/metrics` and nothing else',
      ],
    )
    .action(to(async () => (await import('./people/tokens.ts')).runIssue))
  remote(tokens, 'revoke')
    .summary('revoke a token immediately')
    .argument('<hash>', 'the hash of the token, or at least its first 8 characters')
    .examples(['tollgate tokens revoke 3f2a9c01', ''])
    .action(to(async () => (await import('./people/tokens.ts')).runRevoke))
}

/** Adds `threat`. */
export function addThreat(program: Command, to: To): void {
  const threat = program
    .command('threat')
    .summary('run the threat scanner on texts')
    .description('The same threat scanner that the gates use.')
  threat
    .command('scan')
    .summary('scan texts for attacks and print the findings as JSON lines')
    .description(
      'Reads text, or JSON lines with a field `text`. Prints one line of JSON for each record: whether it is flagged, and the findings with their positions. Flagged means that the gates would treat the text as suspicious. The text is only printed with `--show`. Files that end with `.gz` are decompressed.\n\nExit code: 0 nothing is flagged, 1 something is flagged, 2 an input could not be read.',
    )
    .argument('[file...]', 'the files, or `-` for standard input (the default)')
    .addOption(
      new Option('--format <format>', 'the input format; default: detected from the first line').choices([
        'text',
        'jsonl',
      ]),
    )
    .addOption(
      new Option('--severity <severity>', 'hide findings below this severity; flags stay')
        .choices(['low', 'medium', 'high'])
        .default('low'),
    )
    .option('--show', 'print the matching text with each finding')
    .option('--summary', 'print a table of counts to standard error')
    .option('--json', 'print JSON (the default)')
    .examples(
      ['tollgate threat scan page.txt', ''],
      ['tollgate threat scan answers.jsonl.gz --severity medium --summary', 'one record per line'],
      ['curl -s https://example.com | tollgate threat scan --show', ''],
    )
    .action(to(async () => (await import('./policy/threat-scan.ts')).runScan))
}
