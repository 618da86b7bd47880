// The report of a verification: what was found, what was proved and, as important, what was not.

import type { Unseen } from './audit.ts'
import type { Cosignature } from './checkpoint.ts'
import { FINDINGS, STAGES, type Finding, type FindingCode } from './findings.ts'
import type { Range } from './manifest.ts'

/**
 * How far a pack can be believed. `integrity only`: it is consistent in itself, but nobody vouched for its key.
 * `verified`: it is part of the ledger whose key was pinned. `witnessed`: and enough witnesses have cosigned that head.
 */
export type Level = 'malformed' | 'failed' | 'integrity only' | 'verified' | 'witnessed'

/** Exit codes: 0 verified (or witnessed), 1 proof failure, 2 malformed, 3 integrity only. */
export type ExitCode = 0 | 1 | 2 | 3

/** What the receipts of a pack amount to. */
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

/** The outcome of `verifyPack`. Plain data, the same in Node and in a browser. */
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
  /** The checkpoint itself, if the pack passed under a trust file: to be pinned there, for the next time. */
  readonly checkpoint?: string
  readonly summary: Summary
  readonly findings: readonly Finding[]
  /** Findings beyond the limit, which were only counted. */
  readonly more_findings: number
  readonly proved: readonly string[]
  readonly not_proved: readonly string[]
}

const MAX_FINDINGS = 1000
// Of each code at least so many are named, however many others were found before.
const KEPT_OF_EACH = 10

/** Collects findings up to a limit, and sorts them as the verification looks. */
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
    // Two checks may come upon the same thing.
    const place = `${code} ${where.index ?? ''} ${where.member ?? ''}`
    if (this.#places.has(place)) return
    this.#any = true
    if (severity === 'malformed') this.#malformed = true
    const ofCode = this.#ofCode.get(code) ?? 0
    this.#ofCode.set(code, ofCode + 1)
    if (this.#kept.length >= MAX_FINDINGS && ofCode >= KEPT_OF_EACH) {
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

  /** By stage, then by index: the order in which a reader should look at them. */
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

/** What the statements below are made from. */
export interface Basis {
  readonly level: Level
  readonly ledger: string
  readonly size: number
  readonly range: Range | undefined
  readonly selected: number
  readonly witnesses: readonly Cosignature[]
  /** Size of the earlier head that the ledger was shown to continue. */
  readonly continues: number | undefined
  readonly summary: Summary
  /** Calls of which nobody knows what they did. */
  readonly unknown: number
  readonly unseen: Unseen
  readonly policiesMissing: number
}

/** What a pack that passed every check proves, in sentences. */
export function provedBy(basis: Basis): readonly string[] {
  const { level, ledger, size, range, selected, witnesses, continues } = basis
  if (level === 'failed' || level === 'malformed') return []
  const said: string[] = []
  if (range) {
    said.push(
      `Entries ${range.start} to ${range.end - 1} are complete and in order as the head of ${size} commits to them: none was changed, removed, added or moved.`,
    )
  }
  if (selected > 0)
    said.push(
      `${some(selected, range ? 'further entry is' : 'entry is', range ? 'further entries are' : 'entries are')} in the tree of that head, each by its own proof.`,
    )
  const partial = !range || range.start > 0 || range.end < size || selected > 0
  said.push(
    partial
      ? 'Each receipt is signed by a key that the ledger had added before it and, as far as is shown, not retired.'
      : 'Each receipt is signed by a key that the ledger had in service at that entry.',
  )
  said.push(
    'Links, clocks, causes, decisions with their effects, and policies agree wherever both ends are here.',
  )
  if (level === 'integrity only') return said
  said.push(`The head of ${size} entries is signed by the key you pinned for \`${ledger}\`.`)
  if (continues !== undefined)
    said.push(`The ledger continues the head of ${continues} entries that you had seen.`)
  for (const { name, time } of witnesses) {
    said.push(
      `The witness \`${name}\` had seen this head, and none that contradicts it, at ${isoSeconds(time)}.`,
    )
  }
  return said
}

/** What even a pack that passed does not prove, in sentences. */
export function notProvedBy(basis: Basis): readonly string[] {
  const { level, range, size, witnesses, continues, summary, unknown, unseen, policiesMissing } = basis
  const { open } = summary
  const said: string[] = []
  if (level === 'failed' || level === 'malformed') return ['Anything: see what was found.']
  if (level === 'integrity only') said.push('Who made it: nobody vouched for its key. Give a trust file.')
  if (!range)
    said.push('That these are all: a selection proves that receipts are there, not that no others are.')
  else if (range.start > 0 || range.end < size) {
    said.push(`Anything about the other entries of the ledger, which has ${size}.`)
  }
  if (!range || range.start > 0 || range.end < size) {
    said.push(
      'That no key, the one under the checkpoint included, was retired by an entry that is not shown.',
    )
  }
  if (witnesses.length === 0) {
    said.push(
      "That the holder of the ledger's key shows everybody this history: no witness you named has cosigned.",
    )
    if (continues === undefined && level !== 'integrity only') {
      said.push('That history was not rewritten before you first saw it: you pinned no earlier head.')
    }
  }
  if (open > 0)
    said.push(`What became of ${some(open, 'allowed call', 'allowed calls')}: no effect is recorded here.`)
  if (unknown > 0) said.push(`What ${some(unknown, 'call', 'calls')} did: the effect is recorded as UNKNOWN.`)
  if (unseen.references > 0)
    said.push(
      `That ${some(unseen.references, 'reference leads', 'references lead')} to what they should: those entries are not shown.`,
    )
  if (unseen.policies > 0) {
    const calls = some(unseen.policies, 'decision', 'decisions')
    said.push(`That the policy of ${calls} was the active one: its activation is not in the range.`)
  }
  if (policiesMissing > 0)
    said.push(`What ${some(policiesMissing, 'policy', 'policies')} said: the text is not in the pack.`)
  said.push(
    'That sessions are complete or freezes were obeyed: those rules are the gateway’s, and not checked here.',
  )
  said.push('That the times are right: they are what the writers claimed.')
  said.push('That tools did what they reported, or that nothing went around the gateway.')
  return said
}

function some(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Seconds since 1970 as a moment in UTC. */
function isoSeconds(seconds: number): string {
  // Dates end in the year 275760; a witness may claim anything.
  return seconds <= 8_640_000_000_000
    ? new Date(seconds * 1000).toISOString().replace('.000', '')
    : `${seconds} s`
}
