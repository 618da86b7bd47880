// The findings of a scan: gathered, joined where they overlap, and cut down to the most severe.

import { classOf, type Severity, type ThreatCode, type ThreatFinding } from './finding.ts'

/** A severity as a number, so that the greater one can be taken. */
export type Grade = 0 | 1 | 2 | 3
/** Not worth a finding. */
export const NONE = 0
export const LOW = 1
export const MEDIUM = 2
export const HIGH = 3

interface FoundThreat {
  readonly code: ThreatCode
  grade: Grade
  readonly start: number
  end: number
  /** Talked about rather than said: it does not grow by its neighbours. */
  quoted: boolean
}

/** Findings of one code and grade: how many, and the last. */
interface Series {
  count: number
  last: FoundThreat
}

/** The findings so far. */
export interface Report {
  readonly found: FoundThreat[]
  /** By code; then by grade, and whether it is quoted. */
  readonly series: Map<ThreatCode, (Series | undefined)[]>
}

/** No findings yet. */
export function emptyReport(): Report {
  return { found: [], series: new Map() }
}

/** Most findings of one class in a text: none can crowd out those of another. */
export const MAX_FINDINGS: number = 64
// More than can be told, and room for what the readings of a text have in common.
const MAX_SERIES = 4 * MAX_FINDINGS

/** Notes a finding, in places of the text as it was given. */
export function add(
  report: Report,
  code: ThreatCode,
  grade: Grade,
  start: number,
  end: number,
  quoted: boolean = false,
): void {
  if (grade === NONE || start >= end) return
  const all = seriesOf(report, code)
  const key = grade * 2 + (quoted ? 1 : 0)
  const series = all[key]
  if (series === undefined) {
    all[key] = { count: 1, last: push(report, { code, grade, start, end, quoted }) }
  } else if (start >= series.last.start && start <= series.last.end) {
    // Touches the one before: of a run of strange characters, and of a repeated sentence, there is one finding.
    series.last.end = Math.max(series.last.end, end)
  } else if (series.count < MAX_SERIES) {
    series.count++
    series.last = push(report, { code, grade, start, end, quoted })
  }
}

function seriesOf(report: Report, code: ThreatCode): (Series | undefined)[] {
  const known = report.series.get(code)
  if (known) return known
  const fresh: (Series | undefined)[] = []
  report.series.set(code, fresh)
  return fresh
}

function push(report: Report, found: FoundThreat): FoundThreat {
  report.found.push(found)
  return found
}

function most(found: readonly FoundThreat[]): FoundThreat[] {
  if (found.length <= MAX_FINDINGS) return [...found]
  const counts = new Map<string, number>()
  const bySeverity = [...found].sort((a, b) => b.grade - a.grade || inOrder(a, b))
  return bySeverity.filter(({ code }) => {
    const count = (counts.get(classOf(code)) ?? 0) + 1
    counts.set(classOf(code), count)
    return count <= MAX_FINDINGS
  })
}

function inOrder(a: FoundThreat, b: FoundThreat): number {
  if (a.start !== b.start) return a.start - b.start
  if (a.end !== b.end) return b.end - a.end
  return a.code < b.code ? -1 : a.code > b.code ? 1 : b.grade - a.grade
}

/** Findings of one code that overlap are one. The same is found again in each reading of a text. */
function joined(found: readonly FoundThreat[]): FoundThreat[] {
  const last = new Map<ThreatCode, FoundThreat>()
  const kept: FoundThreat[] = []
  for (const each of [...found].sort(inOrder)) {
    const before = last.get(each.code)
    if (before && each.start < before.end) {
      before.end = Math.max(before.end, each.end)
      before.quoted = before.grade >= each.grade ? before.quoted : each.quoted
      if (each.grade > before.grade) before.grade = each.grade
      continue
    }
    const copy = { ...each }
    last.set(each.code, copy)
    kept.push(copy)
  }
  return kept
}

const NEAR = 400

/** Two strong findings of different kinds next to each other leave no doubt. */
function strengthened(found: readonly FoundThreat[]): void {
  const strong = found.filter(({ code, grade, quoted }) => grade >= MEDIUM && !quoted && speaks(code))
  for (const [i, each] of strong.entries()) {
    // Spans can be nested, so the next few are looked at, not only the next one.
    for (const other of strong.slice(i + 1, i + 4)) {
      if (other.code === each.code || other.start - each.end > NEAR) continue
      each.grade = other.grade = HIGH
    }
  }
}

/** Whether it is a way of speaking to the reader. */
function speaks(code: ThreatCode): boolean {
  const kind = classOf(code)
  return kind === 'instruction' || kind === 'spoofing' || kind === 'exfiltration'
}

const NAMES: readonly Severity[] = ['low', 'low', 'medium', 'high']

/** The findings in the order of the text, of each class the most severe if there are too many. */
export function findingsOf(report: Report): readonly ThreatFinding[] {
  if (report.found.length === 0) return []
  const found = joined(report.found)
  strengthened(found)
  return most(found)
    .sort(inOrder)
    .map(({ code, grade, start, end }) => ({
      class: classOf(code),
      code,
      severity: NAMES[grade] ?? 'high',
      start,
      end,
    }))
}
