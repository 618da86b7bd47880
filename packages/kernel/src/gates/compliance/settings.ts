// `gates.compliance`: which classes of data may be handled how and where.

import { EFFECT_CLASSES, type EffectClass } from '@tollgate/evidence/core'
import type { HostPattern } from '../../destinations/pattern.ts'
import { glob, type Glob } from '../../policy/glob.ts'
import type { Place, Reader } from '../../policy/reader/read.ts'
import { readHosts } from '../../policy/reader/hosts.ts'
import { readLabels } from '../../policy/reader/labels.ts'
import { checkId, checkName, readShort } from '../../policy/reader/names.ts'
import {
  about,
  EFFECT,
  HOSTS,
  keysOf,
  LABEL,
  mapping,
  NAME,
  NAMES,
  oneOrMore,
  REASON,
  record,
  RULE_ID,
  TEXT,
  words,
} from '../../policy/reader/schema.ts'
import type { GateSection } from '../../policy/reader/section.ts'

/** Hosts that lie in one place, as far as the law is concerned. */
interface Jurisdiction {
  readonly name: string
  readonly hosts: readonly HostPattern[]
}

/** One rule. An empty list means any. */
export interface ComplianceRule {
  readonly id: string
  /** The call carries data with one of these labels. */
  readonly labels: readonly string[]
  readonly tools: readonly Glob[]
  readonly effects: readonly EffectClass[]
  /** Some destination lies in one of these jurisdictions. */
  readonly inside: readonly string[]
  /** Some destination lies in none of these jurisdictions. */
  readonly outside: readonly string[]
  /** `allow` only notes that the rule applied. */
  readonly then: 'allow' | 'ask' | 'deny'
  readonly because: string | undefined
}

/** The settings of the compliance rung. */
export interface ComplianceSettings {
  readonly jurisdictions: readonly Jurisdiction[]
  readonly rules: readonly ComplianceRule[]
}

const MOST_RULES = 200
const MOST_JURISDICTIONS = 100
const MOST_NAMES = 200
const MOST_HOSTS = 1000

const ANSWERS = ['allow', 'ask', 'deny'] as const
const PLACES = oneOrMore(TEXT, { minItems: 1, maxItems: MOST_NAMES })

const RULE = record(
  'Compliance rule',
  'One rule; what is left out means any.',
  {
    id: about('Its name, which stands in receipts.', RULE_ID),
    labels: about(
      'The call carries data with one of these labels.',
      oneOrMore(LABEL, { minItems: 1, uniqueItems: true }),
    ),
    tools: about('The tools it is for.', NAMES),
    effects: about('The classes of effect it is for.', oneOrMore(EFFECT)),
    inside: about('Some destination lies in one of these jurisdictions.', PLACES),
    outside: about('Some destination lies in none of these jurisdictions.', PLACES),
    then: about('What is done; `allow` only notes that the rule applied.', words(ANSWERS)),
    because: about('Why, for whoever is denied.', REASON),
  },
  { required: ['id', 'then'] },
)

const SCHEMA = record(
  'Compliance',
  'Which classes of data may be handled how and where.',
  {
    jurisdictions: {
      ...mapping('Jurisdictions', 'Hosts that lie in one place, by the name of the place.', HOSTS, NAME),
      maxProperties: MOST_JURISDICTIONS,
    },
    rules: about('The rules. All that apply count, the strongest decides.', {
      type: 'array',
      maxItems: MOST_RULES,
      items: RULE,
    }),
  },
  { required: ['rules'] },
)

/** `gates.compliance`. */
export const complianceSettings: GateSection<ComplianceSettings | undefined> = {
  name: 'compliance',
  read: (reader, place) => place && readCompliance(reader, place),
  schema: SCHEMA,
  quoted: { texts: ['rules.tools'] },
  // The order of rules counts: the first of the strongest is the one that receipts name.
  calls: { of: (compliance) => [compliance, JSON.stringify(compliance.rules)] },
  remembersData: true,
}

/** Reads `compliance`. */
export function readCompliance(reader: Reader, place: Place): ComplianceSettings {
  const fields = reader.fields(place, keysOf(SCHEMA))
  const jurisdictions = fields?.jurisdictions ? readJurisdictions(reader, fields.jurisdictions) : []
  if (fields && !fields.rules) reader.note(place, '`compliance` has no `rules`; add one, or remove it')
  const known = new Set(jurisdictions.map(({ name }) => name))
  return { jurisdictions, rules: fields?.rules ? readRules(reader, fields.rules, known) : [] }
}

