// Builds the report of a verification: findings, proved statements, and statements that the pack does not prove.

import type { Unseen } from './audit.ts'
import type { Cosignature } from './checkpoint.ts'
import { FINDINGS, STAGES, type Finding, type FindingCode } from './findings.ts'
import type { Range } from './manifest.ts'

/**
 * How far a pack can be trusted. `integrity only`: it is consistent, but its key is not pinned. `verified`: it is part of the
 * ledger whose key is pinned. `witnessed`: verified, and enough witnesses cosigned its checkpoint.
 */
export type Level = 'malformed' | 'failed' | 'integrity only' | 'verified' | 'witnessed'

/** Exit codes: 0 verified (or witnessed), 1 proof failure, 2 malformed, 3 integrity only. */
export type ExitCode = 0 | 1 | 2 | 3

/** Counts over the receipts of a pack. */
export interface Summary {
  readonly receipts: number
  readonly kinds: Readonly<Record<string, number>>
  readonly verdicts: Readonly<Record<string, number>>
  readonly effects: Readonly<Record<string, number>>
  /** Allowed calls whose effect is not in the pack. */
  readonly open: number
  readonly first_time?: string
  readonly last_time?: string
}

/** The result of `verifyPack`: plain data, identical in Node and in browsers. */
export interface Report {
  readonly level: Level
  readonly exit: ExitCode
  readonly ledger?: string
  readonly tree_size?: number
  /** The root of the checkpoint, in base64. */
  readonly root?: string
  readonly range?: Range
  readonly selected: number
  readonly witnesses: readonly Cosignature[]
  /** The text of the checkpoint, if the pack is verified. Pin it in the trust file for the next verification. */
  readonly checkpoint?: string
  readonly summary: Summary
  readonly findings: readonly Finding[]
  /** Number of findings beyond the limit, which are not listed. */
  readonly more_findings: number
  readonly proved: readonly string[]
  readonly not_proved: readonly string[]
}

/** Maximum number of findings that a report lists. */
export const MAX_FINDINGS = 1000
/** The report lists at least this many findings of each code, even beyond `MAX_FINDINGS`. */
export const MIN_LISTED_PER_CODE = 10

/** Collects findings up to a limit and sorts them by stage. */
export class Findings {
  readonly #kept: Finding[] = []
  readonly #places = new Set<string>()
  readonly #ofCode = new Map<FindingCode, number>()
  #more = 0
  #malformed = false
  #any = false

