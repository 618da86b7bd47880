// The origins and labels of data in the model. Shares only types with the kernel.

import type { Origin } from '../../src/gates/taint/remembered.ts'
import { isVoiced, namesOf } from './model-call-target.ts'
import type { ModelPolicy, ModelTool } from './model-policy.ts'
import type { TextFacts } from './model-texts.ts'
import type { ModelCall, PlacedText } from './model-world.ts'

/** The data of a session. */
export interface Data {
  readonly values: ReadonlyMap<string, { readonly origin: Origin; readonly labels: readonly string[] }>
  readonly labels: readonly string[]
  readonly broken: boolean
}
export const NO_DATA: Data = { values: new Map(), labels: [], broken: false }

/** Values that were said or returned. */
export interface SeenData {
  readonly origin: Origin
  readonly labels: readonly string[]
  readonly values: readonly string[]
}

/** Sorted and without duplicates. */
export function sorted(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort()
}

/** The origin of a value that is seen again, by its first and its new origin. */
const AGAIN: Readonly<Record<Named, Readonly<Record<Named, Origin>>>> = {
  output: { output: 'output', prose: 'output', ordered: 'output', flagged: 'ordered' },
  prose: { output: 'output', prose: 'prose', ordered: 'prose', flagged: 'ordered' },
  ordered: { output: 'output', prose: 'prose', ordered: 'ordered', flagged: 'ordered' },
  flagged: { output: 'ordered', prose: 'ordered', ordered: 'ordered', flagged: 'flagged' },
}
type Named = Exclude<Origin, 'said'>

/** Adds values. A value that was said first stays `said`, and saying a tool's value does not change it. */
export function addSeen(data: Data, { origin, labels, values }: SeenData): Data {
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

/** The stored forms of words: each word, its root, and each pair. */
function phrases(words: readonly string[]): readonly string[] {
  const pairs = words.slice(1).map((word, i) => `${words[i]} ${word}`)
  return [...words, ...words.map((word) => `${word.slice(0, 5)}~`), ...pairs].map((each) => `words ${each}`)
}

/** Whether both have the same contents. */
export function same(a: Data, b: Data): boolean {
  const written = ({ values, labels }: Data): string => JSON.stringify([[...values], labels])
  return written(a) === written(b)
}

const ORIGINS = { plain: 'output', prose: 'prose', ordered: 'ordered' } as const

/** The values of an untrusted text. */
export function dataIn(facts: TextFacts, more: readonly string[]): SeenData[] {
  const { values, stand, passage, labels: shapes } = facts
  const labels = [...more, ...shapes]
  const each = values.map((value, i): SeenData => {
    const own = [...more, ...(facts.carried[i] ?? [])]
    if (passage?.holds.includes(i)) return { origin: 'flagged', labels: [...own, 'flagged'], values: [value] }
    return { origin: ORIGINS[stand[i] ?? 'plain'], labels: own, values: [value] }
  })
  // Labels are also added without a value. Flagged values come last.
  const all: SeenData[] = [
    { origin: 'output', labels, values: [] },
    ...each.filter(({ origin }) => origin !== 'flagged'),
    ...each.filter(({ origin }) => origin === 'flagged'),
  ]
  if (!passage) return [...all, { origin: 'output', labels: [], values: fieldsOf(facts) }]
  return [...all, { origin: 'flagged', labels: [...labels, 'flagged'], values: phrases(passage.words) }]
}

/** The values of a server's question: at best running text, and no fields. */
export function dataInQuestion(facts: TextFacts): SeenData[] {
  const fields = new Set(fieldsOf(facts))
  return dataIn(facts, []).map((each) => ({
    ...each,
    origin: each.origin === 'output' ? 'prose' : each.origin,
    values: each.values.filter((value) => !fields.has(value)),
  }))
}

/** The field of a text. In the comparison, every short text is one field. */
export function fieldsOf({ text }: Pick<TextFacts, 'text'>): readonly string[] {
  const isField = text.length <= 48 && /[a-z_]/i.test(text) && !text.includes('@')
  return isField ? [fieldName(text.replace(/^\w+: /, ''))] : []
}

/** The stored form of a field, without surrounding punctuation. */
export function fieldName(text: string): string {
  return `field ${text.replace(/^[("[{]+|[)"\]},]+$/g, '').toLowerCase()}`
}

/** Adds the sources of a call in order. Texts at the browser door get the label `page`. */
export function addSources(data: Data, { sources, door }: ModelCall): Data {
  const page = door === 'browser' ? ['page'] : []
  // Only the first user message of a session names targets.
  const first = isVoiced(data) ? -1 : sources.findIndex(({ said }) => said)
  const seen = sources.flatMap(({ said, facts }, i): SeenData[] => {
    if (!said) return dataIn(facts, page)
    const names = i === first ? namesOf(facts) : []
    return [{ origin: 'said', labels: [], values: [...facts.values, ...phrases(facts.words), ...names] }]
  })
  return seen.reduce(addSeen, data)
}

/** Whether the policy uses the origins and contents of data. */
export function remembers({ taint, threat, compliance }: ModelPolicy): boolean {
  return taint !== undefined || threat !== undefined || compliance !== undefined
}

/** Whether the policy inspects results. */
function inspects({ taint, threat, compliance }: ModelPolicy): boolean {
  return taint !== undefined || threat !== undefined || compliance !== undefined
}

/** The labels and origins of the data in a call. */
export interface Flow {
  readonly labels: readonly string[]
  /** Whether the call has a value of each origin, and words of a flagged passage. */
  readonly from: Readonly<Record<'output' | 'ordered' | 'flagged' | 'spelled', boolean>>
}

/** `data` includes the sources of the call; undefined if the policy keeps no data. */
export function flowOf(
  call: ModelCall,
  policy: ModelPolicy,
  tool: ModelTool | undefined,
  data: Data | undefined,
): Flow {
  const texts = remembers(policy) ? call.texts : []
  const seen = (value: string) => data?.values.get(value)
  // A value that was said first has no labels, even if output repeats it.
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
  // Running text often mentions the numbers of records.
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

/** Whether a flagged passage has all words of a text in order, and the user has not said them. */
function isSpelled({ words }: TextFacts, isSink: boolean, data: Data | undefined): boolean {
  if (!data || words.length > 16 || words.length < (isSink ? 1 : 3)) return false
  if (words.length === 1 && words.join().length < 4) return false
  const pieces = phrases(words).filter((each) => !each.endsWith('~'))
  const origins = pieces.map((piece) => data.values.get(piece)?.origin)
  return origins.every((each) => each === 'flagged' || each === 'said') && origins.includes('flagged')
}

/** The findings in a result, and how it is delivered. */
export interface Inspected {
  readonly labels: readonly string[]
  readonly findings: readonly string[]
  readonly seen: readonly SeenData[]
  readonly delivery: 'full' | 'redacted' | 'withheld'
}

/** Inspects the result of a tool whose results have the declared labels `returns`. */
export function inspect(
  texts: readonly TextFacts[],
  policy: ModelPolicy,
  returns: readonly string[],
): Inspected {
  if (!inspects(policy)) return { labels: [], findings: [], seen: [], delivery: 'full' }
  const seen = texts.flatMap((facts) => dataIn(facts, returns))
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
    labels: sorted([...returns, ...seen.flatMap(({ labels }) => labels)]),
    findings: sorted(findings.map(({ code }) => code)),
    seen,
    delivery: withheld ? 'withheld' : done.includes('redact') ? 'redacted' : 'full',
  }
}
