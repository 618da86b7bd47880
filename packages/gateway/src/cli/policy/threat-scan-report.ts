// What `tollgate threat scan` says of a record, and of all of them.

import {
  isHard,
  SEVERITIES,
  THREAT_CODES,
  type Severity,
  type ThreatFinding,
} from '@tollgate/kernel/detection'
import { table } from '../program/table.ts'

/** Where a record stands. */
export interface TextPlace {
  readonly file: string
  /** Its line, if each line is a record. */
  readonly line?: number
  readonly id?: string | number
}

/** What is told of a record. */
export interface Reported extends TextPlace {
  /** Whether something in it makes the gates hold it suspect. */
  readonly flagged: boolean
  /** The worst of everything that was found; null if nothing was. */
  readonly severity: Severity | null
  readonly findings: readonly ToldFinding[]
}

interface ToldFinding extends ThreatFinding {
  readonly about: string
  /** What stands there; only if that was asked for. */
  readonly text?: string
}

/** How a record is told. */
interface Telling {
  /** Lesser findings are left out. They count for `severity` all the same. */
  readonly least: Severity
  /** The text of the record, or a piece of it, if findings are to quote it. */
  readonly quote?: (start: number, end: number) => string
}

/** What is told of a record with these findings. */
export function reportOf(place: TextPlace, findings: readonly ThreatFinding[], telling: Telling): Reported {
  const { least, quote } = telling
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

/** One line of JSON in which nothing plays with a terminal. */
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

/** What was found in all records together. */
export class ThreatTally {
  records = 0
  flagged = 0
  /** By code: how many findings of each severity, and in how many records. */
  readonly #codes = new Map<string, { readonly counts: Map<Severity, number>; records: number }>()

  /** Counts a record. */
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

  /** The sum of it in one sentence. */
  sentence(): string {
    return `${this.flagged} of ${this.records} ${this.records === 1 ? 'record' : 'records'} flagged`
  }

  /** The codes in a table, what was found in most records first; empty if nothing was found. */
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
