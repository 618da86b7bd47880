// Declares `tollgate policy`: writing, testing, explaining and activating the policy.

import type { To } from '../commands.ts'
import { collect, local, remote, whole } from '../program/forms.ts'
import type { Command } from '../program/help.ts'

/** Adds `policy`. */
export function addPolicy(program: Command, to: To): void {
  const policy = program
    .command('policy')
    .summary('write, test, explain and activate the policy')
    .description('The policy decides which calls are allowed.')
  addFiles(policy, to)
  addTrials(policy, to)
  addChanges(policy, to)
  addRecordings(policy, to)
}

/** Adds the commands on policy files: `check`, `fmt` and `schema`. */
function addFiles(policy: Command, to: To): void {
  local(policy, 'check')
    .summary('check a policy file for mistakes and likely errors')
    .description(
      'Reports every mistake with its position and how to fix it. If there is none, warns about rules that are never reached, conditions that can never be true, names that match no tool, and rules that allow too much. Does not activate the policy.',
    )
    .argument('[file]', 'the file; default: the policy of the data directory')
    .option('--strict', 'also exit with 1 if there are warnings')
    .examples(
      ['tollgate policy check ./policy.yaml', ''],
      ['tollgate policy check --strict policy.yaml', 'in CI'],
    )
    .action(to(async () => (await import('./check.ts')).runCheck))
  local(policy, 'fmt')
    .summary('format policy files; comments are kept')
    .description(
      'Formats policy files: fixed order of keys, one style of quotes, 110 columns. Keeps comments. Checks that the meaning is unchanged before it writes a file.',
    )
    .argument('[file...]', 'the files, or `-` for standard input; default: the policy of the data directory')
    .option('--check', 'write nothing; exit with 1 and list the files that would change')
    .examples(
      ['tollgate policy fmt policy.yaml', ''],
      ['tollgate policy fmt --check policies/*.yaml', 'in CI'],
      ['tollgate policy fmt - < draft.yaml > policy.yaml', ''],
    )
    .action(to(async () => (await import('./fmt.ts')).runFmt))
  policy
    .command('schema')
    .summary('print the JSON Schema of policy files, for editors')
    .description(
      'Editors use it to complete and check YAML. Add this as the first line of a policy:\n\n  # yaml-language-server: $schema=./policy.schema.json',
    )
    .option('--cases', 'print the schema of case files instead, see `tollgate policy test`')
    .option('--json', 'print JSON (the default)')
    .examples(
      ['tollgate policy schema > policy.schema.json', ''],
      ['tollgate policy schema --cases > cases.schema.json', ''],
    )
    .action(to(async () => (await import('./schema.ts')).runSchema))
}

