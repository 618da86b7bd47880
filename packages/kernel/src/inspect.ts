// What comes back from a tool: read, labelled, and cut or held back as the policy says, before any agent sees it.

import type { Effect, Json } from '@tollgate/evidence'
import { codesOf, readTexts, sortedLabels, type ReadText } from './content.ts'
import type { Policy } from './policy/parse.ts'
import { remembersData } from './policy/uses.ts'
import { asksForAction } from './taint/asking.ts'
import { labelsOfValues } from './taint/labelled.ts'
import { phrasesIn } from './taint/phrases.ts'
import type { Heard, Origin } from './taint/provenance.ts'
import { returnedIn } from './taint/returned.ts'
import { settingsIn, type Setting } from './taint/setting.ts'
import { valuesIn, type Value } from './taint/values.ts'
import type { ThreatFinding } from './threat/finding.ts'
import { passagesAround } from './threat/passage.ts'
import { rewrite } from './walk.ts'

/** What was found in an answer, and what may be handed on of it. */
export interface Inspection {
  /** Labels that it carries, each once, in order. */
  readonly labels: readonly string[]
  /** Codes of what the threat scanner found, each once, in order. */
  readonly findings: readonly string[]
  /** What the session is to remember of it. */
  readonly heard: readonly Heard[]
  readonly delivery: Effect['delivery']
  /** What may be handed on; undefined if it is withheld. */
  readonly content: Json | undefined
}

/** What the policy has an answer looked through for. */
export interface Inspecting {
  readonly policy: Policy
  /** Labels that the tool's answers carry by declaration. */
  readonly returns: readonly string[]
}

/** Inspects an answer. Where the policy has no use for what is in it, it is handed on as it is. */
export function inspect(content: Json, { policy, returns }: Inspecting): Inspection {
  if (!remembersData(policy)) return { labels: [], findings: [], heard: [], delivery: 'full', content }
  const texts = readTexts(content, 'skip')
  const heard = texts.flatMap((text) => heardIn(text, returns))
  const labels = sortedLabels([...returns, ...heard.flatMap((each) => each.labels)])
  const findings = codesOf(texts.flatMap((text) => text.findings))
  return { labels, findings, heard, ...deliver(content, texts, { policy, returns }) }
}

/** Nothing is known of an answer that could not be inspected, so nobody gets it. */
export const UNINSPECTED: Inspection = {
  labels: ['flagged'],
  findings: ['INSPECTION_FAILED'],
  heard: [{ origin: 'output', labels: ['flagged'], values: [] }],
  delivery: 'withheld',
  content: undefined,
}

/** What a session remembers of an answer that nobody could look into: what the tool is declared to return. */
export function heardBlindly(returns: readonly string[]): readonly Heard[] {
  return returns.length === 0 ? [] : [{ origin: 'output', labels: returns, values: [] }]
}

/** What a session remembers of an untrusted text: its values by how they stand in it, and the words of its flagged passages. */
export function heardIn(text: ReadText, labels: readonly string[]): readonly Heard[] {
  const passages = passagesAround(text.text, text.findings.filter(isHard))
  const carries = sortedLabels([...labels, ...text.marks.map(({ label }) => label)])
  // The session has read such data, whichever value it is.
  const heard: Heard[] = [{ origin: 'output', labels: carries, values: [], cut: text.cut }]
  heard.push(...valuesHeard(text, labels, carries, passages))
  const hidden = hiddenIn(text)
  if (hidden.length > 0) heard.push({ origin: 'ordered', labels: carries, values: hidden })
  const fields = returnedIn(text.text).filter((each) => !passages.some((passage) => overlap(passage, each)))
  if (fields.length > 0)
    heard.push({ origin: 'output', labels: [], values: fields.map(({ field }) => field), words: true })
  if (passages.length === 0) return heard
  const flagged = sortedLabels([...carries, 'flagged'])
  const words = passages
    .slice(0, MOST_SPELLED)
    .flatMap(({ start, end }) => phrasesIn(text.text.slice(start, end)))
  return [
    ...heard,
    { origin: 'flagged', labels: flagged, values: [] },
    ...(words.length > 0
      ? [{ origin: 'flagged', labels: flagged, values: words, words: true } as const]
      : []),
  ]
}

const BY_ORIGIN: readonly Origin[] = ['output', 'prose', 'ordered', 'flagged']

