// Collects the findings of a scan, joins those that overlap, and keeps the most severe.

import { classOf, type Severity, type ThreatCode, type ThreatFinding } from './finding.ts'

/** A severity as a number. */
export type Grade = 0 | 1 | 2 | 3
/** No finding. */
export const NONE = 0
export const LOW = 1
export const MEDIUM = 2
export const HIGH = 3

interface FoundThreat {
  readonly code: ThreatCode
  grade: Grade
  readonly start: number
  end: number
  /** The text quotes or discusses it, so other findings nearby do not raise its grade. */
  quoted: boolean
}

/** The findings of one code, grade and quotation state: their number and the last one. */
interface Series {
  count: number
  last: FoundThreat
}

/** The findings so far. */
export interface Report {
  readonly found: FoundThreat[]
  /** By code, then by grade and quotation state. */
  readonly series: Map<ThreatCode, (Series | undefined)[]>
}

/** Returns a report without findings. */
export function emptyReport(): Report {
  return { found: [], series: new Map() }
}

/** The maximum number of findings of one class in a text. One class cannot displace another. */
export const MAX_FINDINGS: number = 64
// More than the limit, because several views report the same finding.
const MAX_SERIES = 4 * MAX_FINDINGS

/** Notes a finding at a position of the original text. */
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
    // It touches the previous one. A run of strange characters or a repeated sentence is one finding.
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

function mostSevere(found: readonly FoundThreat[]): FoundThreat[] {
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

/** Joins findings of one code that overlap. Each view of a text can report the same finding. */
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

/** Raises two strong findings of different codes to high if they are near each other. */
function raiseNeighbours(found: readonly FoundThreat[]): void {
  const strong = found.filter(
    ({ code, grade, quoted }) => grade >= MEDIUM && !quoted && addressesReader(code),
  )
  for (const [i, each] of strong.entries()) {
    // Spans can be nested, so this compares the next few.
    for (const other of strong.slice(i + 1, i + 4)) {
      if (other.code === each.code || other.start - each.end > NEAR) continue
      each.grade = other.grade = HIGH
    }
  }
}

/** Returns whether a finding of this code addresses the reader. */
function addressesReader(code: ThreatCode): boolean {
  const kind = classOf(code)
  return kind === 'instruction' || kind === 'spoofing' || kind === 'exfiltration'
}

const NAMES: readonly Severity[] = ['low', 'low', 'medium', 'high']

/** Returns the findings in text order. If there are too many, keeps the most severe of each class. */
export function findingsOf(report: Report): readonly ThreatFinding[] {
  if (report.found.length === 0) return []
  const found = joined(report.found)
  raiseNeighbours(found)
  return mostSevere(found)
    .sort(inOrder)
    .map(({ code, grade, start, end }) => ({
      class: classOf(code),
      code,
      severity: NAMES[grade] ?? 'high',
      start,
      end,
    }))
}
