// Where data comes from, in the model: what a session remembers, what flows, what is found. Shares nothing but types with
// the kernel.

import type { Origin } from '../../src/gates/taint/remembered.ts'
import { isVoiced, namesOf } from './model-call-target.ts'
import type { ModelPolicy, ModelTool } from './model-policy.ts'
import type { TextFacts } from './model-texts.ts'
import type { ModelCall, PlacedText } from './model-world.ts'

/** What is remembered of a session's data. */
export interface Data {
  readonly values: ReadonlyMap<string, { readonly origin: Origin; readonly labels: readonly string[] }>
  readonly labels: readonly string[]
  readonly broken: boolean
}
export const NO_DATA: Data = { values: new Map(), labels: [], broken: false }

/** Something that was said or came back. */
export interface Utterance {
  readonly origin: Origin
  readonly labels: readonly string[]
  readonly values: readonly string[]
}

/** Each once, in order. */
export function sorted(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort()
}

/** What becomes of an origin that is not `said` once the value is seen again: in which row and column both stand. */
const AGAIN: Readonly<Record<Named, Readonly<Record<Named, Origin>>>> = {
  output: { output: 'output', prose: 'output', ordered: 'output', flagged: 'ordered' },
  prose: { output: 'output', prose: 'prose', ordered: 'prose', flagged: 'ordered' },
  ordered: { output: 'output', prose: 'prose', ordered: 'ordered', flagged: 'ordered' },
  flagged: { output: 'ordered', prose: 'ordered', ordered: 'ordered', flagged: 'flagged' },
}
type Named = Exclude<Origin, 'said'>

/** What is said first stays said, and saying changes nothing of what tools have named. */
export function hear(data: Data, { origin, labels, values }: Utterance): Data {
  const next = new Map(data.values)
  for (const value of values) {
    const known = next.get(value) ?? { origin, labels: [] }
    const stays = known.origin === 'said' || origin === 'said'
    next.set(value, {
      origin: stays ? known.origin : AGAIN[known.origin][origin],
      labels: sorted([...known.labels, ...labels]),
    })
  }
  return { ...data, values: next, labels: sorted([...data.labels, ...labels]) }
}

/** Words as they are remembered: each, its root, and each with the next one. */
function phrases(words: readonly string[]): readonly string[] {
  const pairs = words.slice(1).map((word, i) => `${words[i]} ${word}`)
  return [...words, ...words.map((word) => `${word.slice(0, 5)}~`), ...pairs].map((each) => `words ${each}`)
}

/** Whether two of them say the same. */
export function same(a: Data, b: Data): boolean {
  const written = ({ values, labels }: Data): string => JSON.stringify([[...values], labels])
  return written(a) === written(b)
}

const ORIGINS = { plain: 'output', prose: 'prose', ordered: 'ordered' } as const

/** What is heard in a text that nobody vouches for. */
export function utterances(facts: TextFacts, more: readonly string[]): Utterance[] {
  const { values, stand, passage, labels: shapes } = facts
  const labels = [...more, ...shapes]
  const each = values.map((value, i): Utterance => {
    const own = [...more, ...(facts.carried[i] ?? [])]
    if (passage?.holds.includes(i)) return { origin: 'flagged', labels: [...own, 'flagged'], values: [value] }
    return { origin: ORIGINS[stand[i] ?? 'plain'], labels: own, values: [value] }
  })
  // Labels are heard without a value as well; and what is flagged, last.
  const all: Utterance[] = [
    { origin: 'output', labels, values: [] },
    ...each.filter(({ origin }) => origin !== 'flagged'),
    ...each.filter(({ origin }) => origin === 'flagged'),
  ]
  if (!passage) return [...all, { origin: 'output', labels: [], values: fieldsOf(facts) }]
  return [...all, { origin: 'flagged', labels: [...labels, 'flagged'], values: phrases(passage.words) }]
}

/** What is heard in a server's question: running text at best, and no field. */
export function questions(facts: TextFacts): Utterance[] {
  const fields = new Set(fieldsOf(facts))
  return utterances(facts, []).map((each) => ({
    ...each,
    origin: each.origin === 'output' ? 'prose' : each.origin,
    values: each.values.filter((value) => !fields.has(value)),
  }))
}

/** What a text is remembered by that a tool returned by itself: here all texts are one field, if they are short. */
export function fieldsOf({ text }: Pick<TextFacts, 'text'>): readonly string[] {
  const isField = text.length <= 48 && /[a-z_]/i.test(text) && !text.includes('@')
  return isField ? [fieldName(text.replace(/^\w+: /, ''))] : []
}

/** As it is remembered: without marks around it. */
export function fieldName(text: string): string {
  return `field ${text.replace(/^[("[{]+|[)"\]},]+$/g, '').toLowerCase()}`
}

