// The settings of the rung `taint`: which data may not leave, and what values out of tool output may do.

import type { HostPattern } from '../../destinations/pattern.ts'
import type { Place, Reader } from '../read.ts'
import { readHosts } from './hosts.ts'

/** What is done with a value at a sink because of where it came from. */
export type ValueRule = 'allow' | 'ask' | 'deny'

/** The settings of `gates.taint`. */
export interface TaintSettings {
  /** Data with these labels may not leave. */
  readonly deny: readonly string[]
  /** Data with these labels leaves if a person agrees. */
  readonly ask: readonly string[]
  /** Destinations that are not outside. */
  readonly internal: readonly HostPattern[]
  /** `session`: once a session has read such data, everything it sends counts as such. */
  readonly follow: 'values' | 'session'
  readonly provenance: {
    /** For values first seen in tool output. */
    readonly untrusted: ValueRule
    /** For values that stand, wherever they were seen, in running text or where something is asked for. */
    readonly ordered: ValueRule
    /** For values seen only in flagged parts of it. */
    readonly flagged: ValueRule
  }
  /** What is done with results that carry a label. */
  readonly results: ReadonlyMap<string, 'redact' | 'withhold'>
}

/** What a policy has that says `taint: {}`. */
export const DEFAULT_TAINT: TaintSettings = {
  deny: ['secret'],
  ask: [],
  internal: [],
  follow: 'values',
  provenance: { untrusted: 'allow', ordered: 'ask', flagged: 'deny' },
  results: new Map(),
}

const FIELDS = ['deny', 'ask', 'internal', 'follow', 'provenance', 'results'] as const
const RULES = ['allow', 'ask', 'deny'] as const

/** Reads `gates.taint`; what is not said has its default. */
export function readTaint(reader: Reader, place: Place): TaintSettings {
  const { deny, ask, internal, follow, provenance, results } = reader.fields(place, FIELDS) ?? {}
  const denied = deny ? readLabels(reader, deny, '`deny`') : DEFAULT_TAINT.deny
  return {
    deny: denied,
    ask: ask ? readAsked(reader, ask, denied, deny !== undefined) : DEFAULT_TAINT.ask,
    internal: readHosts(reader, internal, 'a host'),
    follow: (follow && reader.word(follow, '`follow`', ['values', 'session'])) ?? DEFAULT_TAINT.follow,
    provenance: readRules(reader, provenance),
    results: results ? readResults(reader, results) : DEFAULT_TAINT.results,
  }
}

const LABEL = /^[a-z][a-z0-9-]{0,31}$/

/** Reads a list of labels, or one label; `what` names the list. What is no label, or here twice, is a mistake. */
export function readLabels(reader: Reader, place: Place, what: string): readonly string[] {
  const labels = new Set<string>()
  for (const { text, place: at } of reader.texts(place, `a label in ${what}`)) {
    if (!checkLabel(reader, at, text)) continue
    if (labels.has(text)) reader.note(at, `\`${text}\` is twice in ${what}; remove one of the two`)
    labels.add(text)
  }
  return [...labels]
}

function checkLabel(reader: Reader, place: Place, text: string): boolean {
  if (LABEL.test(text)) return true
  const written = text.length > 60 ? `${text.slice(0, 60)}…` : text
  const rule = 'a small letter, then small letters, digits and dashes, at most 32'
  reader.note(place, `\`${written}\` is no label; write ${rule}, such as \`personal\``)
  return false
}

/** A label is either denied or asked for: whoever wrote both believes the one that does not hold. */
function readAsked(
  reader: Reader,
  place: Place,
  denied: readonly string[],
  isStated: boolean,
): readonly string[] {
  const asked = readLabels(reader, place, '`ask`')
  for (const label of asked.filter((each) => denied.includes(each))) {
    const remedy = isStated
      ? 'keep it in one of the two'
      : 'where `deny` is left out it is `[secret]`; write `deny: []`'
    reader.note(place, `\`${label}\` is in \`ask\` and in \`deny\`; ${remedy}`)
  }
  return asked
}

function readRules(reader: Reader, place: Place | undefined): TaintSettings['provenance'] {
  const { untrusted, ordered, flagged } =
    (place && reader.fields(place, ['untrusted', 'ordered', 'flagged'])) ?? {}
  const { provenance } = DEFAULT_TAINT
  return {
    untrusted: (untrusted && reader.word(untrusted, '`untrusted`', RULES)) ?? provenance.untrusted,
    ordered: (ordered && reader.word(ordered, '`ordered`', RULES)) ?? provenance.ordered,
    flagged: (flagged && reader.word(flagged, '`flagged`', RULES)) ?? provenance.flagged,
  }
}

function readResults(reader: Reader, place: Place): TaintSettings['results'] {
  const results = new Map<string, 'redact' | 'withhold'>()
  for (const { name, key, value } of reader.entries(place, '`results`')) {
    const rule = reader.word(value, 'what is done with results', ['redact', 'withhold'])
    if (checkLabel(reader, key, name) && rule) results.set(name, rule)
  }
  return results
}
