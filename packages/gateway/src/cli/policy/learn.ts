// `tollgate policy learn`: proposes rules for calls that observe mode allowed.

import { writeFileSync } from 'node:fs'
import { parsePolicy, type Policy } from '@tollgate/kernel/policy'
import { createGatherer, type Gathered, type CallFilter } from '../../workbench/learn/gather.ts'
import { learn, type Learned } from '../../workbench/learn/learn.ts'
import { count } from '../../workbench/learn/observed.ts'
import { coverage, learnedText, leftLines, reportOf } from '../../workbench/learn/report.ts'
import type { Trace } from '../../workbench/trace.ts'
import type { DataOptions } from '../commands.ts'
import { word } from '../program/table.ts'
import { CommandError, type Terminal } from '../program/terminal.ts'
import { parseWhen } from '../program/when.ts'
import { policyIn } from './policy-file.ts'
import { withTrace } from './trace-source.ts'

interface LearnCommandOptions extends DataOptions {
  readonly trace?: string
  readonly since?: string
  readonly session?: string
  readonly principal?: string
  readonly tool?: string
  readonly exact?: boolean
  readonly denied?: boolean
  readonly policy?: string
  readonly out?: string
}

/** Proposes rules for observed calls. @throws CommandError if there are none. */
export async function runLearn(terminal: Terminal, options: LearnCommandOptions): Promise<number> {
  const wanted = wantedBy(options)
  const given = options.policy === undefined ? undefined : policyIn(options.policy)
  const { gathered, policy } = await withTrace(terminal, options, (trace) => gather(trace, wanted, given))
  if (gathered.calls.length === 0) throw nothingObserved(gathered)
  const learned = learn(gathered.calls, {
    exact: options.exact === true,
    ...(policy && { policy }),
  })
  print(terminal, options, learned, gathered)
  return 0
}

function wantedBy({ denied, since, session, principal, tool }: LearnCommandOptions): CallFilter {
  return {
    denied: denied === true,
    ...(since !== undefined && { since: parseWhen('--since', since) }),
    ...(session !== undefined && { session }),
    ...(principal !== undefined && { principal }),
    ...(tool !== undefined && { tool }),
  }
}

async function gather(
  trace: Trace,
  wanted: CallFilter,
  given: Policy | undefined,
): Promise<{ readonly gathered: Gathered; readonly policy: Policy | undefined }> {
  const gatherer = createGatherer(wanted)
  for await (const page of trace.pages) for (const entry of page) gatherer.take(entry)
  const policy = given ?? inForce(trace, gatherer.policyHash())
  return { gathered: gatherer.finish(policy), policy }
}

function inForce({ texts }: Trace, hash: string | undefined): Policy | undefined {
  const text = hash === undefined ? undefined : texts.get(hash)
  const parsed = text === undefined ? undefined : parsePolicy(text)
  return parsed?.ok === true ? parsed.policy : undefined
}

function nothingObserved({ unkept, unreadable, denied, rejected }: Gathered): CommandError {
  return new CommandError(
    unkept > 0
      ? `no observed call can be used: the arguments of ${unkept} calls were not kept`
      : 'no call was observed',
    ...leftLines([], { unkept: 0, unreadable, more: 0, rejected }),
    'switch observe mode on for some hours: `tollgate policy observe --principal agent:x --for 4h`',
    ...(denied > 0
      ? [`${denied} calls were denied because no rule matched; use \`--denied\` to include them`]
      : []),
  )
}

function print(
  terminal: Terminal,
  { out, denied, policy }: LearnCommandOptions,
  learned: Learned,
  gathered: Gathered,
): void {
  const text = learnedText(learned, gathered)
  if (out !== undefined) writeFileSync(out, text, { flag: 'wx', mode: 0o600 })
  terminal.exact(
    { ...(out !== undefined && { file: out }), ...reportOf(learned, gathered) },
    out === undefined ? text : '',
  )
  terminal.say(
    `${count(learned.rules.length, 'rule')} proposed${out === undefined ? '' : ` in \`${out}\``}; ${coverage(learned)}`,
  )
  for (const line of leftLines(learned.left, gathered)) terminal.say(`skipped: ${line}`)
  if (denied === true)
    terminal.warn('denied calls are included', 'they never ran, so their effects are unknown')
  if (learned.rules.length === 0) return
  terminal.say(
    'next: read every line, and paste the rules that you want at the end of `rules` in your policy',
  )
  for (const command of ['check', 'diff', 'activate']) {
    terminal.line(`  tollgate policy ${command} ${policy === undefined ? 'policy.yaml' : word(policy)}`)
  }
}
