// The commands that come in groups: `tollgate receipts list` and the like.

import { Option, type Command } from 'commander'
import type { To } from './commands.ts'
import { collect, examples, filtered, local, remote, whole } from './program/forms.ts'

/** `receipts`. */
export function addReceipts(program: Command, to: To): void {
  const receipts = program
    .command('receipts')
    .summary('look at receipts')
    .description('Receipts of the ledger.')
  filtered(remote(receipts, 'list'))
    .summary('list receipts, the newest first')
    .addOption(whole('--limit <n>', 'at most so many', 1, 1000).default(20))
    .addOption(whole('--from <index>', 'go on from this entry', 0, Number.MAX_SAFE_INTEGER))
    .option('--oldest-first', 'from the oldest to newer ones')
    .addHelpText(
      ...examples(
        ['tollgate receipts list --verdict DENY', 'what was denied'],
        ['tollgate receipts list --principal agent:ci --json', ''],
      ),
    )
    .action(to(async () => (await import('./receipts/receipts.ts')).runList))
  remote(receipts, 'show')
    .summary('show one receipt')
    .argument('<receipt>', 'its id, or its place in the ledger')
    .option('--envelope', 'print the signed envelope, byte for byte')
    .option('--proof', 'print a proof of inclusion under a fresh checkpoint')
    .addHelpText(
      ...examples(
        ['tollgate receipts show 12', ''],
        ['tollgate receipts show 12 --proof > 12.tlog-proof', ''],
      ),
    )
    .action(to(async () => (await import('./receipts/receipts.ts')).runShow))
  filtered(remote(receipts, 'tail'))
    .summary('print receipts as they are written, until Ctrl-C')
    .addOption(
      whole('--from <index>', 'begin with this entry instead of the next', 0, Number.MAX_SAFE_INTEGER),
    )
    .addHelpText(...examples(['tollgate receipts tail --verdict DENY', '']))
    .action(to(async () => (await import('./receipts/receipts-tail.ts')).runTail))
}

/** `approvals`. */
export function addApprovals(program: Command, to: To): void {
  const approvals = program
    .command('approvals')
    .summary('see and answer what waits for a person')
    .description('Calls that wait for a person. Nobody answers their own.')
  remote(approvals, 'list')
    .summary('list what waits')
    .option('--watch', 'go on and print what comes, until Ctrl-C')
    .addHelpText(...examples(['tollgate approvals list --watch', '']))
    .action(to(async () => (await import('./people/approvals.ts')).runList))
  remote(approvals, 'show')
    .summary('show one request, with all that a yes would let pass')
    .argument('<request>', 'its id; for one that waits, the first 8 characters will do')
    .addHelpText(...examples(['tollgate approvals show 3f2a9c01', '']))
    .action(to(async () => (await import('./people/approvals-show.ts')).runShow))
  for (const [name, summary] of [
    ['approve', 'say yes: the call may pass, once'],
    ['deny', 'say no'],
  ] as const) {
    const command = remote(approvals, name)
      .summary(summary)
      .argument('<request>', 'its id, or the first characters of it')
      .option('--because <why>', 'why, in at most 500 characters; it is in the receipt for ever')
      .addHelpText(...examples([`tollgate approvals ${name} 3f2a9c01 --because "looked at it"`, '']))
    if (name === 'approve') {
      command.option(
        '--widen',
        'also widen the scope of its session by this tool, and what this call acts on',
      )
    }
    command.action(
      to(async () => (await import('./people/approvals.ts'))[name === 'approve' ? 'runApprove' : 'runDeny']),
    )
  }
}

