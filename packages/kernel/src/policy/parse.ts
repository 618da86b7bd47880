// From the text of a policy file to a policy: all mistakes at once, each with line and remedy.

import {
  DOORS,
  EFFECT_CLASSES,
  importPublicKey,
  OBSERVE_RULE,
  sha256Hex,
  TIERS,
  type Door,
  type EffectClass,
  type Json,
  type PublicKey,
  type Tier,
} from '@tollgate/evidence/core'
import { compileSchema, type ArgumentsSchema } from '../schema.ts'
import { conditionEnvironment, type Condition, type Variables } from './condition.ts'
import { glob, type Glob } from './glob.ts'
import { checkName } from './names.ts'
import { hasControls, MAX_MISTAKES, readYaml, type Mistake, type Place, type Reader } from './read.ts'
import { readGates, type GateSettings } from './settings.ts'
import { readLabels } from './settings/taint.ts'

/** What a rule does with a call it matches. `require` asks a person. */
export type Action = 'allow' | 'deny' | 'require'

/** One rule. */
export interface Rule {
  readonly id: string
  readonly line: number
  readonly action: Action
  readonly tools: readonly Glob[]
  readonly principals: readonly Glob[]
  readonly sessions: readonly Glob[]
  readonly doors: readonly Door[]
  readonly when: Condition | undefined
  readonly because: string | undefined
  /** Who may answer; nobody named means any approver. */
  readonly approvers: readonly string[]
  /** How long a request waits and a grant lasts, in milliseconds. */
  readonly expires: number
}

/** What the policy says about a tool. */
export interface ToolDeclaration {
  readonly name: Glob
  readonly effect: EffectClass
  /** Arguments whose values have consequences. */
  readonly sinks: readonly string[]
  /** Arguments that say where data goes; `none` if the tool reaches no network, whatever its arguments say. */
  readonly destinations: readonly string[] | 'none'
  /** Labels that what comes back carries. */
  readonly returns: readonly string[]
  /** Labels that arguments carry, by the path of each; `*` for all of them. */
  readonly takes: readonly { readonly path: string; readonly labels: readonly string[] }[]
  /** What a call costs: so much, or what the argument at this path says. */
  readonly cost: number | string | undefined
  readonly salted: boolean
  readonly browser: boolean
  readonly schema: ArgumentsSchema | undefined
}

/** What the policy says about a principal. */
export interface PrincipalDeclaration {
  readonly name: Glob
  readonly tier: Tier
  /** What its delegations are signed with; who has none cannot delegate. */
  readonly key: PublicKey | undefined
  /** It acts only for others. */
  readonly delegateOnly: boolean
}

/** What calls the policy is for; an empty list means any. */
export interface PolicyContext {
  readonly environments: readonly string[]
  readonly tenants: readonly string[]
  readonly workspaces: readonly string[]
}

/** What the policy asks of answers of people. */
export interface ApprovalSettings {
  /** `required`: an answer without a reason is not accepted. */
  readonly reason: 'optional' | 'required'
}

/** A policy: ordered rules, the only thing that grants, and the settings of the rungs. */
export interface Policy {
  readonly name: string
  readonly text: string
  /** SHA-256 of the text. */
  readonly hash: string
  readonly context: PolicyContext
  readonly principals: readonly PrincipalDeclaration[]
  readonly tools: readonly ToolDeclaration[]
  readonly rules: readonly Rule[]
  readonly approvals: ApprovalSettings
  readonly gates: GateSettings
}

/** What came of reading a policy. */
export type ParsedPolicy =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly mistakes: readonly Mistake[] }

/** What a condition may name. */
export const CONDITION_VARIABLES: Variables = {
  args: 'dyn',
  destinations: { list: { scheme: 'string', host: 'string', port: 'int' } },
  door: 'string',
  effect: 'string',
  environment: 'string',
  labels: 'list<string>',
  principal: 'string',
  risk: 'double',
  session: 'string',
  tenant: 'string',
  tier: 'string',
  time: 'timestamp',
  tool: 'string',
  trust: 'double',
  workspace: 'string',
}

const MAX_RULES = 10_000
const MAX_TOOLS = 10_000
const DAY = 86_400_000
// A session remembers 32 labels, of which five are built in.
const MAX_RETURNED = 27

/** Reads a policy. Never throws: what is wrong is returned, at least the first hundred mistakes. */
export function parsePolicy(text: string): ParsedPolicy {
  const reader = readYaml(text)
  const policy = reader.mistakes.length === 0 ? readPolicy(reader, text) : undefined
  if (policy && reader.mistakes.length === 0) return { ok: true, policy }
  return { ok: false, mistakes: firstOf(reader.mistakes) }
}

