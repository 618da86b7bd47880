// Where data comes from, in the model: what a session remembers, what flows, what is found. Shares nothing but types with
// the kernel.

import type { Origin } from '../src/taint/remembered.ts'
import type { ModelPolicy, ModelTool } from './model-policy.ts'
import type { Found, TextFacts } from './model-texts.ts'
import type { ModelCall } from './model-world.ts'

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

/** The first sighting decides; only what was flagged is better known once it stands elsewhere in an output. */
export function hear(data: Data, { origin, labels, values }: Utterance): Data {
  const next = new Map(data.values)
  for (const value of values) {
    const known = next.get(value) ?? { origin, labels: [] }
    const cleared = known.origin === 'flagged' && origin === 'output'
    next.set(value, {
      origin: cleared ? 'output' : known.origin,
      labels: sorted([...known.labels, ...labels]),
    })
  }
  return { ...data, values: next, labels: sorted([...data.labels, ...labels]) }
}

/** Whether two of them say the same. */
export function same(a: Data, b: Data): boolean {
  const written = ({ values, labels }: Data): string => JSON.stringify([[...values], labels])
  return written(a) === written(b)
}

/** It speaks to the agent, and not only in passing. */
function isHard({ class: kind, severity }: Found): boolean {
  return severity !== 'low' && kind !== 'secret' && kind !== 'command'
}

/** What is heard in a text that nobody vouches for. */
export function utterances(
  { values, findings, labels: shapes }: TextFacts,
  more: readonly string[],
): Utterance[] {
  const labels = [...more, ...shapes]
  const hard = findings.filter(isHard)
  const inside = values.filter((_, i) => hard.some(({ holds }) => holds.includes(i)))
  const outside = values.filter((_, i) => !hard.some(({ holds }) => holds.includes(i)))
  const plain: Utterance = { origin: 'output', labels, values: outside }
  if (hard.length === 0) return [plain]
  return [plain, { origin: 'flagged', labels: [...labels, 'flagged'], values: inside }]
}

/** What a call brings along, heard in its order; a page's text is a page's. */
export function hearSources(data: Data, { sources, door }: ModelCall): Data {
  const page = door === 'browser' ? ['page'] : []
  const heard = sources.flatMap(({ said, facts }): Utterance[] =>
    said ? [{ origin: 'said', labels: [], values: facts.values }] : utterances(facts, page),
  )
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
  readonly worst: Origin
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
  const holding = (origin: Origin) =>
    texts.filter(({ facts }) => facts.values.some((value) => seen(value)?.origin === origin))
  const sinks = tool?.sinks ?? []
  const flagged = holding('flagged').length > 0
  const output = holding('output').some(({ path }) => sinks.length === 0 || sinks.includes(path))
  return { labels, worst: flagged ? 'flagged' : output ? 'output' : 'said' }
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
