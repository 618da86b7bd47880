// Reads `gates.browser`: the pages that browser agents may use, and the limits on Sentinel observations.

import type { HostPattern } from '../../destinations/pattern.ts'
import type { Place, Reader } from '../../policy/reader/read.ts'
import { readHosts } from '../../policy/reader/hosts.ts'
import { about, between, HOSTS, keysOf, mapping, record, words } from '../../policy/reader/schema.ts'
import type { GateSection } from '../../policy/reader/section.ts'

/** The actions on a finding of the Sentinel before a side effect. The receipt records every finding. */
const FINDING_ANSWERS = ['deny', 'escalate', 'record'] as const
/** The action on a finding of the Sentinel before a side effect. */
export type FindingAnswer = (typeof FINDING_ANSWERS)[number]

/** The settings of the browser gate. */
export interface BrowserSettings {
  readonly domains: readonly HostPattern[]
  readonly maxSentinelRisk: number
  /** `sentinel`: only observations that the Sentinel posted directly count. */
  readonly observation: 'any' | 'sentinel'
  /** `derived`: a planner reference that the gateway makes from the call itself counts too. */
  readonly plannerRef: 'given' | 'derived'
  /** The action on each finding. */
  readonly findings: ReadonlyMap<string, FindingAnswer>
  /** The action on findings without a row: the row `*`. */
  readonly otherFindings: FindingAnswer
}

const PLANNER_REFS = ['given', 'derived'] as const

const SCHEMA = record(
  'Browser agents',
  'The pages that a browser agent may use, and the limits on what its Sentinel reports.',
  {
    domains: about('The hostnames of allowed pages. Without an entry, every browser call is denied.', HOSTS),
    'max-sentinel-risk': about('The highest allowed risk of a page, from 0 to 100.', between(0, 100, 70)),
    observation: about(
      '`sentinel`: only observations that the Sentinel posted directly count.',
      words(['any', 'sentinel'], 'any'),
    ),
    'planner-ref': about(
      '`derived`: a planner reference that the gateway makes from the call itself counts too. The receipt marks it.',
      words(PLANNER_REFS, 'given'),
    ),
    findings: {
      ...mapping(
        'Findings',
        'The action on findings of the Sentinel before a side effect, by code. `*` is for all other codes; its default is `escalate`.',
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
  const plannerRef = fields?.['planner-ref']
  const findings = fields?.findings ? readFindings(reader, fields.findings) : NO_FINDINGS
  const otherFindings = findings.get(ANY) ?? 'escalate'
  return {
    domains: readHosts(reader, fields?.domains, 'a domain'),
    maxSentinelRisk: (risk && reader.number(risk, '`max-sentinel-risk`', 0, 100)) ?? 70,
    observation: (observation && reader.word(observation, '`observation`', ['any', 'sentinel'])) ?? 'any',
    plannerRef: (plannerRef && reader.word(plannerRef, '`planner-ref`', PLANNER_REFS)) ?? 'given',
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
      reader.note(key, 'a finding must be a code such as `HIDDEN_TEXT`, or `"*"` for all other codes')
    }
    const answer = reader.word(value, `\`${name.slice(0, 64)}\``, FINDING_ANSWERS)
    if (answer) found.set(name, answer)
  }
  return found
}