/** Adds `test`, `activate` and `explain`. */
function addTrials(policy: Command, to: To): void {
  local(policy, 'test')
    .summary('run the test cases of a policy')
    .description(
      'Runs case files: `policy.test.yaml` contains calls and the expected verdicts of `policy.yaml`. Each case runs in the real kernel with its own ledger in memory. Reports failed cases with the reason, and which rules and gates no case covers.\n\nExit code: 0 all cases pass, 1 a case fails, 2 there is no case.',
    )
    .argument(
      '[path...]',
      'case files, or directories with case files; default: the directory of the configured policy',
    )
    .option('--only <text>', 'only cases with this text in their name')
    .addOption(
      whole('--min-coverage <percent>', 'fail if the cases cover less of the rules of a policy', 0, 100),
    )
    .option('--junit <file>', 'also write the results as JUnit XML')
    .option('--watch', 'run again whenever a policy or a case file changes')
    .examples(
      ['tollgate policy test', ''],
      ['tollgate policy test policies --min-coverage 100 --junit policies.xml', 'in CI'],
      ['tollgate policy test policy.test.yaml --only secret --watch', 'while writing'],
    )
    .action(to(async () => (await import('./test.ts')).runTest))
  remote(policy, 'activate')
    .summary('put a policy file in force')
    .description(
      'Puts a policy file in force. A file with mistakes changes nothing. If the file is not the policy file of the data directory, asks whether to copy it there or to remember its path. Asks before the starter policy replaces another one.',
    )
    .argument('[file]', 'the file; default: the policy file of the data directory')
    .option('--copy', 'also copy the file, and its test cases, over the policy file of the data directory')
    .option('--remember', 'also write the path of the file into tollgate.yaml')
    .option('--yes', 'replace another policy by the starter policy without a question')
    .examples(
      ['tollgate policy activate', ''],
      ['tollgate policy activate ./policy.yaml --copy', 'from now on, the policy file has this text'],
    )
    .action(to(async () => (await import('./policy.ts')).runActivate))
  remote(policy, 'explain')
    .summary('explain why a call would be, or was, allowed or denied')
    .description(
      'Shows the answer of each step of the ladder and of each rule to a call, and everything that prevents an ALLOW. Records nothing. Uses the state of the ledger, or with `--policy` only a policy file. Give a receipt instead of a call to see why that decision was made.',
    )
    .argument('[receipt]', 'the id of a decision, or at least its first 8 digits')
    .option('--tool <name>', 'the tool')
    .option('--args <json>', 'its arguments, a JSON object; default: `{}`')
    .option('--args-file <file>', 'a file with the arguments')
    .option('--principal <name>', 'the principal that calls')
    .option('--door <door>', 'the door of the call; default: `http`')
    .option('--session <id>', 'the session of the call')
    .option('--environment <name>', 'the environment that the call states')
    .option('--workspace <name>', 'the workspace that the call states')
    .option(
      '--source <file>',
      'a file with text of a tool or a page that led to the call; repeatable',
      collect,
    )
    .option('--observation <file>', 'for a browser call: what the Sentinel saw of the page, as JSON')
    .option('--planner-ref <text>', 'for a browser call: the planner reference')
    .option('--destination <url>', 'for a browser call: where the action goes, if not to the page')
    .option('--policy <file>', 'use only this policy file, without a ledger')
    .option('--at <time>', 'the time of the call, such as 2026-01-05T09:00:00Z; default: now')
    .examples(
      ['tollgate policy explain --tool fs/read_file --args \'{"path":"/srv/a"}\' --principal agent:ci', ''],
      ['tollgate policy explain --policy next.yaml --tool mail/send --principal agent:ci', 'only a file'],
      ['tollgate policy explain 3f2a91bc', 'why a decision was made'],
    )
    .action(to(async () => (await import('./explain.ts')).runExplain))
}

/** Adds the commands that show or draft changes: `diff` and `draft`. */
function addChanges(policy: Command, to: To): void {
  remote(policy, 'diff')
    .summary('show which decisions change between two policies; for CI')
    .description(
      'Runs calls under both policies and reports which verdicts change, looser verdicts first. The calls come from the ledger, from the case files of the policies (`NAME.test.yaml`), and from a generator that tries every rule and gate. With one file, compares it with the policy in force; without a file, compares the policy file of the data directory with it.\n\nExits with 1 if a call becomes allowed that was denied or escalated, or if a rule or section has changed and no call shows the effect. Accept such a change by name: the id of the rule that now allows, `gone:RULE` for a rule that no longer denies or escalates, `rung:NAME` for a step that no longer objects, `untried:NAME` or `settings:NAME` for a change that no call shows.',
    )
    .argument('[a]', 'the old policy file; with one file, the new policy file; default: the configured file')
    .argument('[b]', 'the new policy file')
    .option('--accept <name>', 'a name from the report to accept; repeatable', collect)
    .option('--accept-file <file>', 'a file with names to accept, one per line; `#` starts a comment')
    .addOption(whole('--generated <n>', 'maximum number of generated calls; 0 for none', 0, 1_000_000))
    .option('--no-recorded', 'do not use calls of the ledger')
    .option('--no-cases', 'do not use calls of case files')
    .option('--trace <file>', 'a file written by `policy trace`, instead of the data directory')
    .option('--values', 'show the arguments of recorded calls, not only their names')
    .option('--all', 'also show calls with the same verdict but another reason')
    .examples(
      ['tollgate policy diff old.yaml new.yaml', 'compare two files'],
      ['tollgate policy diff', 'compare the policy in force with the policy file'],
      ['tollgate policy diff policy.yaml', 'compare the policy in force with a file'],
      ['tollgate policy diff old.yaml new.yaml --accept-file accepted.txt', 'in CI'],
    )
    .action(to(async () => (await import('./diff.ts')).runDiff))
  remote(policy, 'draft')
    .summary('draft a policy for the tools of your MCP servers')
    .description(
      'Drafts a policy from the tool descriptions of the servers: reading is allowed, everything else needs an approval. Review and change the draft before you activate it. Never overwrites a file.',
    )
    .option('--server <name>', 'only this server; repeatable', collect)
    .option('--observed', 'also include tools that were only seen in calls, with sample arguments')
    .option('--trace <file>', 'with `--observed`: a file written by `policy trace`, instead of the ledger')
    .option(
      '--unattended',
      'for agents without a user present: side effects are allowed; those that untrusted text seems to cause need an approval',
    )
    .option('--out <file>', 'write to this new file; default: standard output')
    .examples(
      ['tollgate policy draft', ''],
      ['tollgate policy draft --server github --out policy.yaml', ''],
      ['tollgate policy draft --observed', 'include tools that no server describes'],
    )
    .action(to(async () => (await import('./draft.ts')).runDraft))
}

