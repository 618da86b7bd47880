// Reads `gates.taint`: which labelled data may leave, and how values from tool output may be used.

import { parseHostPattern, type HostPattern } from '../../destinations/pattern.ts'
import type { Place, Reader } from '../../policy/reader/read.ts'
import { readHosts } from '../../policy/reader/hosts.ts'
import { checkLabel, readLabels } from '../../policy/reader/names.ts'
import {
  about,
  HOSTS,
  keysOf,
  LABEL,
  LABELS,
  mapping,
  NAME,
  record,
  words,
} from '../../policy/reader/schema.ts'
import type { GateSection } from '../../policy/reader/section.ts'

/** The action on a value at a sink because of its origin. */
export type ValueRule = 'allow' | 'ask' | 'deny'

/** A flow of text from pages of one host to pages of others. */
interface PageFlow {
  readonly from: { readonly host: string; readonly port: HostPattern['port'] }
  readonly to: readonly HostPattern[]
}

/** The settings of `gates.taint`. */
export interface TaintSettings {
  /** Data with these labels must not leave. */
  readonly deny: readonly string[]
  /** Data with these labels needs an approval to leave. */
  readonly ask: readonly string[]
  /** Internal destinations. */
  readonly internal: readonly HostPattern[]
  /** `session`: once a session has read labelled data, everything it sends counts as labelled. */
  readonly follow: 'values' | 'session'
  readonly provenance: {
    /** For values that tool output introduced. */
    readonly untrusted: ValueRule
    /** For values from running text, or from text that asks for something. */
    readonly ordered: ValueRule
    /** For values that were seen only in flagged passages. */
    readonly flagged: ValueRule
  }
  /** For text of a page that a browser call would write to a page of another host. */
  readonly pages: ValueRule
  /** The flows between pages that are allowed. */
  readonly flows: readonly PageFlow[]
  /** The action on results with a label. */
  readonly results: ReadonlyMap<string, 'redact' | 'withhold'>
}

/** The settings of `taint: {}`. */
export const DEFAULT_TAINT: TaintSettings = {
  deny: ['secret'],
  ask: [],
  internal: [],
  follow: 'values',
  provenance: { untrusted: 'allow', ordered: 'ask', flagged: 'deny' },
  pages: 'ask',
  flows: [],
  results: new Map(),
}

const RULES = ['allow', 'ask', 'deny'] as const
const RESULTS = ['redact', 'withhold'] as const

const SCHEMA = record(
  'Labelled data',
  'Which labelled data may leave, and how values from tool output may be used.',
  {
    deny: about('Data with these labels must not leave. The default is `[secret]`.', LABELS),
    ask: about('Data with these labels needs an approval to leave.', LABELS),
    internal: about('Internal hostnames. Data sent to them does not count as leaving.', HOSTS),
    follow: about(
      '`session`: once a session has read labelled data, everything it sends counts as labelled.',
      words(['values', 'session'], 'values'),
    ),
    provenance: record('Provenance', 'How values that tool output introduced may be used.', {
      untrusted: about('Values that tool output introduced, at a sink.', words(RULES, 'allow')),
      ordered: about(
        'In calls with a side effect: values from text that asks for something, and at a sink also values from running text.',
        words(RULES, 'ask'),
      ),
      flagged: about('Values that were seen only in flagged passages.', words(RULES, 'deny')),
    }),
    pages: about(
      'Text of a page that a browser call would write to a page of another host, unless `flows` or the user names this flow.',
      words(RULES, 'ask'),
    ),
    flows: {
      ...mapping(
        'Flows',
        'The hostnames that may get text of a page, by the hostname of the page.',
        HOSTS,
        NAME,
      ),
      examples: [{ 'shop.example.com': ['crm.example.com'] }],
    },
    results: mapping('Results', 'The action on results with a label.', words(RESULTS), LABEL),
  },
)

/** `gates.taint`. */
export const taintSettings: GateSection<TaintSettings | undefined> = {
  name: 'taint',
  read: (reader, place) => place && readTaint(reader, place),
  schema: SCHEMA,
  calls: { of: (taint) => ({ ...taint, follow: 0, results: 0 }), rungs: ['taint', 'policy'] },
  history: { of: (taint) => ({ ...taint, deny: 0, ask: 0, internal: 0, provenance: 0, pages: 0, flows: 0 }) },
  remembersData: true,
}

/** Reads `gates.taint`. Missing members get their defaults. */
export function readTaint(reader: Reader, place: Place): TaintSettings {
  const { deny, ask, internal, follow, provenance, pages, flows, results } =
    reader.fields(place, keysOf(SCHEMA)) ?? {}
  const denied = deny ? readLabels(reader, deny, '`deny`') : DEFAULT_TAINT.deny
  return {
    deny: denied,
    ask: ask ? readAsked(reader, ask, denied, deny !== undefined) : DEFAULT_TAINT.ask,
    internal: readHosts(reader, internal, 'a hostname'),
    follow: (follow && reader.word(follow, '`follow`', ['values', 'session'])) ?? DEFAULT_TAINT.follow,
    provenance: reader.words(provenance, RULES, DEFAULT_TAINT.provenance),
    pages: (pages && reader.word(pages, '`pages`', RULES)) ?? DEFAULT_TAINT.pages,
    flows: flows ? readFlows(reader, flows) : DEFAULT_TAINT.flows,
    results: results ? readResults(reader, results) : DEFAULT_TAINT.results,
  }
}

/** Reads `ask`. A label must not also be in `deny`, because `deny` would win without notice. */
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
      : 'the default of `deny` is `[secret]`; write `deny: []`'
    reader.note(place, `\`${label}\` is in \`ask\` and in \`deny\`; ${remedy}`)
  }
  return asked
}

/** Reads `flows`. A label keeps only the hash of a hostname, so the source of a flow must be a full hostname. */
function readFlows(reader: Reader, place: Place): readonly PageFlow[] {
  return reader.entries(place, '`flows`').flatMap(({ name, key, value }) => {
    const pattern = parseHostPattern(name)
    const to = readHosts(reader, value, 'a hostname')
    if (typeof pattern !== 'string' && pattern.hosts.kind === 'exactly')
      return [{ from: { host: pattern.hosts.host, port: pattern.port }, to }]
    reader.note(key, 'a flow must begin at a full hostname, such as `shop.example.com`')
    return []
  })
}

function readResults(reader: Reader, place: Place): TaintSettings['results'] {
  const results = new Map<string, 'redact' | 'withhold'>()
  for (const { name, key, value } of reader.entries(place, '`results`')) {
    const rule = reader.word(value, 'the action on results', RESULTS)
    if (checkLabel(reader, key, name) && rule) results.set(name, rule)
  }
  return results
}
