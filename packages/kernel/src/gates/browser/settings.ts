// The settings of the browser rung: `gates.browser` in a policy file.

import type { HostPattern } from '../../destinations/pattern.ts'
import type { Place, Reader } from '../../policy/reader/read.ts'
import { readHosts } from '../../policy/reader/hosts.ts'
import { about, between, HOSTS, keysOf, mapping, record, words } from '../../policy/reader/schema.ts'
import type { GateSection } from '../../policy/reader/section.ts'

/** What is done about a finding of the Sentinel before a side effect; in the receipt it is in any case. */
const FINDING_ANSWERS = ['deny', 'escalate', 'record'] as const
/** What is done about a finding of the Sentinel before a side effect. */
export type FindingAnswer = (typeof FINDING_ANSWERS)[number]

/** The settings of the browser rung. */
export interface BrowserSettings {
  readonly domains: readonly HostPattern[]
  readonly maxSentinelRisk: number
  /** `sentinel`: only observations that the Sentinel posted itself count. */
  readonly observation: 'any' | 'sentinel'
  /** What is done about each finding. */
  readonly findings: ReadonlyMap<string, FindingAnswer>
  /** What is done about findings that have no row: the row `*`. */
  readonly otherFindings: FindingAnswer
}

const SCHEMA = record(
  'Browser agents',
  'Where a browser agent may be, and what its Sentinel may say of the page.',
  {
    domains: about('Pages that browser calls may be on. Without one every browser call is denied.', HOSTS),
    'max-sentinel-risk': about('The highest risk of a page, from 0 to 100.', between(0, 100, 70)),
    observation: about(
      '`sentinel`: only what the Sentinel itself has posted counts.',
      words(['any', 'sentinel'], 'any'),
    ),
    findings: {
      ...mapping(
        'Findings',
        'What is done about findings of the Sentinel before a side effect, by code; `*` for those that have no row, `escalate` if left out.',
        words(FINDING_ANSWERS),
        { type: 'string', pattern: '^(?:[A-Z][A-Z0-9_]{0,63}|\\*)$' },
      ),
      examples: [{ HIDDEN_TEXT: 'deny', FOREIGN_FORM: 'escalate', '*': 'record' }],
    },
  },
)

/** `gates.browser`. */
export const browserSettings: GateSection<BrowserSettings> = {
  name: 'browser',
  read: readBrowser,
  schema: SCHEMA,
}

function readBrowser(reader: Reader, place: Place | undefined): BrowserSettings {
  const fields = place && reader.fields(place, keysOf(SCHEMA))
  const risk = fields?.['max-sentinel-risk']
  const observation = fields?.observation
  const findings = fields?.findings ? readFindings(reader, fields.findings) : NO_FINDINGS
  const otherFindings = findings.get(ANY) ?? 'escalate'
  return {
    domains: readHosts(reader, fields?.domains, 'a domain'),
    maxSentinelRisk: (risk && reader.number(risk, '`max-sentinel-risk`', 0, 100)) ?? 70,
    observation: (observation && reader.word(observation, '`observation`', ['any', 'sentinel'])) ?? 'any',
    findings: new Map([...findings].filter(([code]) => code !== ANY)),
    otherFindings,
  }
}

const ANY = '*'
const NO_FINDINGS: ReadonlyMap<string, FindingAnswer> = new Map()
const FINDING = /^[A-Z][A-Z0-9_]{0,63}$/

function readFindings(reader: Reader, place: Place): ReadonlyMap<string, FindingAnswer> {
  const found = new Map<string, FindingAnswer>()
  for (const { name, key, value } of reader.entries(place, '`findings`')) {
    if (name !== ANY && !FINDING.test(name)) {
      reader.note(key, 'a finding is a code such as `HIDDEN_TEXT`, or `"*"` for all that have no row')
    }
    const answer = reader.word(value, `\`${name.slice(0, 64)}\``, FINDING_ANSWERS)
    if (answer) found.set(name, answer)
  }
  return found
}