/** The values of a text, those of one origin and with the same labels together. */
function valuesHeard(
  text: ReadText,
  declared: readonly string[],
  carries: readonly string[],
  passages: readonly Span[],
): readonly Heard[] {
  const settings = settingsIn(text.text, text.values)
  // Where not all that is in a text was listed, what carries a label may be any of its values.
  const shapes = text.cut ? undefined : labelsOfValues(text.text, text.marks, text.values)
  const groups = new Map<string, { origin: Origin; labels: readonly string[]; values: Value[] }>()
  text.values.forEach((value, i) => {
    const isFlagged = passages.some((passage) => overlap(passage, value))
    const origin = isFlagged ? 'flagged' : ORIGINS[settings[i] ?? 'prose']
    const own = shapes ? [...declared, ...(shapes[i] ?? [])] : carries
    const labels = sortedLabels(isFlagged ? [...own, 'flagged'] : own)
    const key = `${origin}\n${labels.join('\n')}`
    const group = groups.get(key) ?? { origin, labels, values: [] }
    group.values.push(value)
    groups.set(key, group)
  })
  return [...groups.values()].sort((a, b) => BY_ORIGIN.indexOf(a.origin) - BY_ORIGIN.indexOf(b.origin))
}

/**
 * What a session remembers of a text that a server wrote into its question. It is running text at best: nothing in it was looked
 * up, so it is never a field by itself.
 */
export function heardInQuestion(text: ReadText): readonly Heard[] {
  return heardIn(text, [])
    .filter(({ origin, words = false }) => !(words && origin === 'output'))
    .map((heard) => (heard.origin === 'output' ? { ...heard, origin: 'prose' } : heard))
}

/** The words of so many passages are kept. */
const MOST_SPELLED = 8

/** Values that only show once a text is decoded, if it then asks for something: nobody hides what is only to be known. */
function hiddenIn({ hidden }: ReadText): readonly Value[] {
  return hidden.flatMap((text) => {
    const values = valuesIn(text)
    return values.length > 0 && asksForAction(text) ? values : []
  })
}

const ORIGINS: Readonly<Record<Setting, Origin>> = { plain: 'output', prose: 'prose', ordered: 'ordered' }

/** Whether a finding makes what stands in it suspect: it speaks to the agent, and not only in passing. */
export function isHard({ class: kind, severity }: ThreatFinding): boolean {
  return severity !== 'low' && kind !== 'secret' && kind !== 'command'
}

interface Span {
  readonly start: number
  readonly end: number
}

function overlap(a: Span, b: Span): boolean {
  return a.start < b.end && b.start < a.end
}

type Delivered = Pick<Inspection, 'delivery' | 'content'>
const WITHHELD: Delivered = { delivery: 'withheld', content: undefined }

function deliver(content: Json, texts: readonly ReadText[], { policy, returns }: Inspecting): Delivered {
  const byLabel = policy.gates.taint?.results
  // A label by declaration says nothing of where in the answer: it can only be held back as a whole.
  if (returns.some((label) => byLabel?.has(label))) return WITHHELD
  // Where there was too much to list, what is to be cut may stand behind it.
  if (cutsAnything(policy) && texts.some(({ cut }) => cut)) return WITHHELD
  const all = texts.map((text) => cutsIn(text, policy))
  if (all.some((cuts) => cuts.some(({ action }) => action === 'withhold'))) return WITHHELD
  if (all.every((cuts) => cuts.length === 0)) return { delivery: 'full', content }
  let next = 0
  return { delivery: 'redacted', content: rewrite(content, (text) => without(text, all[next++] ?? [])) }
}

function cutsAnything({ gates: { threat, taint } }: Policy): boolean {
  const byThreat = Object.values(threat?.results ?? {}).some((action) => action !== 'label')
  return byThreat || (taint !== undefined && taint.results.size > 0)
}

/** A part of a text that is not handed on, and why. */
interface Cut extends Span {
  readonly why: string
  readonly action: 'redact' | 'withhold'
}

function cutsIn({ findings, marks }: ReadText, { gates: { threat, taint } }: Policy): readonly Cut[] {
  const cuts: Cut[] = []
  for (const { class: kind, code, severity, start, end } of findings) {
    // A secret is a class of data, not an attack: its label says what becomes of it.
    const action = kind === 'secret' ? 'label' : (threat?.results[severity] ?? 'label')
    if (action !== 'label') cuts.push({ start, end, why: code, action })
  }
  const flagged = taint?.results.get('flagged')
  if (flagged) {
    for (const { start, end } of findings.filter(isHard))
      cuts.push({ start, end, why: 'flagged', action: flagged })
  }
  for (const { label, start, end } of marks) {
    const action = taint?.results.get(label)
    if (action) cuts.push({ start, end, why: label, action })
  }
  return cuts.sort((a, b) => a.start - b.start || b.end - a.end)
}

/** A text without some of its parts; each, or those that overlap, leaves a note of why. */
function without(text: string, cuts: readonly Cut[]): string {
  let kept = ''
  let from = 0
  for (const { start, end, why } of cuts) {
    if (end <= from) continue
    if (start >= from) kept += `${text.slice(from, start)}[removed by Tollgate: ${why}]`
    from = end
  }
  return kept + text.slice(from)
}
