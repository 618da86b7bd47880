// Collects the values and words of texts, with their origins, for the provenance of a session.

import { readHttpUrl } from '../../destinations/url.ts'
import type { Intent } from '../../road/capture.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { asksForAction } from '../../text/asking.ts'
import { labelsOfValues } from '../../text/labelled.ts'
import { pageLabel, sortedLabels } from '../../text/labels.ts'
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
 * The values that arrive with a call, in order. User messages are claims of the caller: they make a value `said` only if no tool
 * introduced it before.
 */
export function seenWith({ sources, door }: Intent, snapshot: Snapshot): readonly SeenValues[] {
  if (sources.length === 0) return []
  const untrusted = [...snapshot.untrusted()]
  const place = readHttpUrl(snapshot.observation?.url ?? '')
  const page = door === 'browser' ? ['page', ...(place ? [pageLabel(place)] : [])] : []
  // The first user message of a session is its task. Later messages are only claims of the caller.
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

/** The labels of a result that was not inspected: those that the policy declares for the tool. */
export function seenUnread(returns: readonly string[]): readonly SeenValues[] {
  return returns.length === 0 ? [] : [{ origin: 'output', labels: returns, values: [] }]
}

/** The values of an untrusted text by origin, and the words of its flagged passages. */
export function seenIn(text: ReadText, labels: readonly string[]): readonly SeenValues[] {
  const passages = passagesAround(text.text, text.findings.filter(isHard))
  const carries = sortedLabels([...labels, ...text.marks.map(({ label }) => label)])
  // An entry without values gives the labels to the session.
  const seen: SeenValues[] = [{ origin: 'output', labels: carries, values: [], cut: text.cut }]
  seen.push(...valuesSeen(text, labels, carries, passages))
  const hidden = hiddenIn(text)
  if (hidden.length > 0) seen.push({ origin: 'ordered', labels: carries, values: hidden })
  const fields = returnedIn(text.text).filter((each) => !passages.some((passage) => overlap(passage, each)))
  if (fields.length > 0)
    seen.push({ origin: 'output', labels: [], values: fields.map(({ field }) => field), words: true })
  if (passages.length === 0) return seen
  const flagged = sortedLabels([...carries, 'flagged'])
  const words = passages
    .slice(0, MAX_SPELLED)
    .flatMap(({ start, end }) => phrasesIn(text.text.slice(start, end)))
  return [
    ...seen,
    { origin: 'flagged', labels: flagged, values: [] },
    ...(words.length > 0
      ? [{ origin: 'flagged', labels: flagged, values: words, words: true } as const]
      : []),
  ]
}

const BY_ORIGIN: readonly Origin[] = ['output', 'prose', 'ordered', 'flagged']

/** The values of a text, grouped by origin and labels. */
function valuesSeen(
  text: ReadText,
  declared: readonly string[],
  carries: readonly string[],
  passages: readonly LabelledSpan[],
): readonly SeenValues[] {
  const settings = settingsIn(text.text, text.values)
  // If a list was cut, every value gets all labels of the text.
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

/** The values of a text in a server's question. Nothing in it was looked up, so its best origin is `prose` and it has no fields. */
export function seenInQuestion(text: ReadText): readonly SeenValues[] {
  return seenIn(text, [])
    .filter(({ origin, words = false }) => !(words && origin === 'output'))
    .map((seen) => (seen.origin === 'output' ? { ...seen, origin: 'prose' } : seen))
}

/** The maximum number of flagged passages whose words are kept. */
const MAX_SPELLED = 8

/** The values in decoded texts that ask for something. Mere information is rarely hidden. */
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

/** Whether a finding makes the values of its passage suspect: it addresses the agent and is not of low severity. */
export function isHard({ class: kind, severity }: ThreatFinding): boolean {
  return severity !== 'low' && kind !== 'secret' && kind !== 'command'
}

export interface LabelledSpan {
  readonly start: number
  readonly end: number
}

function overlap(a: LabelledSpan, b: LabelledSpan): boolean {
  return a.start < b.end && b.start < a.end
}

/** Whether a text contains a value that untrusted text introduced. */
export function relays({ values, findings }: ReadText, snapshot: Snapshot): boolean {
  const provenance = findings.length > 0 ? snapshot.provenance() : undefined
  if (!provenance) return false
  return values.some((value) => !['said', 'unknown'].includes(lookUp(provenance, value).origin))
}