  add(
    code: FindingCode,
    where: { readonly index?: number; readonly member?: string } = {},
    detail?: string,
  ): void {
    const { sentence, severity } = FINDINGS[code]
    // Two checks can report the same problem.
    const place = `${code} ${where.index ?? ''} ${where.member ?? ''}`
    if (this.#places.has(place)) return
    this.#any = true
    if (severity === 'malformed') this.#malformed = true
    const ofCode = this.#ofCode.get(code) ?? 0
    this.#ofCode.set(code, ofCode + 1)
    if (this.#kept.length >= MAX_FINDINGS && ofCode >= MIN_LISTED_PER_CODE) {
      this.#more++
      return
    }
    this.#places.add(place)
    this.#kept.push({ code, ...where, sentence: detail === undefined ? sentence : `${sentence} (${detail})` })
  }

  get any(): boolean {
    return this.#any
  }

  get malformed(): boolean {
    return this.#malformed
  }

  get more(): number {
    return this.#more
  }

  /** The findings sorted by stage, then by index. Fix or investigate the first ones first. */
  sorted(): readonly Finding[] {
    const stage = ({ code }: Finding): number => STAGES.indexOf(FINDINGS[code].stage)
    return this.#kept
      .map((finding, at) => ({ finding, at }))
      .sort(
        (a, b) =>
          stage(a.finding) - stage(b.finding) ||
          (a.finding.index ?? -1) - (b.finding.index ?? -1) ||
          a.at - b.at,
      )
      .map(({ finding }) => finding)
  }
}

/** The facts that the statements of a report are built from. */
export interface Basis {
  readonly level: Level
  readonly ledger: string
  readonly size: number
  readonly range: Range | undefined
  readonly selected: number
  readonly witnesses: readonly Cosignature[]
  /** Size of the pinned checkpoint that the ledger continues. */
  readonly continues: number | undefined
  readonly summary: Summary
  /** Calls whose effect is recorded as UNKNOWN. */
  readonly unknown: number
  readonly unseen: Unseen
  readonly policiesMissing: number
}

/** The sentences on what the pack proves. Empty if a check failed. */
export function provedBy(basis: Basis): readonly string[] {
  const { level, ledger, size, range, selected, witnesses, continues } = basis
  if (level === 'failed' || level === 'malformed') return []
  const lines: string[] = []
  const whole = range?.start === 0 && range.end === size
  if (range) {
    const entries = whole ? `All ${size} entries` : `Entries ${range.start} to ${range.end - 1}`
    const checkpoint = whole ? 'signed checkpoint' : `signed checkpoint of ${size} entries`
    lines.push(`${entries} are present, in order and unmodified, as the ${checkpoint} states.`)
  }
  if (selected > 0) {
    const which = range ? 'further' : 'selected'
    const entries = some(selected, `${which} entry is`, `${which} entries are`)
    lines.push(`${entries} in the ledger of the checkpoint: inclusion proofs show this.`)
  }
  lines.push(
    whole
      ? 'Each receipt is signed by a key that was active in the ledger at that entry.'
      : 'Each receipt is signed by a key that an earlier entry of the ledger added. No entry of the pack before the receipt retires this key.',
    'Each receipt agrees with the receipts and policies that it refers to, as far as the pack contains them.',
  )
  if (level === 'integrity only') return lines
  lines.push(`The checkpoint of ${size} entries is signed by the key that you pinned for \`${ledger}\`.`)
  if (continues !== undefined)
    lines.push(`The ledger continues the checkpoint of ${continues} entries that you pinned.`)
  for (const { name, time } of witnesses) {
    lines.push(
      `The witness \`${name}\` cosigned this checkpoint at ${isoSeconds(time)}. By then it had seen no checkpoint that contradicts this one.`,
    )
  }
  return lines
}

/** The sentences on what the pack does not prove, also if it passed every check. */
export function notProvedBy(basis: Basis): readonly string[] {
  const { level, range, size, witnesses, continues, summary, unknown, unseen, policiesMissing } = basis
  const { open } = summary
  const lines: string[] = []
  if (level === 'failed' || level === 'malformed') return ['Everything. The findings say why.']
  if (level === 'integrity only')
    lines.push(
      'The origin: no trust file was given, so no key is pinned. Get the trust file of the ledger and verify again.',
    )
  if (!range)
    lines.push('Completeness: a selection proves that these receipts exist, not that there are no others.')
  else if (range.start > 0 || range.end < size)
    lines.push(
      `The entries that are not in the pack: the ledger has ${size}. Ask for a pack of the whole ledger.`,
    )
  if (!range || range.start > 0 || range.end < size)
    lines.push(
      'That all keys are still active: an entry that is not in the pack can retire a key, even the key that signed the checkpoint.',
    )
  if (witnesses.length === 0) {
    lines.push('That everyone sees this history: no trusted witness cosigned the checkpoint.')
    if (continues === undefined && level !== 'integrity only')
      lines.push(
        'That earlier history was not rewritten: your trust file holds no earlier checkpoint. Add the checkpoint of this pack to it.',
      )
  }
  if (open > 0)
    lines.push(`The outcome of ${some(open, 'allowed call', 'allowed calls')}: the pack contains no effect.`)
  if (unknown > 0)
    lines.push(`The outcome of ${some(unknown, 'call', 'calls')}: the effect is recorded as UNKNOWN.`)
  if (unseen.references > 0)
    lines.push(
      `The earlier receipts behind ${some(unseen.references, 'reference', 'references')}: they are not in the pack.`,
    )
  if (unseen.policies > 0)
    lines.push(
      `The active policy of ${some(unseen.policies, 'decision', 'decisions')}: its activation is not in the range.`,
    )
  if (policiesMissing > 0)
    lines.push(`The text of ${some(policiesMissing, 'policy', 'policies')}: it is not in the pack.`)
  lines.push(
    'That sessions are complete and freezes were obeyed: only the gateway checks this.',
    'The times: each one comes from the clock of the gateway that wrote the receipt.',
    'That tools did what they reported, and that no call bypassed the gateway.',
  )
  return lines
}

function some(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Formats seconds since 1970 as a UTC timestamp. */
function isoSeconds(seconds: number): string {
  // A witness can state any number; `Date` ends in the year 275760.
  return seconds <= 8_640_000_000_000
    ? new Date(seconds * 1000).toISOString().replace('.000', '')
    : `${seconds} s`
}
