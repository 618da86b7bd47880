// Judges the texts of a page: what is hidden, what directs the reader, and how much risk that is.

import { scanText, type ThreatFinding } from '@tollgate/kernel/detection'
import type { FindingCode } from './codes.ts'
import { awayLinesOf, streamOf, type Aside, type Piece, type Stream } from './pieces.ts'
import type { Finding, Place } from './reading.ts'

/** Everything that was read from a page. */
interface Material {
  readonly pieces: readonly Piece[]
  readonly asides: readonly Aside[]
  /** Findings that are not about text. */
  readonly notes: readonly Note[]
  /** Texts in the order that a person sees, where it differs from that of the document. */
  readonly reordered: readonly Aside[]
}

/** A finding at one place. */
export interface Note {
  readonly code: FindingCode
  readonly risk: number
  readonly place: () => Place
}

/** The judgement of a page. */
interface Assessment {
  readonly risk: number
  readonly findings: readonly Finding[]
  readonly projection: string
}

/** Judges a page. */
export function assess({ pieces, asides, notes, reordered }: Material): Assessment {
  const found = createFindings()
  for (const { code, risk, place } of notes) found.add(code, risk, [place])
  for (const piece of pieces)
    if (piece.away !== undefined && isWord(piece.text)) found.add(piece.away, 0, [piece.place])
  const visible = streamOf(pieces, ({ away }) => away === undefined, true)
  readVisible(visible, found)
  if (pieces.some(({ away, shown }) => away !== undefined || shown !== undefined)) {
    readAll(
      streamOf(pieces, () => true),
      found,
    )
    for (const line of awayLinesOf(pieces)) readAll(line, found)
  }
  readAsides(asides, 'ATTRIBUTE_INSTRUCTION', found, visible.text)
  readAsides(reordered, 'REORDERED_INSTRUCTION', found)
  const findings = found.list()
  return { risk: riskOf(findings), findings, projection: tidy(visible.text) }
}

/** One more reason adds a little to the greatest one. */
function riskOf(findings: readonly Finding[]): number {
  const risks = findings.map(({ risk }) => risk).sort((a, b) => b - a)
  const [first = 0, ...rest] = risks
  if (first === 0) return 0
  return Math.min(100, first + Math.min(5, rest.filter((risk) => risk >= 40).length * 2))
}

/** Whether a text can say something: it has a letter or a digit. */
function isWord(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text)
}

function tidy(text: string): string {
  return text.replace(/[ \t]*\n\s*/g, '\n').trim()
}

type Findings = ReturnType<typeof createFindings>

const MOST_PLACES = 4

function createFindings() {
  const all = new Map<FindingCode, { risk: number; count: number; places: Place[] }>()
  return {
    add(code: FindingCode, risk: number, places: readonly (() => Place)[]): void {
      const entry = all.get(code) ?? { risk: 0, count: 0, places: [] }
      all.set(code, entry)
      entry.count++
      entry.risk = Math.max(entry.risk, risk)
      for (const place of places) {
        if (entry.places.length >= MOST_PLACES) return
        const made = place()
        if (!entry.places.some(({ path }) => path === made.path)) entry.places.push(made)
      }
    },
    list(): readonly Finding[] {
      return [...all]
        .map(([code, { risk, count, places }]) => ({ code, risk, count, places }))
        .sort((a, b) => b.risk - a.risk || (a.code < b.code ? -1 : 1))
    },
  }
}

/** Risk by certainty: of hidden text, of text that may be hidden, of visible text. Visible text alone stays below usual limits. */
const HIDDEN_RISK = { high: 95, medium: 85, low: 35 }
const UNSURE_RISK = { high: 75, medium: 55, low: 10 }
const VISIBLE_RISK = { high: 60, medium: 45, low: 0 }
const CODED_RISK = { high: 90, medium: 80, low: 20 }
const CHARACTER_RISK = { high: 90, medium: 40, low: 0 }