function readJurisdictions(reader: Reader, place: Place): readonly Jurisdiction[] {
  const entries = reader.entries(place, '`jurisdictions`')
  if (entries.length > MOST_JURISDICTIONS) {
    reader.note(place, `more than ${MOST_JURISDICTIONS} jurisdictions; join some of them`)
  }
  return entries.slice(0, MOST_JURISDICTIONS).map(({ name, key, value }) => {
    checkName(reader, key, name, 'the name of a jurisdiction')
    return { name, hosts: readJurisdictionHosts(reader, value) }
  })
}

function readJurisdictionHosts(reader: Reader, place: Place): readonly HostPattern[] {
  if (reader.isEmptyList(place))
    reader.note(place, 'a jurisdiction needs a host; write for example `*.example.com`')
  const hosts = readHosts(reader, place, 'a host')
  if (hosts.length > MOST_HOSTS) reader.note(place, `more than ${MOST_HOSTS} hosts; use \`*\` in their names`)
  // A host lies where it lies, whatever the port.
  return hosts.slice(0, MOST_HOSTS).map((pattern) => ({ ...pattern, port: pattern.port ?? '*' }))
}

function readRules(reader: Reader, place: Place, known: ReadonlySet<string>): readonly ComplianceRule[] {
  const items = reader.items(place, '`rules`')
  if (items.length > MOST_RULES) reader.note(place, `more than ${MOST_RULES} rules; join some of them`)
  const seen = new Set<string>()
  return items.slice(0, MOST_RULES).flatMap((item) => {
    const fields = reader.fields(item, keysOf(RULE))
    return fields ? [readRule(reader, item, fields, { known, seen })] : []
  })
}

type ComplianceFields = Partial<Record<keyof typeof RULE.properties, Place>>

interface RuleNames {
  /** Jurisdictions of the policy. */
  readonly known: ReadonlySet<string>
  /** Ids of the rules so far. */
  readonly seen: Set<string>
}

function readRule(
  reader: Reader,
  item: Place,
  fields: ComplianceFields,
  { known, seen }: RuleNames,
): ComplianceRule {
  const { labels, inside, outside, then, because } = fields
  if (labels && reader.isEmptyList(labels)) refuseEmpty(reader, labels, '`labels`')
  if (!then) reader.note(item, '`then` is missing; write `allow`, `ask` or `deny`')
  return {
    id: readId(reader, item, fields.id, seen),
    labels: labels ? readLabels(reader, labels, '`labels`') : [],
    tools: readTools(reader, fields.tools),
    effects: readEffects(reader, fields.effects),
    inside: readPlaces(reader, inside, '`inside`', known),
    outside: readPlaces(reader, outside, '`outside`', known),
    then: (then && reader.word(then, '`then`', ANSWERS)) ?? 'deny',
    because: because && readShort(reader, because, '`because`', 500),
  }
}

function readId(reader: Reader, item: Place, place: Place | undefined, seen: Set<string>): string {
  if (!place) reader.note(item, 'the rule has no `id`; receipts name the rules that applied, so give it one')
  const id = (place && reader.text(place, '`id`')) ?? ''
  if (!place || id === '') return ''
  checkId(reader, place, id, seen)
  return id
}

function readTools(reader: Reader, place: Place | undefined): readonly Glob[] {
  return namesIn(reader, place, '`tools`').map(({ text, place: at }) => {
    checkName(reader, at, text, 'the name of a tool')
    return glob(text)
  })
}

function readEffects(reader: Reader, place: Place | undefined): readonly EffectClass[] {
  return namesIn(reader, place, '`effects`').flatMap(({ place: at }) => {
    const effect = reader.word(at, 'a class of effect', EFFECT_CLASSES)
    return effect === undefined ? [] : [effect]
  })
}

function readPlaces(
  reader: Reader,
  place: Place | undefined,
  field: string,
  known: ReadonlySet<string>,
): readonly string[] {
  return namesIn(reader, place, field).map(({ text, place: at }) => {
    if (!known.has(text)) {
      reader.note(at, `\`${text.slice(0, 60)}\` is no jurisdiction here; add it under \`jurisdictions\``)
    }
    return text
  })
}

/** The texts of a list that is left out for any. An empty one would say none and mean any. */
function namesIn(reader: Reader, place: Place | undefined, field: string): ReturnType<Reader['texts']> {
  if (!place) return []
  if (reader.isEmptyList(place)) refuseEmpty(reader, place, field)
  const texts = reader.texts(place, field)
  if (texts.length > MOST_NAMES) reader.note(place, `${field} has more than ${MOST_NAMES} names; use fewer`)
  return texts.slice(0, MOST_NAMES)
}

function refuseEmpty(reader: Reader, place: Place, field: string): void {
  reader.note(place, `${field} is an empty list; leave it out for any`)
}