/** The first mistakes by their place, and how many more there are. */
function firstOf(mistakes: readonly Mistake[]): readonly Mistake[] {
  const sorted = mistakes.toSorted((a, b) => a.line - b.line || a.column - b.column)
  const next = sorted[MAX_MISTAKES]
  const more = sorted.length - MAX_MISTAKES
  // One more needs no more room than saying so.
  if (next === undefined || more === 1) return sorted
  return [...sorted.slice(0, MAX_MISTAKES), { ...next, message: `and ${more} more mistakes from here on` }]
}

function readPolicy(reader: Reader, text: string): Policy | undefined {
  const names = ['tollgate', 'name', 'context', 'principals', 'tools', 'rules', 'approvals', 'gates'] as const
  const fields = reader.fields(reader.root, names)
  if (!fields) return undefined
  const { root } = reader
  if (fields.tollgate) reader.number(fields.tollgate, '`tollgate`, the version of the format,', 1, 1)
  else reader.note(root, '`tollgate: 1` is missing; write it in the first line')
  if (!fields.name) reader.note(root, '`name` is missing; give the policy a name')
  if (!fields.rules) reader.note(root, '`rules` is missing; without a rule every call is denied')
  const gates = readGates(reader, fields.gates)
  return {
    name: (fields.name && readShort(reader, fields.name, '`name`', 200)) ?? '',
    text,
    hash: sha256Hex(text),
    context: readContext(reader, fields.context),
    principals: fields.principals ? readPrincipals(reader, fields.principals) : [],
    tools: fields.tools ? readTools(reader, fields.tools) : [],
    rules: fields.rules ? readRules(reader, fields.rules, configuredBy(gates)) : [],
    approvals: readApprovals(reader, fields.approvals),
    gates,
  }
}

function readApprovals(reader: Reader, place: Place | undefined): ApprovalSettings {
  const fields = place && reader.fields(place, ['reason'])
  const reason = fields?.reason && reader.word(fields.reason, '`reason`', ['optional', 'required'])
  return { reason: reason ?? 'optional' }
}

function readContext(reader: Reader, place: Place | undefined): PolicyContext {
  const fields = place && reader.fields(place, ['environments', 'tenants', 'workspaces'])
  return {
    environments: readNames(reader, fields?.environments, '`environments`', 'an environment'),
    tenants: readNames(reader, fields?.tenants, '`tenants`', 'a tenant'),
    workspaces: readNames(reader, fields?.workspaces, '`workspaces`', 'a workspace'),
  }
}

/** The names in a list that is left out for any. An empty one would say nobody and mean everybody. */
function readNames(
  reader: Reader,
  place: Place | undefined,
  field: string,
  what: string,
  remedy = 'is an empty list; leave it out for any',
): readonly string[] {
  if (!place) return []
  if (reader.isEmptyList(place)) reader.note(place, `${field} ${remedy}`)
  return reader.texts(place, what).map((each) => {
    checkName(reader, each.place, each.text, what)
    return each.text
  })
}

function readPrincipals(reader: Reader, place: Place): Policy['principals'] {
  const keys = new Set<string>()
  return reader.entries(place, '`principals`').flatMap(({ name, key, value }) => {
    checkName(reader, key, name, 'the name of a principal')
    const {
      tier,
      key: signs,
      'delegate-only': only,
    } = reader.fields(value, ['tier', 'key', 'delegate-only']) ?? {}
    if (!tier) {
      reader.note(value, '`tier` is missing; write for example `{ tier: standard }`')
      return []
    }
    if (signs && name.includes('*')) {
      reader.note(signs, 'a key belongs to one principal; write its whole name, without `*`')
    }
    return [
      {
        name: glob(name),
        tier: reader.word(tier, '`tier`', TIERS) ?? 'observer',
        key: signs && readKey(reader, signs, keys),
        delegateOnly: (only && reader.flag(only, '`delegate-only`')) ?? false,
      },
    ]
  })
}

function readKey(reader: Reader, place: Place, taken: Set<string>): PublicKey | undefined {
  const text = reader.text(place, '`key`')
  if (text === undefined) return undefined
  try {
    const key = importPublicKey(text)
    if (taken.has(key.id)) reader.note(place, 'another principal has the same `key`; give each its own')
    taken.add(key.id)
    return key
  } catch {
    reader.note(place, '`key` is not an Ed25519 public key; write the base64 of its 32 bytes')
    return undefined
  }
}

