// The settings of the rung `taint`: which data may not leave, and what values out of tool output may do.

import type { HostPattern } from '../../destinations/pattern.ts'
import type { Place, Reader } from '../../policy/reader/read.ts'
import { readHosts } from '../../policy/reader/hosts.ts'
import { checkLabel, readLabels } from '../../policy/reader/labels.ts'
import { about, HOSTS, keysOf, LABEL, LABELS, mapping, record, words } from '../../policy/reader/schema.ts'
import type { GateSection } from '../../policy/reader/section.ts'
import { readEnumMap } from '../../policy/reader/enum-map.ts'

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

const RULES = ['allow', 'ask', 'deny'] as const
const RESULTS = ['redact', 'withhold'] as const

const SCHEMA = record(
  'Labelled data',
  'Which data may not leave, and what values out of tool output may do.',
  {
    deny: about('Data with these labels may not leave; `[secret]` if left out.', LABELS),
    ask: about('Data with these labels leaves if a person agrees.', LABELS),
    internal: about('Hosts that are not outside.', HOSTS),
    follow: about(
      '`session`: once a session has read such data, all that it sends counts as such.',
      words(['values', 'session'], 'values'),
    ),
    provenance: record('Provenance', 'What values may do that only tool output has named.', {
      untrusted: about('Values first seen in tool output, at a sink.', words(RULES, 'allow')),
      ordered: about(
        'In calls with a side effect: values that stand where something is asked for, and at a sink those in running text.',
        words(RULES, 'ask'),
      ),
      flagged: about('Values seen only in text that was found hostile.', words(RULES, 'deny')),
    }),
    results: mapping('Results', 'What is done with results that carry a label.', words(RESULTS), LABEL),
  },
)

/** `gates.taint`. */
export const taintSettings: GateSection<TaintSettings | undefined> = {
  name: 'taint',
  read: (reader, place) => place && readTaint(reader, place),
  schema: SCHEMA,
  calls: { of: (taint) => ({ ...taint, follow: 0, results: 0 }), rungs: ['taint', 'policy'] },
  history: { of: (taint) => ({ ...taint, deny: 0, ask: 0, internal: 0, provenance: 0 }) },
  remembersData: true,
}

/** Reads `gates.taint`; what is not said has its default. */
export function readTaint(reader: Reader, place: Place): TaintSettings {
  const { deny, ask, internal, follow, provenance, results } = reader.fields(place, keysOf(SCHEMA)) ?? {}
  const denied = deny ? readLabels(reader, deny, '`deny`') : DEFAULT_TAINT.deny
  return {
    deny: denied,
    ask: ask ? readAsked(reader, ask, denied, deny !== undefined) : DEFAULT_TAINT.ask,
    internal: readHosts(reader, internal, 'a host'),
    follow: (follow && reader.word(follow, '`follow`', ['values', 'session'])) ?? DEFAULT_TAINT.follow,
    provenance: readEnumMap(reader, provenance, RULES, DEFAULT_TAINT.provenance),
    results: results ? readResults(reader, results) : DEFAULT_TAINT.results,
  }
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

function readResults(reader: Reader, place: Place): TaintSettings['results'] {
  const results = new Map<string, 'redact' | 'withhold'>()
  for (const { name, key, value } of reader.entries(place, '`results`')) {
    const rule = reader.word(value, 'what is done with results', RESULTS)
    if (checkLabel(reader, key, name) && rule) results.set(name, rule)
  }
  return results
}
