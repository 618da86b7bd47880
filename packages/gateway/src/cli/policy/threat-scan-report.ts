// Builds the report of `tollgate threat scan` for one record, and the summary of all records.

import {
  isHard,
  SEVERITIES,
  THREAT_CODES,
  type Severity,
  type ThreatFinding,
} from '@tollgate/kernel/detection'
import { table } from '../program/table.ts'

/** The position of a record. */
export interface TextPlace {
  readonly file: string
  /** Its line, if each line is a record. */
  readonly line?: number
  readonly id?: string | number
}

/** The report on one record. */
export interface Reported extends TextPlace {
  /** Whether the gates would treat it as suspicious. */
  readonly flagged: boolean
  /** The highest severity of all findings; null if there are none. */
  readonly severity: Severity | null
  readonly findings: readonly ReportedFinding[]
}

interface ReportedFinding extends ThreatFinding {
  readonly about: string
  /** The matching text; only with `--show`. */
  readonly text?: string
}

interface ReportOptions {
  /** Findings below this severity are not listed, but count for `severity`. */
  readonly least: Severity
  /** Returns a part of the text, if findings should quote it. */
  readonly quote?: (start: number, end: number) => string
}

/** Builds the report on a record. */
export function reportOf(
  place: TextPlace,
  findings: readonly ThreatFinding[],
  options: ReportOptions,
): Reported {
  const { least, quote } = options
  return {
    ...place,
    flagged: findings.some(isHard),
    severity: worstOf(findings),
    findings: findings
      .filter(({ severity }) => rank(severity) >= rank(least))
      .map(({ class: kind, code, severity, start, end }) => ({
        class: kind,
        code,
        severity,
        start,
        end,
        about: THREAT_CODES[code]?.about ?? '',
        ...(quote && { text: quote(start, end) }),
      })),
  }
}

function rank(severity: Severity): number {
  return SEVERITIES.indexOf(severity)
}

function worstOf(findings: readonly ThreatFinding[]): Severity | null {
  const worst = Math.max(-1, ...findings.map(({ severity }) => rank(severity)))
  return SEVERITIES[worst] ?? null
}

/** Returns one line of JSON in which control and invisible characters are escaped. */
export function lineOf(reported: Reported): string {
  const json = JSON.stringify(reported)
  return `${json.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped)}\n`
}

function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

/** Counts the findings of all records. */
export class ThreatTally {
  records = 0
  flagged = 0
  /** By code: the number of findings per severity, and the number of records. */
  readonly #codes = new Map<string, { readonly counts: Map<Severity, number>; records: number }>()

  add(findings: readonly ThreatFinding[]): void {
    this.records++
    if (findings.some(isHard)) this.flagged++
    for (const { code, severity } of findings) {
      const { counts } = this.#of(code)
      counts.set(severity, (counts.get(severity) ?? 0) + 1)
    }
    for (const code of new Set(findings.map((each) => each.code))) this.#of(code).records++
  }

  #of(code: string): { readonly counts: Map<Severity, number>; records: number } {
    const known = this.#codes.get(code) ?? { counts: new Map<Severity, number>(), records: 0 }
    this.#codes.set(code, known)
    return known
  }

  sentence(): string {
    return `${this.flagged} of ${this.records} ${this.records === 1 ? 'record' : 'records'} flagged`
  }

  /** Returns a table of codes, by descending number of records; empty if nothing was found. */
  table(): string {
    if (this.#codes.size === 0) return ''
    const all = [...this.#codes].sort(
      ([a, one], [b, other]) => other.records - one.records || (a < b ? -1 : 1),
    )
    const rows = all.map(([code, { counts, records }]) => [
      code,
      THREAT_CODES[code]?.class ?? '',
      ...[...SEVERITIES].reverse().map((severity) => String(counts.get(severity) ?? 0)),
      String(records),
    ])
    return table(['CODE', 'CLASS', 'HIGH', 'MEDIUM', 'LOW', 'RECORDS'], rows)
  }
}