function readTools(reader: Reader, place: Place): readonly ToolDeclaration[] {
  const entries = reader.entries(place, '`tools`')
  if (entries.length > MAX_TOOLS) reader.note(place, `more than ${MAX_TOOLS} tools; use \`*\` in their names`)
  const tools = entries.slice(0, MAX_TOOLS).map(({ name, key, value }) => {
    checkName(reader, key, name, 'the name of a tool')
    return readTool(reader, name, value)
  })
  const labels = new Set(
    tools.flatMap(({ returns, takes }) => [...returns, ...takes.flatMap((each) => each.labels)]),
  )
  if (labels.size > MAX_RETURNED) {
    reader.note(place, `tools have more than ${MAX_RETURNED} different labels; use fewer, wider ones`)
  }
  return tools
}

const TOOL_FIELDS = [
  'effect',
  'sinks',
  'destinations',
  'returns',
  'takes',
  'cost',
  'commit',
  'browser',
  'schema',
] as const

function readTool(reader: Reader, name: string, place: Place): ToolDeclaration {
  const fields = reader.fields(place, TOOL_FIELDS) ?? {}
  const paths = (each: Place | undefined, what: string): string[] =>
    each ? reader.texts(each, what).map(({ text }) => text) : []
  const none = fields.destinations && reader.plain(fields.destinations) === 'none'
  return {
    name: glob(name),
    // Not said means the strictest.
    effect: (fields.effect && reader.word(fields.effect, '`effect`', EFFECT_CLASSES)) ?? 'admin',
    sinks: paths(fields.sinks, 'a sink'),
    destinations: none === true ? 'none' : paths(fields.destinations, 'a destination'),
    returns: fields.returns ? readLabels(reader, fields.returns, '`returns`') : [],
    takes: fields.takes ? readTakes(reader, fields.takes) : [],
    cost: fields.cost && readCost(reader, fields.cost),
    salted:
      fields.commit !== undefined && reader.word(fields.commit, '`commit`', ['plain', 'salted']) === 'salted',
    browser: (fields.browser && reader.flag(fields.browser, '`browser`')) ?? false,
    schema: fields.schema && readSchema(reader, fields.schema),
  }
}

function readTakes(reader: Reader, place: Place): ToolDeclaration['takes'] {
  return reader.entries(place, '`takes`').map(({ name, key, value }) => {
    checkName(reader, key, name, 'the path of an argument')
    return { path: name, labels: readLabels(reader, value, `\`takes.${name.slice(0, 100)}\``) }
  })
}

const MOST_COST = 1_000_000_000

function readCost(reader: Reader, place: Place): number | string | undefined {
  if (typeof reader.plain(place) === 'number') return reader.number(place, '`cost`', 0, MOST_COST)
  const path = reader.text(place, '`cost`, a number or the path of an argument,')
  if (path !== undefined) checkName(reader, place, path, 'the path of an argument')
  return path
}

function readSchema(reader: Reader, place: Place): ArgumentsSchema | undefined {
  try {
    // Sound: YAML without tags and anchors makes plain data; what JSON cannot hold is refused below.
    return compileSchema(reader.plain(place) as Json)
  } catch (fault) {
    reader.note(
      place,
      `\`schema\` cannot be used: ${fault instanceof Error ? fault.message : 'not a schema'}`,
    )
    return undefined
  }
}

const RULE_FIELDS = [
  'id',
  'allow',
  'deny',
  'require',
  'principal',
  'session',
  'door',
  'when',
  'because',
  'approvers',
  'expires',
] as const
type RuleFields = Partial<Record<(typeof RULE_FIELDS)[number], Place>>

const ACTIONS: readonly Action[] = ['allow', 'deny', 'require']
const RULE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/
const FIFTEEN_MINUTES = 900_000

/** Variables that a rung must be configured for, and whether it is. */
type Configured = Readonly<Record<string, boolean>>

// A rule that could never match would look as if it kept watch.
const DEAD: Readonly<Record<string, string>> = {
  labels:
    '`labels` is always empty without `gates.taint`, `gates.threat` or `gates.compliance`; configure one',
  trust: '`trust` never changes without `gates.trust`; configure it',
}

function configuredBy({ taint, threat, compliance, trust }: GateSettings): Configured {
  return { labels: (taint ?? threat ?? compliance) !== undefined, trust: trust !== undefined }
}

