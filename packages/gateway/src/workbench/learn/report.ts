// Formats the result of learning for people and for programs.

import { excerpt } from '../../tools/hidden.ts'
import type { Gathered } from './gather.ts'
import type { Learned } from './learn.ts'
import { count, type ValueNote } from './observed.ts'
import { spanOf, type ProposedRule } from './print.ts'
import { conditionText } from './rule.ts'
import { sessionOf, type LeftOut } from './sift.ts'

/** The whole text: an introduction, what was left out, and the rules. */
export function learnedText(learned: Learned, gathered: LeftBehind): string {
  const { calls, text } = learned
  const sessions = new Set(calls.map(sessionOf)).size
  const from = calls.length === 0 ? '' : `, ${spanOf(calls)}`
  const lines = [
    `Proposed by \`tollgate policy learn\` from ${count(calls.length, 'call')} in ${count(sessions, 'session')}${from}.`,
    'Review every line. WIDER marks what goes beyond the observed calls; `--exact` avoids it.',
    'The rules check the tenant, and the environment and workspace if calls had one. They do not check session, time, risk and trust.',
    `Checked with the evaluator: ${coverage(learned)}.`,
    ...leftLines(learned.left, gathered).map((line) => `Left out: ${line}`),
  ]
  return `${lines.map((line) => `# ${excerpt(line, 500)}\n`).join('')}${text}`
}

/** How many of the observed calls the rules allow. */
export function coverage({ calls, allowed, asked, uncovered }: Learned): string {
  if (calls.length === 0) return 'all observed calls were left out'
  const others = [
    ...(asked > 0 ? [`${asked} with approval`] : []),
    ...(uncovered.length > 0
      ? [`${uncovered.length} not covered, because they have contents or do not fit into a condition`]
      : []),
  ]
  return `${allowed} of ${count(calls.length, 'observed call')} allowed${others.map((each) => `, ${each}`).join('')}`
}

/** Calls that could not be used. */
type LeftBehind = Pick<Gathered, 'unkept' | 'unreadable' | 'more' | 'rejected'>

/** The calls that were left out, one line per reason. */
export function leftLines(
  left: readonly LeftOut[],
  { unkept, unreadable, more, rejected }: LeftBehind,
): readonly string[] {
  return [
    ...left.map(
      ({ why, calls, sessions }) => `${count(calls, 'call')} in ${count(sessions, 'session')}: ${why}`,
    ),
    ...[...rejected].map(([code, calls]) => `${count(calls, 'call')}: ${rejectionText(code)}`),
    ...(unkept > 0
      ? [`${count(unkept, 'call')} whose arguments were not kept or do not match the receipt`]
      : []),
    ...[...unreadable].map(([why, calls]) => `${count(calls, 'call')}, ${why}`),
    ...(more > 0 ? [`${count(more, 'call')} beyond the limit; use \`--since\` to select fewer`] : []),
  ]
}

function rejectionText(code: string): string {
  const isUnruled = code === 'NO_RULE_MATCHED' || code === 'TOOL_NOT_DECLARED'
  return isUnruled ? `denied, ${code}; \`--denied\` includes them` : `denied, ${code}`
}

interface LearnedReport {
  readonly rules: readonly RuleReport[]
  readonly text: string
  readonly observed: number
  readonly allowed: number
  readonly asked: number
  readonly uncovered: readonly string[]
  readonly left_out: readonly LeftOut[]
  readonly unkept: number
  readonly unreadable: Readonly<Record<string, number>>
  readonly denied: Readonly<Record<string, number>>
}

interface RuleReport {
  readonly id: string
  readonly action: string
  readonly tool: string
  readonly principals: readonly string[]
  readonly doors: readonly string[]
  readonly when: string
  readonly asks: readonly string[]
  readonly notes: readonly ValueNote[]
  readonly calls: number
  readonly sessions: number
  readonly first: string
  readonly last: string
  readonly receipts: readonly string[]
}

/** The same as `learnedText`, for programs. */
export function reportOf(learned: Learned, gathered: LeftBehind): LearnedReport {
  const { rules, calls, allowed, asked, uncovered, left } = learned
  return {
    rules: rules.map(ruleReport),
    text: learnedText(learned, gathered),
    observed: calls.length,
    allowed,
    asked,
    uncovered,
    left_out: left,
    unkept: gathered.unkept,
    unreadable: Object.fromEntries(gathered.unreadable),
    denied: Object.fromEntries(gathered.rejected),
  }
}

function ruleReport({
  id,
  action,
  tool,
  principals,
  doors,
  when,
  asks,
  notes,
  calls,
}: ProposedRule): RuleReport {
  const times = calls.map(({ time }) => time).sort()
  return {
    id,
    action,
    tool,
    principals,
    doors,
    when: conditionText(when),
    asks,
    notes,
    calls: calls.length,
    sessions: new Set(calls.map(sessionOf)).size,
    first: times[0] ?? '',
    last: times.at(-1) ?? '',
    receipts: calls.map(({ receipt }) => receipt),
  }
}
