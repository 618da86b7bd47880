// `tollgate policy`: writing, testing and understanding the policy, and putting it in force.

import type { Command } from 'commander'
import type { To } from '../commands.ts'
import { collect, examples, local, remote, whole } from '../program/forms.ts'

/** `policy`. */
export function addPolicy(program: Command, to: To): void {
  const policy = program
    .command('policy')
    .summary('write, test, explain and activate the policy')
    .description('The policy file: who may do what.')
  local(policy, 'check')
    .summary('read a policy file and tell every mistake, and what is hardly meant so')
    .description(
      'Tells every mistake. In a file without mistakes it tells what is odd: rules that are never reached, conditions that can never\nbe true, names that fit no tool, rules that allow too much. Each comes with its place and what to do. Nothing is put in force.',
    )
    .argument('[file]', 'the file; that of the data directory if not given')
    .option('--strict', 'exit with 1 also if there are remarks')
    .addHelpText(
      ...examples(
        ['tollgate policy check ./policy.yaml', ''],
        ['tollgate policy check --strict policy.yaml', 'in CI'],
      ),
    )
    .action(to(async () => (await import('./check.ts')).runCheck))
  local(policy, 'fmt')
    .summary('write policy files in one layout, comments kept')
    .description(
      'Puts policy files into the one layout that the documentation has: keys in their order, one style of quotes, 110 columns.\nComments stay, and so does the meaning: it is compared before anything is written.',
    )
    .argument('[file...]', 'the files, or `-` for standard input; that of the data directory if not given')
    .option('--check', 'write nothing; exit with 1 and name the files that would change')
    .addHelpText(
      ...examples(
        ['tollgate policy fmt policy.yaml', ''],
        ['tollgate policy fmt --check policies/*.yaml', 'in CI'],
        ['tollgate policy fmt - < draft.yaml > policy.yaml', ''],
      ),
    )
    .action(to(async () => (await import('./fmt.ts')).runFmt))
  policy
    .command('schema')
    .summary('print the JSON Schema of policy files, for editors')
    .description(
      'Editors complete and check YAML with it. Write as the first line of a policy:\n# yaml-language-server: $schema=./policy.schema.json',
    )
    .option('--cases', 'the schema of case files instead, see `tollgate policy test`')
    .option('--json', 'print JSON, as it does anyway')
    .addHelpText(
      ...examples(
        ['tollgate policy schema > policy.schema.json', ''],
        ['tollgate policy schema --cases > cases.schema.json', ''],
      ),
    )
    .action(to(async () => (await import('./schema.ts')).runSchema))
  local(policy, 'test')
    .summary('run the cases beside a policy: calls, and what is to come of each')
    .description(
      'Runs case files: `policy.test.yaml` holds calls to `policy.yaml` and what each is to come to. Each case has a kernel and a\nledger of its own, in memory: what decides is what the gateway runs. Tells what failed and why, which rules decided and which\ngates objected, and what no case reaches.\n\nExits with 1 if a case fails, with 2 if there is no case.',
    )
    .argument(
      '[path...]',
      'case files, or directories to look below; where the policy of the data directory is, if not given',
    )
    .option('--only <text>', 'only cases with this text in their name')
    .addOption(whole('--min-coverage <percent>', 'fail if cases reach less of the rules of a policy', 0, 100))
    .option('--junit <file>', 'also write the results as JUnit XML')
    .option('--watch', 'run again whenever a policy or a case file changes')
    .addHelpText(
      ...examples(
        ['tollgate policy test', ''],
        ['tollgate policy test policies --min-coverage 100 --junit policies.xml', 'in CI'],
        ['tollgate policy test policy.test.yaml --only secret --watch', 'while writing'],
      ),
    )
    .action(to(async () => (await import('./test.ts')).runTest))
  remote(policy, 'activate')
    .summary('put the policy file in force')
    .argument('[file]', 'the file; that of the data directory if not given')
    .addHelpText(...examples(['tollgate policy activate', '']))
    .action(to(async () => (await import('./policy.ts')).runActivate))
  remote(policy, 'explain')
    .summary('say why a call would be allowed or denied, or why it was')
    .description(
      'Shows what each rung of the ladder and each rule says to a call, and everything that stands in the way of an ALLOW.\nNothing is recorded or counted. With `--policy` a file is tried alone; else the ledger is asked, with all that it remembers.\nGive a receipt instead of a call to see why that decision was made.',
    )
    .argument('[receipt]', 'the id of a decision, or at least its first eight digits')
    .option('--tool <name>', 'the tool that is called')
    .option('--args <json>', 'its arguments, a JSON object; `{}` if not given')
    .option('--args-file <file>', 'a file that holds the arguments')
    .option('--principal <name>', 'who calls')
    .option('--door <door>', 'the door that the call comes through; `http` if not given')
    .option('--session <id>', 'the session of the call')
    .option('--environment <name>', 'where the call says it comes from')
    .option('--workspace <name>', 'the workspace that the call says it comes from')
    .option(
      '--source <file>',
      'a text that led to the call, as a tool or a page said it; may be given again',
      collect,
    )
    .option('--policy <file>', 'try this policy file alone, without a ledger')
    .option('--at <time>', 'when the call is made, such as 2026-01-05T09:00:00Z; now if not given')
    .addHelpText(
      ...examples(
        ['tollgate policy explain --tool fs/read_file --args \'{"path":"/srv/a"}\' --principal agent:ci', ''],
        ['tollgate policy explain --policy next.yaml --tool mail/send --principal agent:ci', 'a file alone'],
        ['tollgate policy explain 3f2a91bc', 'why it was decided so'],
      ),
    )
    .action(to(async () => (await import('./explain.ts')).runExplain))
  remote(policy, 'diff')
    .summary('say which decisions change from one policy to another; for CI')
    .description(
      'Decides the calls of the ledger again, those of the case files beside the policies (`NAME.test.yaml`), and calls that are\nmade up to try every rule and gate, under both policies. Tells which verdicts change, what becomes looser first. With one\nfile, that is compared with the policy in force.\n\nExits with 1 if a call would pass that was denied or waited for a person, or if a rule or a section has changed and no call\nshows what that does, unless it is accepted by name: the id of the rule that now allows, `gone:RULE` for one that no longer\ndenies or asks, `rung:NAME` for a rung that no longer objects, `untried:NAME` and `settings:NAME` for what no call shows.',
    )
    .argument('<a>', 'the old policy file; the new one, if it is the only one')
    .argument('[b]', 'the new policy file')
    .option('--accept <name>', 'a name from the report that may let more pass; may be given again', collect)
    .option('--accept-file <file>', 'a file with such names, one a line; `#` begins a comment')
    .addOption(whole('--generated <n>', 'most calls that are made up; 0 for none', 0, 1_000_000))
    .option('--no-recorded', 'leave out the calls of the ledger')
    .option('--no-cases', 'leave out the calls of case files')
    .option('--trace <file>', 'a recorded history in a file, instead of the data directory')
    .option('--values', 'show the arguments of recorded calls, not only their names')
    .option('--all', 'also show calls whose verdict stays the same for another reason')
    .addHelpText(
      ...examples(
        ['tollgate policy diff old.yaml new.yaml', 'two files: needs nothing else'],
        ['tollgate policy diff policy.yaml', 'the policy in force, and this file'],
        ['tollgate policy diff old.yaml new.yaml --accept-file accepted.txt', 'in CI'],
      ),
    )
    .action(to(async () => (await import('./diff.ts')).runDiff))
  remote(policy, 'draft')
    .summary('write a first policy for the tools that servers offer')
    .description(
      'Drafts a policy from what the servers say of their tools: reading is allowed, everything else asks a person.\nIt is printed, for you to read and change. Never overwrites a file.',
    )
    .option('--server <name>', 'only this server; may be given again', collect)
    .option('--observed', 'also tools that were only seen in calls, with a sample of their arguments')
    .option('--trace <file>', 'with `--observed`: a history that `policy trace` wrote, instead of the ledger')
    .option(
      '--unattended',
      'for agents that nobody sits beside: what acts is allowed, and a person is asked where untrusted text seems to be behind it',
    )
    .option('--out <file>', 'a new file, instead of standard output')
    .addHelpText(
      ...examples(
        ['tollgate policy draft', ''],
        ['tollgate policy draft --server github --out policy.yaml', ''],
        ['tollgate policy draft --observed', 'for tools that no server describes'],
      ),
    )
    .action(to(async () => (await import('./draft.ts')).runDraft))
  local(policy, 'learn')
    .summary('propose rules for what observe mode let pass, with the evidence behind each')
    .description(
      'Turns observed calls into proposed rules: one for each tool, for the principals and doors that were seen, pinning every\nargument. What a rule allows beyond what was seen stands above it, marked WIDER. Sessions with findings, denials or withheld\nresults are left out as a whole, and nothing is proposed for tools that delete, pay or administer.\n\nNothing is put in force: read the rules, paste them, then `policy check`, `policy diff` and `policy activate`.',
    )
    .option('--since <time>', 'only calls since then: a time, or how long ago, such as 4h')
    .option('--session <id>', 'only this session')
    .option('--principal <name>', 'only calls of this principal')
    .option('--tool <name>', 'only calls to this tool')
    .option('--exact', 'allow just what was seen, and nothing more')
    .option('--denied', 'learn also from calls that were denied because no rule matched')
    .option('--policy <file>', 'leave out what this policy decides already; the policy in force if not given')
    .option('--trace <file>', 'a history that `policy trace` wrote, instead of the data directory')
    .option('--out <file>', 'a new file, instead of standard output')
    .addHelpText(
      ...examples(
        ['tollgate policy observe --principal agent:coder --for 4h', 'first: let it work'],
        ['tollgate policy learn --since 4h', 'then: read what it did, as rules'],
        ['tollgate policy learn --principal agent:coder --exact --out learned.yaml', ''],
      ),
    )
    .action(to(async () => (await import('./learn.ts')).runLearn))
  local(policy, 'replay')
    .summary('decide the recorded history again, and tell what comes out otherwise')
    .description(
      'Decides every recorded call again that was kept, with all that its session remembered. Under the policies that were in force\nevery receipt must come out as it is; the first that does not is named. With `--policy`, shows what that policy would have done.\nReads the data directory, also beside a running gateway. Exits with 1 if anything comes out otherwise.',
    )
    .option('--policy <file>', 'decide by this policy instead of those that were in force')
    .option('--trace <file>', 'a history that `policy trace` wrote, instead of the data directory')
    .addHelpText(
      ...examples(
        ['tollgate policy replay', 'is every decision what the policy says?'],
        ['tollgate policy replay --policy next.yaml', 'what would have been'],
      ),
    )
    .action(to(async () => (await import('./replay.ts')).runReplay))
  local(policy, 'trace')
    .summary('write the recorded history to a file, for `diff`, `replay` and `learn` elsewhere')
    .description(
      'Writes receipts and the calls that were kept beside them, a line each. The arguments of calls are among them: hand it on as\nyou would those. Never overwrites a file.',
    )
    .option('-o, --output <file>', 'the new file; standard output if not given')
    .addHelpText(...examples(['tollgate policy trace -o calls.trace', '']))
    .action(to(async () => (await import('./replay.ts')).runTrace))
  remote(policy, 'observe')
    .summary('for hours, let calls pass that no rule matches, on the record')
    .description(
      'For getting started. While it is on for a door or a principal, a call that no rule matches passes as ALLOW by the rule\n`observe`, and is kept for `policy learn`. Every rule, gate and `require` binds as ever, and nothing passes that deletes, pays,\nadministers, or goes to a host that `gates.egress.allow` does not name. It ends by itself; needs an admin.\nWithout options it shows where it is on.',
    )
    .option('--door <door>', 'for calls through this door, such as mcp or http')
    .option('--principal <name>', 'for calls of this principal')
    .option('--for <time>', 'for how long, such as 30m or 4h; at most 24h')
    .option('--off', 'switch it off')
    .addHelpText(
      ...examples(
        ['tollgate policy observe --principal agent:coder --for 4h', ''],
        ['tollgate policy observe --principal agent:coder --off', ''],
        ['tollgate policy observe', 'where it is on'],
      ),
    )
    .action(to(async () => (await import('./observe.ts')).runObserve))
}
