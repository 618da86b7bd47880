// What came of case files, for people: a table for each file, what failed and why, and what was reached of each policy.

import { unreached, type Coverage } from './coverage.ts'
import type { CaseCall } from './case.ts'
import type { CaseResult, Failure } from './run-cases.ts'

/** What came of one case file. */
export interface FileReport {
  readonly file: string
  /** Path of the policy; undefined if the file does not say, because it cannot be read. */
  readonly policy: string | undefined
  /** What the policy calls itself; undefined if it cannot be read. */
  readonly name: string | undefined
  /** Why nothing was run, each with its place. */
  readonly mistakes: readonly string[]
  readonly results: readonly CaseResult[]
}

/** What was reached of one policy, by all files about it. */
export interface PolicyReport {
  readonly policy: string
  readonly coverage: Coverage
}

/** What a terminal lends to a report. */
export interface ReportStyle {
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
  readonly dim: (text: string) => string
  /** Text of others as one harmless line. */
  readonly shown: (text: string) => string
  readonly table: (head: readonly string[], rows: readonly (readonly string[])[]) => string
  /** How to look into a call that came out otherwise. */
  readonly explain: (policy: string, call: CaseCall, at: number) => string
}

/** Whether all is as expected. */
export function passes({ results, mistakes }: FileReport): boolean {
  return mistakes.length === 0 && results.every(({ failure }) => !failure)
}

/** One file: its cases as a table, then what failed. */
export function fileText(report: FileReport, look: ReportStyle): string {
  const { file, mistakes, results, name } = report
  if (mistakes.length > 0) {
    return [`${look.bad('✗')} ${look.shown(file)}: nothing was run`, ...mistakes.map(look.shown)].join('\n')
  }
  const good = results.filter(({ failure }) => !failure).length
  const title = `${look.shown(file)}: ${good} of ${results.length} cases pass under \`${look.shown(name ?? '')}\``
  const rows = results.map((result) => rowOf(result, look))
  const failures = results.flatMap((result) =>
    result.failure ? ['', failureText(report, result, result.failure, look)] : [],
  )
  return [title, '', look.table(['', 'case', 'expected', 'got'], rows), ...failures].join('\n')
}

function rowOf({ name, expected, got, failure }: CaseResult, look: ReportStyle): readonly string[] {
  const mark = failure ? look.bad('✗') : look.good('✓')
  const at = failure?.step === undefined ? '' : `step ${failure.step}: `
  return [mark, look.shown(name), look.shown(expected), look.shown(`${at}${got}`)]
}

function failureText(report: FileReport, { name }: CaseResult, failure: Failure, look: ReportStyle): string {
  const { expected, got, step, line, outcome, call } = failure
  const lines = [
    `${look.bad('✗')} ${look.shown(name)}`,
    `  ${look.shown(report.file)}:${line}: ${step === undefined ? '' : `step ${step}: `}expected ${look.shown(expected)}, got ${look.shown(got)}`,
  ]
  if (outcome) {
    const because = outcome.detail === undefined ? '' : `: ${outcome.detail}`
    const rule = outcome.rule === undefined ? '' : `, rule \`${outcome.rule}\``
    lines.push(`  the rung \`${outcome.rung}\` decided${rule}, ${outcome.reason}${look.shown(because)}`)
  }
  if (call && report.policy !== undefined)
    lines.push(`  ${look.dim(look.shown(look.explain(report.policy, call, failure.at)))}`)
  return lines.join('\n')
}

/** What was reached of a policy. */
export function coverageText({ policy, coverage }: PolicyReport, look: ReportStyle): string {
  const { rules, gates, percent } = coverage
  const missed = unreached(coverage)
  const title = `${look.shown(policy)}: cases reach ${rules.length - missed.length} of ${rules.length} rules, ${percent} %`
  const ruleRows = rules.map(({ rule, line, action, decided }) => [
    rule,
    action,
    decided === 0 ? look.bad('no case') : `decided ${decided}`,
    look.dim(`line ${line}`),
  ])
  const gateRows = gates.map(({ gate, denied, asked }) => [gate, ...objections(denied, asked, look)])
  return [
    title,
    '',
    look.table(['rule', 'does', 'cases', ''], ruleRows),
    '',
    look.table(['gate', 'objections'], gateRows),
    ...(missed.length === 0
      ? []
      : ['', `no case reaches ${missed.map(({ rule }) => `\`${rule}\``).join(', ')}`]),
  ].join('\n')
}

function objections(denied: number, asked: number, look: ReportStyle): readonly string[] {
  if (denied + asked === 0) return [look.dim('no case')]
  return [[...(denied > 0 ? [`DENY ${denied}`] : []), ...(asked > 0 ? [`ESCALATE ${asked}`] : [])].join(', ')]
}
