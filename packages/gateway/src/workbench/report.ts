// Formats case results for people: a table per file, the failures with their causes, and the coverage of each policy.

import { unreached, type Coverage } from './coverage.ts'
import type { CaseCall } from './case.ts'
import type { CaseResult, Failure } from './run-cases.ts'

/** The results of one case file. */
export interface FileReport {
  readonly file: string
  /** Path of the policy; undefined if the file could not be read. */
  readonly policy: string | undefined
  /** The name of the policy; undefined if the policy could not be read. */
  readonly name: string | undefined
  /** Why nothing was run, with positions. */
  readonly mistakes: readonly string[]
  readonly results: readonly CaseResult[]
}

/** The coverage of one policy by all case files. */
export interface PolicyReport {
  readonly policy: string
  readonly coverage: Coverage
}

/** Terminal formatting for a report. */
export interface ReportStyle {
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
  readonly dim: (text: string) => string
  /** Makes foreign text safe to print on one line. */
  readonly shown: (text: string) => string
  readonly table: (head: readonly string[], rows: readonly (readonly string[])[]) => string
  /** A command that explains a call with an unexpected result. */
  readonly explain: (policy: string, call: CaseCall, at: number) => string
}

/** Whether all cases passed. */
export function passes({ results, mistakes }: FileReport): boolean {
  return mistakes.length === 0 && results.every(({ failure }) => !failure)
}

/** The text for one file: its cases as a table, then the failures. */
export function fileText(report: FileReport, look: ReportStyle): string {
  const { file, mistakes, results, name } = report
  if (mistakes.length > 0) {
    return [`${look.bad('✗')} ${look.shown(file)}: no cases were run`, ...mistakes.map(look.shown)].join('\n')
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
    lines.push(`  the step \`${outcome.rung}\` decided${rule}, ${outcome.reason}${look.shown(because)}`)
  }
  if (call && report.policy !== undefined)
    lines.push(`  ${look.dim(look.shown(look.explain(report.policy, call, failure.at)))}`)
  return lines.join('\n')
}

/** The text for the coverage of a policy. */
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