/** What a call brings along, heard in its order; a page's text is a page's. */
export function hearSources(data: Data, { sources, door }: ModelCall): Data {
  const page = door === 'browser' ? ['page'] : []
  // Only the first words of a session name anything.
  const first = isVoiced(data) ? -1 : sources.findIndex(({ said }) => said)
  const heard = sources.flatMap(({ said, facts }, i): Utterance[] => {
    if (!said) return utterances(facts, page)
    const names = i === first ? namesOf(facts) : []
    return [{ origin: 'said', labels: [], values: [...facts.values, ...phrases(facts.words), ...names] }]
  })
  return heard.reduce(hear, data)
}

/** Whether the policy has a use for where data comes from, and for what stands in texts. */
export function remembers({ taint, threat, compliance }: ModelPolicy): boolean {
  return taint !== undefined || threat !== undefined || compliance !== undefined
}

/** Whether the policy has answers looked through. */
function looksInto({ taint, threat, compliance }: ModelPolicy): boolean {
  return taint !== undefined || threat !== undefined || compliance !== undefined
}

/** What flows in a call. */
export interface Flow {
  readonly labels: readonly string[]
  /** Whether there is a value of each kind, and words of a passage. */
  readonly from: Readonly<Record<'output' | 'ordered' | 'flagged' | 'spelled', boolean>>
}

/** `data` with what the call brings along; undefined where nothing is remembered. */
export function flowOf(
  call: ModelCall,
  policy: ModelPolicy,
  tool: ModelTool | undefined,
  data: Data | undefined,
): Flow {
  const texts = remembers(policy) ? call.texts : []
  const seen = (value: string) => data?.values.get(value)
  // What was said first is the speaker's own, whatever output repeats it.
  const carried = (value: string) => (seen(value)?.origin === 'said' ? [] : (seen(value)?.labels ?? []))
  const takes = tool?.takes.filter(({ path }) => path === '*' || call.members.includes(path)) ?? []
  const labels = sorted([
    ...texts.flatMap(({ facts }) => facts.labels),
    ...takes.flatMap((each) => each.labels),
    ...texts.flatMap(({ facts }) => facts.values.flatMap(carried)),
    ...(policy.taint?.follow === 'session' ? (data?.labels ?? []) : []),
  ])
  const atSink = ({ path }: PlacedText): boolean =>
    !tool || tool.sinks.length === 0 || tool.sinks.includes(path)
  const holding = (...origins: readonly Origin[]): readonly PlacedText[] =>
    texts.filter(({ facts }) => facts.values.some((value) => origins.includes(seen(value)?.origin ?? 'said')))
  // Numbers of records are spoken of everywhere.
  const told = texts.filter(({ facts }) =>
    facts.values.some((value) => seen(value)?.origin === 'prose' && !value.startsWith('ord-')),
  )
  const from = {
    output: holding('output', 'prose', 'ordered', 'flagged').some(atSink),
    ordered: holding('ordered').length > 0 || told.some(atSink),
    flagged: holding('flagged').length > 0,
    spelled: false,
  }
  const own = texts
    .filter(atSink)
    .some(({ facts }) => facts.values.some((value) => seen(value)?.origin !== 'flagged'))
  const spelled = texts.some((text) => isSpelled(text.facts, atSink(text), data))
  return { labels, from: { ...from, spelled: spelled && !own } }
}

/** Whether a passage has all the words of a text in their order, and what was said has not. */
function isSpelled({ words }: TextFacts, isSink: boolean, data: Data | undefined): boolean {
  if (!data || words.length > 16 || words.length < (isSink ? 1 : 3)) return false
  if (words.length === 1 && words.join().length < 4) return false
  const pieces = phrases(words).filter((each) => !each.endsWith('~'))
  const origins = pieces.map((piece) => data.values.get(piece)?.origin)
  return origins.every((each) => each === 'flagged' || each === 'said') && origins.includes('flagged')
}

/** What was found in an answer, and how much of it is handed on. */
export interface Looked {
  readonly labels: readonly string[]
  readonly findings: readonly string[]
  readonly heard: readonly Utterance[]
  readonly delivery: 'full' | 'redacted' | 'withheld'
}

/** Looks through an answer of a tool that says of all its answers that they carry `returns`. */
export function lookThrough(
  texts: readonly TextFacts[],
  policy: ModelPolicy,
  returns: readonly string[],
): Looked {
  if (!looksInto(policy)) return { labels: [], findings: [], heard: [], delivery: 'full' }
  const heard = texts.flatMap((facts) => utterances(facts, returns))
  const findings = texts.flatMap((facts) => facts.findings)
  const attacks = findings.filter((each) => each.class !== 'secret')
  const byLabel = policy.taint?.results ?? {}
  const done = [
    ...attacks.map(({ severity }) => policy.threat?.results[severity]),
    ...attacks
      .filter((each) => each.class !== 'command' && each.severity !== 'low')
      .map(() => byLabel.flagged),
    ...texts.flatMap(({ labels }) => labels.map((label) => byLabel[label])),
  ]
  const withheld = done.includes('withhold') || returns.some((label) => byLabel[label] !== undefined)
  return {
    labels: sorted([...returns, ...heard.flatMap(({ labels }) => labels)]),
    findings: sorted(findings.map(({ code }) => code)),
    heard,
    delivery: withheld ? 'withheld' : done.includes('redact') ? 'redacted' : 'full',
  }
}