/** Adds the commands on recorded calls: `learn`, `replay`, `trace` and `observe`. */
function addRecordings(policy: Command, to: To): void {
  local(policy, 'learn')
    .summary('propose rules for calls that observe mode allowed')
    .description(
      'Turns observed calls into proposed rules: one for each tool, limited to the observed principals, doors and arguments. A comment marked WIDER above a rule says what it allows beyond the observed calls. Sessions with findings, denials or withheld results are skipped, and no rule is proposed for tools with the effects delete, pay or admin.\n\nNothing is activated. Read the rules, paste them into the policy, then run `policy check`, `policy diff` and `policy activate`.',
    )
    .option('--since <time>', 'only calls since this time, or in this period, such as 4h')
    .option('--session <id>', 'only this session')
    .option('--principal <name>', 'only calls of this principal')
    .option('--tool <name>', 'only calls to this tool')
    .option('--exact', 'allow only the observed calls')
    .option('--denied', 'also use calls that were denied because no rule matched')
    .option('--policy <file>', 'skip calls that this policy already decides; default: the policy in force')
    .option('--trace <file>', 'a file written by `policy trace`, instead of the data directory')
    .option('--out <file>', 'write to this new file; default: standard output')
    .examples(
      ['tollgate policy observe --principal agent:coder --for 4h', 'first, let the agent work'],
      ['tollgate policy learn --since 4h', 'then, propose rules'],
      ['tollgate policy learn --principal agent:coder --exact --out learned.yaml', ''],
    )
    .action(to(async () => (await import('./learn.ts')).runLearn))
  local(policy, 'replay')
    .summary('decide recorded calls again and report differences')
    .description(
      'Decides every kept call again, with the session state of that time. Uses the policies of that time, under which every decision must match its receipt, and reports the first that differs. With `--policy`, shows what that policy would have decided. Reads the data directory; works while a gateway runs. Exits with 1 if a decision differs.',
    )
    .option('--policy <file>', 'use this policy instead of the policies of that time')
    .option('--trace <file>', 'a file written by `policy trace`, instead of the data directory')
    .examples(
      ['tollgate policy replay', 'check all decisions against their policies'],
      ['tollgate policy replay --policy next.yaml', 'decisions under another policy'],
    )
    .action(to(async () => (await import('./replay.ts')).runReplay))
  local(policy, 'trace')
    .summary('export recorded calls to a file for `diff`, `replay` and `learn`')
    .description(
      'Writes receipts and kept calls, one per line. The file contains the arguments of calls: share it only with people who are allowed to see them. Never overwrites a file.',
    )
    .option('-o, --output <file>', 'the new file; default: standard output')
    .examples(['tollgate policy trace -o calls.trace', ''])
    .action(to(async () => (await import('./replay.ts')).runTrace))
  remote(policy, 'observe')
    .summary('temporarily allow and record calls that no rule matches')
    .description(
      'For getting started. While observe mode is on for a door or a principal, a call that no rule matches is allowed by the rule `observe` and kept for `policy learn`. All rules, gates and `require` still apply. Calls that delete, pay, administer, or send to a hostname outside of `gates.egress.allow` are never allowed this way. It ends at the given time. Needs an admin token. Without options, shows where observe mode is on.',
    )
    .option('--door <door>', 'calls through this door, such as mcp or http')
    .option('--principal <name>', 'calls of this principal')
    .option('--for <time>', 'duration, such as 30m or 4h; at most 24h')
    .option('--off', 'switch observe mode off')
    .examples(
      ['tollgate policy observe --principal agent:coder --for 4h', ''],
      ['tollgate policy observe --principal agent:coder --off', ''],
      ['tollgate policy observe', 'show where it is on'],
    )
    .action(to(async () => (await import('./observe.ts')).runObserve))
}
