// Parses a policy file. It reports all mistakes at once, each with a line and a remedy.

import { sha256Hex, type JsonObject } from '@tollgate/evidence/core'
import { readNames, readShort } from '../reader/names.ts'
import { about, keysOf, mapping, NAME, NAMES, part, record, TEXT, words } from '../reader/schema.ts'
import type { Quoted } from '../reader/section.ts'
import type { PolicyUses } from '../uses.ts'
import { PRINCIPAL, readPrincipals, type PrincipalDeclaration } from './principals.ts'
import { firstMistakes, readYaml, type Mistake, type Place, type Reader } from '../reader/read.ts'
import { MAX_RULES, readRules, RULE, type Rule } from './rules.ts'
import { GATE_PARTS, GATE_SECTIONS, GATES, readGates, type GateSettings, usesOf } from './settings.ts'
import { MAX_TOOLS, readTools, TOOL, type ToolDeclaration } from './tools.ts'

export { CONDITION_VARIABLES, type Action, type Rule } from './rules.ts'
export type { ToolDeclaration } from './tools.ts'

/** The calls that the policy applies to; an empty list means any. */
export interface PolicyContext {
  readonly environments: readonly string[]
  readonly tenants: readonly string[]
  readonly workspaces: readonly string[]
}

/** The settings for answers of people. */
interface ApprovalSettings {
  /** `required`: an answer without a reason is refused. */
  readonly reason: 'optional' | 'required'
}

/** The settings for tools that run at the model provider. */
interface ProviderToolSettings {
  /** `remove`: a tool that the policy does not declare is removed from a request to a model. `refuse`: the request is refused. */
  readonly undeclared: 'refuse' | 'remove'
}

/** A policy: ordered rules, which alone allow calls, and the settings of the gates. */
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
  readonly providerTools: ProviderToolSettings
  readonly gates: GateSettings
  readonly uses: PolicyUses
}

/** The result of parsing a policy. */
export type ParsedPolicy =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly mistakes: readonly Mistake[] }

const CONTEXT = record('Context', 'The calls that the policy applies to. A missing list means any.', {
  environments: about('Environments.', NAMES),
  tenants: about('Tenants.', NAMES),
  workspaces: about('Workspaces.', NAMES),
})

const REASONS = ['optional', 'required'] as const

const APPROVALS = record('Approvals', 'Settings for the answers of approvers.', {
  reason: about('`required`: an answer without a reason is refused.', words(REASONS, 'optional')),
})

const UNDECLARED = ['refuse', 'remove'] as const

const PROVIDER_TOOLS = record('Provider tools', 'Settings for tools that run at the model provider.', {
  undeclared: about(
    '`remove`: a tool that is not declared is removed from a request to a model, and the DENY is recorded. `refuse`: the request is refused.',
    words(UNDECLARED, 'refuse'),
  ),
})

const FIELDS = record(
  'Tollgate policy',
  'The rules are evaluated in order. The first match decides. Without a match the call is denied.',
  {
    tollgate: about('The version of the format.', { const: 1 }),
    name: about('The name of the policy.', { ...TEXT, maxLength: 200 }),
    context: CONTEXT,
    principals: mapping(
      'Principals',
      'The trust of principals, by name or pattern; the first match counts.',
      part('principal'),
      NAME,
    ),
    tools: {
      ...mapping('Tools', 'The catalogue: the known tools and their effects.', part('tool'), NAME),
      maxProperties: MAX_TOOLS,
    },
    rules: about('The rules, in order. Only rules allow calls.', {
      type: 'array',
      items: part('rule'),
      maxItems: MAX_RULES,
    }),
    approvals: APPROVALS,
    'provider-tools': PROVIDER_TOOLS,
    gates: GATES,
  },
  { required: ['tollgate', 'name', 'rules'] },
)

/** The JSON Schema of a policy file for editors, draft 2020-12. It accepts some mistakes that `parsePolicy` reports. */
export const POLICY_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...FIELDS,
  $defs: { principal: PRINCIPAL, tool: TOOL, rule: RULE, ...GATE_PARTS },
}

const gatePaths = (of: keyof Quoted): readonly string[] =>
  GATE_SECTIONS.flatMap(([, { name, quoted }]) => (quoted?.[of] ?? []).map((path) => `gates.${name}.${path}`))

/** The quoted texts of a policy file. */
export const POLICY_QUOTED: Required<Quoted> = {
  keys: ['principals', 'tools', ...gatePaths('keys')],
  texts: [
    ...['allow', 'deny', 'require', 'principal', 'session', 'when'].map((name) => `rules.${name}`),
    ...gatePaths('texts'),
  ],
}

/** Parses a policy. Never throws: it returns the mistakes, at least the first hundred. */
export function parsePolicy(text: string): ParsedPolicy {
  const reader = readYaml(text)
  const policy = reader.mistakes.length === 0 ? readPolicy(reader, text) : undefined
  if (policy && reader.mistakes.length === 0) return { ok: true, policy }
  return { ok: false, mistakes: firstMistakes(reader.mistakes) }
}

function readPolicy(reader: Reader, text: string): Policy | undefined {
  const fields = reader.fields(reader.root, keysOf(FIELDS))
  if (!fields) return undefined
  const { root } = reader
  if (fields.tollgate) reader.number(fields.tollgate, '`tollgate`, the version of the format,', 1, 1)
  else reader.note(root, '`tollgate: 1` is missing; write it in the first line')
  if (!fields.name) reader.note(root, '`name` is missing; give the policy a name')
  if (!fields.rules) reader.note(root, '`rules` is missing; without a rule every call is denied')
  const gates = readGates(reader, fields.gates)
  const uses = usesOf(gates)
  const configured = { labels: uses.data, trust: gates.trust !== undefined }
  return {
    name: (fields.name && readShort(reader, fields.name, '`name`', 200)) ?? '',
    text,
    hash: sha256Hex(text),
    context: readContext(reader, fields.context),
    principals: fields.principals ? readPrincipals(reader, fields.principals) : [],
    tools: fields.tools ? readTools(reader, fields.tools) : [],
    rules: fields.rules ? readRules(reader, fields.rules, configured) : [],
    approvals: readApprovals(reader, fields.approvals),
    providerTools: readProviderTools(reader, fields['provider-tools']),
    gates,
    uses,
  }
}

function readApprovals(reader: Reader, place: Place | undefined): ApprovalSettings {
  const { reason } = (place && reader.fields(place, keysOf(APPROVALS))) ?? {}
  return { reason: (reason && reader.word(reason, '`reason`', REASONS)) ?? 'optional' }
}

function readProviderTools(reader: Reader, place: Place | undefined): ProviderToolSettings {
  const { undeclared } = (place && reader.fields(place, keysOf(PROVIDER_TOOLS))) ?? {}
  return { undeclared: (undeclared && reader.word(undeclared, '`undeclared`', UNDECLARED)) ?? 'refuse' }
}

function readContext(reader: Reader, place: Place | undefined): PolicyContext {
  const fields = place && reader.fields(place, keysOf(CONTEXT))
  return {
    environments: readNames(reader, fields?.environments, '`environments`', 'an environment'),
    tenants: readNames(reader, fields?.tenants, '`tenants`', 'a tenant'),
    workspaces: readNames(reader, fields?.workspaces, '`workspaces`', 'a workspace'),
  }
}