function readVisible(stream: Stream, found: Findings): void {
  const findings = scanText(stream.text)
  for (const each of findings) {
    const kind = kindOf(each, findings)
    const full = kind && RISKS[kind][each.severity]
    const risk = full && isWeak(each) ? Math.min(full, WEAK_RISK.visible) : full
    if (kind && risk) found.add(kind, risk, stream.at(each.start, each.end).places)
    if (each.code === 'TOO_LONG') found.add('TRUNCATED', 0, [])
  }
}

const RISKS = {
  VISIBLE_INSTRUCTION: VISIBLE_RISK,
  ENCODED_INSTRUCTION: CODED_RISK,
  INVISIBLE_CHARACTERS: CHARACTER_RISK,
} as const

/** Cues in ordinary sentences, such as “Please enable JavaScript”, reach this finding. Alone it is not enough to stop an action. */
function isWeak({ code, severity }: ThreatFinding): boolean {
  return code === 'DEMAND_IN_TEXT' && severity !== 'high'
}

const WEAK_RISK = { hidden: 60, unrendered: 25, visible: 25 }

const CODED = new Set(['ENCODED_PAYLOAD', 'DISGUISED_TEXT'])
const CHARACTERS = new Set([
  'TAG_CHARACTERS',
  'SELECTOR_STREAM',
  'ZERO_WIDTH',
  'BIDI_CONTROL',
  'STACKED_MARKS',
])

function kindOf(each: ThreatFinding, all: readonly ThreatFinding[]): keyof typeof RISKS | undefined {
  if (CODED.has(each.code)) return 'ENCODED_INSTRUCTION'
  if (CHARACTERS.has(each.code)) return 'INVISIBLE_CHARACTERS'
  if (!directs(each)) return undefined
  // An instruction that was read from invisible characters is not visible.
  const inside = all.some(
    (other) => INVISIBLE.has(other.code) && other.start <= each.start && other.end >= each.end,
  )
  return inside ? 'ENCODED_INSTRUCTION' : 'VISIBLE_INSTRUCTION'
}

const INVISIBLE = new Set(['TAG_CHARACTERS', 'SELECTOR_STREAM'])

function directs({ class: kind }: ThreatFinding): boolean {
  return kind === 'instruction' || kind === 'spoofing' || kind === 'exfiltration'
}

/** The part of a finding that must be out of sight for the finding to be about hidden text. */
const HIDDEN_PART = 0.2

function readAll(stream: Stream, found: Findings): void {
  for (const each of scanText(stream.text)) {
    if (!directs(each) && !CODED.has(each.code) && !CHARACTERS.has(each.code)) continue
    const { places, away, unsure, unrendered } = stream.at(each.start, each.end)
    if (away < HIDDEN_PART) continue
    const isUnknown = unsure >= away / 2
    const full = (isUnknown ? UNSURE_RISK : HIDDEN_RISK)[each.severity]
    const risk = isWeak(each)
      ? Math.min(full, unrendered > 0.5 ? WEAK_RISK.unrendered : WEAK_RISK.hidden)
      : full
    found.add(isUnknown ? 'UNKNOWN_INSTRUCTION' : 'HIDDEN_INSTRUCTION', risk, places)
  }
}

/** The longest text of asides that is scanned at once. */
const BATCH = 1 << 19

function readAsides(asides: readonly Aside[], code: FindingCode, found: Findings, visible = ''): void {
  for (let from = 0; from < asides.length;) {
    const starts: number[] = []
    let text = ''
    let to = from
    for (; to < asides.length && (to === from || text.length < BATCH); to++) {
      starts.push(text.length)
      text += `${asides[to]?.text ?? ''}\n\n`
    }
    for (const each of scanText(text)) {
      if (!directs(each) && !CODED.has(each.code) && !INVISIBLE.has(each.code)) continue
      const aside = asides[from + starts.findLastIndex((start) => start <= each.start)]
      // A label that repeats visible text is judged there.
      if (!aside || visible.includes(aside.text.trim())) continue
      const full = HIDDEN_RISK[each.severity]
      found.add(code, isWeak(each) ? Math.min(full, WEAK_RISK.hidden) : full, [aside.place])
    }
    from = to
  }
}
