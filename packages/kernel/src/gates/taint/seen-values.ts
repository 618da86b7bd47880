// What a session hears: values and words of texts, by where they came from.

import type { Intent } from '../../road/capture.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { asksForAction } from '../../text/asking.ts'
import { labelsOfValues } from '../../text/labelled.ts'
import { sortedLabels } from '../../text/labels.ts'
import { phrasesIn } from '../../text/phrases.ts'
import { returnedIn } from '../../text/returned.ts'
import type { Value } from '../../text/scan.ts'
import { settingsIn, type Setting } from '../../text/setting.ts'
import { valuesIn } from '../../text/values.ts'
import { type ReadText, readText } from '../texts.ts'
import type { ThreatFinding } from '../threat/finding.ts'
import { passagesAround } from '../threat/passage.ts'
import { isVoiced, namesIn } from './named.ts'
import { lookUp, type SeenValues } from './provenance.ts'
import type { Origin } from './remembered.ts'

export function readUntrusted({ sources }: Intent): readonly ReadText[] {
  return sources.flatMap(({ source_channel, text }) =>
    source_channel === 'TOOL_OUTPUT' ? [readText('', text)] : [],
  )
}

/**
 * What came with the call, in its order. What the user is said to have said is the caller's claim: it makes a value the
 * user's only if no tool has named it before.
 */
export function seenWith({ sources, door }: Intent, snapshot: Snapshot): readonly SeenValues[] {
  if (sources.length === 0) return []
  const untrusted = [...snapshot.untrusted()]
  const page = door === 'browser' ? ['page'] : []
  // The first words of a session are its task. What comes later, or behind them, is the caller's word alone.
  let isFirst = snapshot.data !== undefined && !isVoiced(snapshot.data.value)
  return sources.flatMap(({ source_channel, text }) => {
    if (source_channel === 'USER') {
      const names = isFirst
        ? [{ origin: 'said', labels: [], values: namesIn(text), words: true } as const]
        : []
      isFirst = false
      return [...seenFromUser(text), ...names]
    }
    const read = untrusted.shift()
    return read ? seenIn(read, page) : []
  })
}

function seenFromUser(text: string): readonly SeenValues[] {
  return [
    { origin: 'said', labels: [], values: valuesIn(text) },
    { origin: 'said', labels: [], values: phrasesIn(text), words: true },
  ]
}

/** What a session remembers of an answer that nobody could look into: what the tool is declared to return. */
export function seenUnread(returns: readonly string[]): readonly SeenValues[] {
  return returns.length === 0 ? [] : [{ origin: 'output', labels: returns, values: [] }]
}

/** What a session remembers of an untrusted text: its values by how they stand in it, and the words of its flagged passages. */
export function seenIn(text: ReadText, labels: readonly string[]): readonly SeenValues[] {
  const passages = passagesAround(text.text, text.findings.filter(isHard))
  const carries = sortedLabels([...labels, ...text.marks.map(({ label }) => label)])
  // The session has read such data, whichever value it is.
  const heard: SeenValues[] = [{ origin: 'output', labels: carries, values: [], cut: text.cut }]
  heard.push(...valuesSeen(text, labels, carries, passages))
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
function valuesSeen(
  text: ReadText,
  declared: readonly string[],
  carries: readonly string[],
  passages: readonly Span[],
): readonly SeenValues[] {
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
export function seenInQuestion(text: ReadText): readonly SeenValues[] {
  return seenIn(text, [])
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

const ORIGINS: Readonly<Record<Setting, Origin>> = {
  plain: 'output',
  prose: 'prose',
  ordered: 'ordered',
}

/** Whether a finding makes what stands in it suspect: it speaks to the agent, and not only in passing. */
export function isHard({ class: kind, severity }: ThreatFinding): boolean {
  return severity !== 'low' && kind !== 'secret' && kind !== 'command'
}

export interface Span {
  readonly start: number
  readonly end: number
}

function overlap(a: Span, b: Span): boolean {
  return a.start < b.end && b.start < a.end
}

/** Whether a text holds a value that untrusted text named first. */
export function relays({ values, findings }: ReadText, snapshot: Snapshot): boolean {
  const provenance = findings.length > 0 ? snapshot.provenance() : undefined
  if (!provenance) return false
  return values.some((value) => !['said', 'unknown'].includes(lookUp(provenance, value).origin))
}
