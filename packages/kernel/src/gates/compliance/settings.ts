// Reads `gates.compliance`: rules on how and where labelled data may be used.

import { EFFECT_CLASSES, type EffectClass } from '@tollgate/evidence/core'
import type { HostPattern } from '../../destinations/pattern.ts'
import { glob, type Glob } from '../../policy/glob.ts'
import type { Place, Reader } from '../../policy/reader/read.ts'
import { readHosts } from '../../policy/reader/hosts.ts'
import { checkId, checkName, readLabels, readShort } from '../../policy/reader/names.ts'
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

/** The hostnames of one jurisdiction. */
interface Jurisdiction {
  readonly name: string
  readonly hosts: readonly HostPattern[]
}

/** A rule. An empty list matches everything. */
export interface ComplianceRule {
  readonly id: string
  /** The call contains data with one of these labels. */
  readonly labels: readonly string[]
  readonly tools: readonly Glob[]
  readonly effects: readonly EffectClass[]
  /** At least one destination is in one of these jurisdictions. */
  readonly inside: readonly string[]
  /** At least one destination is in none of these jurisdictions. */
  readonly outside: readonly string[]
  /** `allow` only records that the rule applied. */
  readonly then: 'allow' | 'ask' | 'deny'
  readonly because: string | undefined
}

/** The settings of the compliance gate. */
export interface ComplianceSettings {
  readonly jurisdictions: readonly Jurisdiction[]
  readonly rules: readonly ComplianceRule[]
}

const MAX_RULES = 200
const MAX_JURISDICTIONS = 100
const MAX_NAMES = 200
const MAX_HOSTS = 1000

const ANSWERS = ['allow', 'ask', 'deny'] as const
const PLACES = oneOrMore(TEXT, { minItems: 1, maxItems: MAX_NAMES })

const RULE = record(
  'Compliance rule',
  'A rule. A member that is left out matches everything.',
  {
    id: about('The name of the rule in receipts.', RULE_ID),
    labels: about(
      'The call contains data with one of these labels.',
      oneOrMore(LABEL, { minItems: 1, uniqueItems: true }),
    ),
    tools: about('The tools that the rule is for.', NAMES),
    effects: about('The effect classes that the rule is for.', oneOrMore(EFFECT)),
    inside: about('At least one destination is in one of these jurisdictions.', PLACES),
    outside: about('At least one destination is in none of these jurisdictions.', PLACES),
    then: about('The action of the rule. `allow` only records that the rule applied.', words(ANSWERS)),
    because: about('The reason that the caller sees.', REASON),
  },
  { required: ['id', 'then'] },
)

const SCHEMA = record(
  'Compliance',
  'Rules on how and where labelled data may be used.',
  {
    jurisdictions: {
      ...mapping('Jurisdictions', 'The hostnames of each jurisdiction, by its name.', HOSTS, NAME),
      maxProperties: MAX_JURISDICTIONS,
    },
    rules: about('The rules. The strictest rule that applies decides.', {
      type: 'array',
      maxItems: MAX_RULES,
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
  // The order of rules matters: receipts name the first of the strictest rules.
  calls: { of: (compliance) => [compliance, JSON.stringify(compliance.rules)] },
  remembersData: true,
}

export function readCompliance(reader: Reader, place: Place): ComplianceSettings {
  const fields = reader.fields(place, keysOf(SCHEMA))
  const jurisdictions = fields?.jurisdictions ? readJurisdictions(reader, fields.jurisdictions) : []
  if (fields && !fields.rules)
    reader.note(place, '`compliance` has no `rules`; add a rule, or remove `compliance`')
  const known = new Set(jurisdictions.map(({ name }) => name))
  return { jurisdictions, rules: fields?.rules ? readRules(reader, fields.rules, known) : [] }
}

function readJurisdictions(reader: Reader, place: Place): readonly Jurisdiction[] {
  const entries = reader.entries(place, '`jurisdictions`')
  if (entries.length > MAX_JURISDICTIONS) {
    reader.note(place, `more than ${MAX_JURISDICTIONS} jurisdictions; join some of them`)
  }
  return entries.slice(0, MAX_JURISDICTIONS).map(({ name, key, value }) => {
    checkName(reader, key, name, 'the name of a jurisdiction')
    return { name, hosts: readJurisdictionHosts(reader, value) }
  })
}

function readJurisdictionHosts(reader: Reader, place: Place): readonly HostPattern[] {
  if (reader.isEmptyList(place))
    reader.note(place, 'a jurisdiction needs a hostname; write for example `*.example.com`')
  const hosts = readHosts(reader, place, 'a hostname')
  if (hosts.length > MAX_HOSTS) reader.note(place, `more than ${MAX_HOSTS} hostnames; use \`*\` in them`)
  // The port does not change the jurisdiction.
  return hosts.slice(0, MAX_HOSTS).map((pattern) => ({ ...pattern, port: pattern.port ?? '*' }))
}

function readRules(reader: Reader, place: Place, known: ReadonlySet<string>): readonly ComplianceRule[] {
  const items = reader.items(place, '`rules`')
  if (items.length > MAX_RULES) reader.note(place, `more than ${MAX_RULES} rules; join some of them`)
  const seen = new Set<string>()
  return items.slice(0, MAX_RULES).flatMap((item) => {
    const fields = reader.fields(item, keysOf(RULE))
    return fields ? [readRule(reader, item, fields, { known, seen })] : []
  })
}

type ComplianceFields = Partial<Record<keyof typeof RULE.properties, Place>>

interface RuleNames {
  /** The jurisdictions of the policy. */
  readonly known: ReadonlySet<string>
  /** The ids of the rules read so far. */
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
  if (!place) reader.note(item, 'the rule has no `id`; add one, because receipts name the rules that applied')
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
    const effect = reader.word(at, 'an effect class', EFFECT_CLASSES)
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
      reader.note(at, `\`${text.slice(0, 60)}\` is not a known jurisdiction; add it under \`jurisdictions\``)
    }
    return text
  })
}

/** The texts of an optional list. An empty list is refused, because it would match everything and look as if it matched nothing. */
function namesIn(reader: Reader, place: Place | undefined, field: string): ReturnType<Reader['texts']> {
  if (!place) return []
  if (reader.isEmptyList(place)) refuseEmpty(reader, place, field)
  const texts = reader.texts(place, field)
  if (texts.length > MAX_NAMES) reader.note(place, `${field} has more than ${MAX_NAMES} names; use fewer`)
  return texts.slice(0, MAX_NAMES)
}

function refuseEmpty(reader: Reader, place: Place, field: string): void {
  reader.note(place, `${field} is an empty list; leave it out to match everything`)
}