/** `keys`. */
export function addKeys(program: Command, to: To): void {
  const keys = program
    .command('keys')
    .summary('the keys that sign')
    .description('The keys of the ledger and of its writer, and the one that encrypts kept calls.')
  local(keys, 'list')
    .summary('list the key files')
    .action(to(async () => (await import('./keys/keys.ts')).runList))
  local(keys, 'rotate')
    .summary('replace a key, on the record')
    .description('Makes a new key, puts it in service and retires the old one. The gateway must be stopped.')
    .option('--ledger', 'the key of the ledger, which trust files name, instead of the writer’s')
    .addHelpText(
      ...examples(
        ['tollgate keys rotate', 'the key that signs receipts'],
        ['tollgate keys rotate --ledger', 'then hand out `tollgate keys trust` anew'],
      ),
    )
    .action(to(async () => (await import('./keys/keys.ts')).runRotate))
  local(keys, 'seal')
    .summary('make the key that encrypts kept calls, if it is missing')
    .description(
      'For a ledger whose key is lost. Calls that were kept, and arguments that wait for an approval, stay unreadable without the old key.',
    )
    .addHelpText(...examples(['tollgate keys seal', 'then start the gateway again']))
    .action(to(async () => (await import('./keys/keys.ts')).runSeal))
  local(keys, 'trust')
    .summary('print the trust file for auditors')
    .description('Hand it over by another way than the packs: it is what makes them believable.')
    .addHelpText(...examples(['tollgate keys trust > trust.json', '']))
    .action(to(async () => (await import('./keys/keys.ts')).runTrust))
}

const ROLES = ['agent', 'host', 'sentinel', 'operator', 'admin', 'auditor']

/** `tokens`. */
export function addTokens(program: Command, to: To): void {
  const tokens = program
    .command('tokens')
    .summary('who may talk to the gateway')
    .description('Access tokens. They are shown once and kept as hashes.')
  remote(tokens, 'list')
    .summary('list the tokens in force')
    .action(to(async () => (await import('./people/tokens.ts')).runList))
  remote(tokens, 'issue')
    .summary('make a token and print it, once')
    .addOption(new Option('--role <role>', 'what its holder may do').choices(ROLES).makeOptionMandatory())
    .requiredOption('--principal <name>', 'whom it is for, such as agent:ci or user:olga')
    .option('--group <name>', 'a group of approvers the holder belongs to; may be given again', collect)
    .option('--lasts <time>', 'how long, such as 12h or 30d; forever if not given')
    .addHelpText(
      ...examples(
        ['tollgate tokens issue --role agent --principal agent:ci --lasts 30d', ''],
        ['tollgate tokens issue --role operator --principal user:olga --group ops', ''],
      ),
    )
    .action(to(async () => (await import('./people/tokens.ts')).runIssue))
  remote(tokens, 'revoke')
    .summary('end a token at once')
    .argument('<hash>', 'the hash of the token, or its first 8 characters or more')
    .addHelpText(...examples(['tollgate tokens revoke 3f2a9c01', '']))
    .action(to(async () => (await import('./people/tokens.ts')).runRevoke))
}

/** `threat`. */
export function addThreat(program: Command, to: To): void {
  const threat = program
    .command('threat')
    .summary('try the threat scanner on texts')
    .description('The threat scanner, as the gates use it.')
  threat
    .command('scan')
    .summary('look for attacks in texts, and print what is found as lines of JSON')
    .description(
      'Reads text, or JSON lines with a field `text`, and prints one line of JSON for each record: whether it is flagged, and what\nwas found where. Flagged means that the gates would hold what stands there suspect. The text itself is never printed, unless\n`--show` is given. Files that end with `.gz` are unpacked.\n\nExits with 0 if nothing is flagged, with 1 if something is, with 2 if something could not be read.',
    )
    .argument('[file...]', 'the files, or `-` for standard input, which is read if none is given')
    .addOption(
      new Option('--format <format>', 'read each file so; found out by its first line if not given').choices([
        'text',
        'jsonl',
      ]),
    )
    .addOption(
      new Option('--severity <severity>', 'list only findings that are as grave; flagged stays flagged')
        .choices(['low', 'medium', 'high'])
        .default('low'),
    )
    .option('--show', 'with each finding, print the text that it is about')
    .option('--summary', 'count the findings in a table, on standard error')
    .option('--json', 'print JSON, as it does anyway')
    .addHelpText(
      ...examples(
        ['tollgate threat scan page.txt', ''],
        ['tollgate threat scan answers.jsonl.gz --severity medium --summary', 'a record a line'],
        ['curl -s https://example.com | tollgate threat scan --show', ''],
      ),
    )
    .action(to(async () => (await import('./policy/threat-scan.ts')).runScan))
}