function readRules(reader: Reader, place: Place, configured: Configured): readonly Rule[] {
  const items = reader.items(place, '`rules`')
  if (items.length > MAX_RULES) reader.note(place, `more than ${MAX_RULES} rules; use \`*\` in names`)
  const conditions = conditionEnvironment(CONDITION_VARIABLES)
  const seen = new Set<string>()
  return items.slice(0, MAX_RULES).flatMap((item) => {
    const fields = reader.fields(item, RULE_FIELDS)
    if (!fields) return []
    const id = readId(reader, item, fields, seen)
    const action = readAction(reader, item, fields)
    if (action === undefined) return []
    const patterns = (...of: readonly [Place | undefined, string, string, string?]): Glob[] =>
      readNames(reader, ...of).map((name) => glob(name))
    return [
      {
        id,
        line: reader.line(item),
        action,
        tools: patterns(
          fields[action],
          `\`${action}\``,
          'the name of a tool',
          'names no tool; write `"*"` for all',
        ),
        principals: patterns(fields.principal, '`principal`', 'the name of a principal'),
        sessions: patterns(fields.session, '`session`', 'the name of a session'),
        doors: readDoors(reader, fields.door),
        when: fields.when && readCondition(reader, fields.when, conditions, configured),
        because: fields.because && readShort(reader, fields.because, '`because`', 500),
        approvers: readApprovers(reader, fields, action),
        expires: readExpiry(reader, fields, action),
      },
    ]
  })
}

function readId(reader: Reader, item: Place, { id }: RuleFields, seen: Set<string>): string {
  if (!id) {
    reader.note(item, 'the rule has no `id`; receipts name the rule that decided, so give it one')
    return ''
  }
  const name = reader.text(id, '`id`') ?? ''
  if (name !== '' && !RULE_ID.test(name)) {
    reader.note(id, 'an `id` is letters, digits, dot, dash and underscore, at most 100')
  }
  if (name === OBSERVE_RULE)
    reader.note(id, `\`${OBSERVE_RULE}\` is what observe mode is called in receipts; name the rule otherwise`)
  if (seen.has(name)) reader.note(id, `the id \`${name.slice(0, 100)}\` is taken; give each rule its own`)
  seen.add(name)
  return name
}

function readAction(reader: Reader, item: Place, fields: RuleFields): Action | undefined {
  const actions = ACTIONS.filter((action) => fields[action] !== undefined)
  if (actions.length === 1) return actions[0]
  reader.note(item, 'a rule has exactly one of `allow`, `deny`, `require`, each with the tools it is for')
  return undefined
}

function readDoors(reader: Reader, place: Place | undefined): readonly Door[] {
  if (!place) return []
  if (reader.isEmptyList(place)) reader.note(place, '`door` is an empty list; leave it out for any')
  return reader.texts(place, 'a door').flatMap((each) => {
    const door = reader.word(each.place, '`door`', DOORS)
    return door === undefined ? [] : [door]
  })
}

function readCondition(
  reader: Reader,
  place: Place,
  conditions: ReturnType<typeof conditionEnvironment>,
  configured: Configured,
): Condition | undefined {
  const source = reader.text(place, '`when`')
  if (source === undefined) return undefined
  const compiled = conditions.compile(source)
  if ('test' in compiled) {
    const dead = [...compiled.uses].find((name) => configured[name] === false)
    if (dead !== undefined) reader.note(place, DEAD[dead] ?? '')
    return compiled
  }
  // One further for the opening quote. In a folded text the place is only near.
  reader.note(place, `\`when\`: ${compiled.message}`, quoteLength(place) + compiled.offset)
  return undefined
}

function quoteLength({ node }: Place): number {
  const type = node && 'type' in node ? node.type : undefined
  return type === 'QUOTE_SINGLE' || type === 'QUOTE_DOUBLE' ? 1 : 0
}

function readApprovers(reader: Reader, { approvers }: RuleFields, action: Action): readonly string[] {
  if (approvers && action !== 'require') {
    reader.note(approvers, '`approvers` goes with `require`; remove it here')
  }
  return readNames(reader, approvers, '`approvers`', 'an approver')
}

function readExpiry(reader: Reader, { expires }: RuleFields, action: Action): number {
  if (!expires) return FIFTEEN_MINUTES
  if (action !== 'require') reader.note(expires, '`expires` goes with `require`; remove it here')
  return reader.duration(expires, '`expires`', 7 * DAY) ?? FIFTEEN_MINUTES
}

function readShort(reader: Reader, place: Place, what: string, most: number): string | undefined {
  const text = reader.text(place, what)
  if (text === undefined) return undefined
  if (text.length > most) reader.note(place, `${what} is longer than ${most} characters; shorten it`)
  if (hasControls(text))
    reader.note(place, `${what} has a control character; write it in one line, in quotes`)
  return text
}
