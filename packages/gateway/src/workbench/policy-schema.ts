// The JSON Schema of policy files, for editors: completion, help and a first check. The parser of the kernel decides.

import type { JsonObject } from '@tollgate/evidence'
import { GATE_PARTS, GATES } from './policy-schema-gates.ts'
import {
  about,
  DOOR,
  DURATION,
  EFFECT,
  examples,
  LABELS,
  mapping,
  NAME,
  NAMES,
  oneOrMore,
  part,
  PATHS,
  REASON,
  record,
  RULE_ID,
  TEXT,
  TIER,
  TRUE_OR_FALSE,
  words,
} from './policy-schema-parts.ts'

const CONTEXT = record('Context', 'What calls the policy is for; a list that is left out means any.', {
  environments: about('Environments.', NAMES),
  tenants: about('Tenants.', NAMES),
  workspaces: about('Workspaces.', NAMES),
})

const PRINCIPAL = record(
  'Principal',
  'How far a principal is trusted.',
  {
    tier: about('What it may do, with `gates.privilege`.', TIER),
    key: about('The Ed25519 public key that signs its delegations, in base64.', {
      type: 'string',
      pattern: '^[A-Za-z0-9+/]{43}=$',
    }),
    'delegate-only': about('It acts only for others.', TRUE_OR_FALSE),
  },
  { required: ['tier'], ...examples({ tier: 'standard' }) },
)

const TOOL = record('Tool', 'What a tool does. What is left out counts as the strictest.', {
  effect: about('The class of its effect; `admin` if left out.', EFFECT),
  sinks: about('Paths of arguments whose values have consequences.', PATHS),
  destinations: about('Paths of arguments that say where data goes; `none` if it reaches no network.', PATHS),
  returns: about('Labels that what comes back carries.', LABELS),
  takes: mapping('Takes', 'Labels that arguments carry, by path; `*` for every call.', LABELS, NAME),
  cost: about('Units that a call costs, or the path of the argument that says them.', {
    anyOf: [{ type: 'number', minimum: 0, maximum: 1_000_000_000 }, NAME],
  }),
  commit: about('`salted`: hashes of its arguments cannot be guessed.', words(['plain', 'salted'], 'plain')),
  browser: about('It acts in a browser.', TRUE_OR_FALSE),
  schema: about('The JSON Schema of its arguments.', { type: 'object', additionalProperties: true }),
})

const TOOL_NAMES = { ...NAMES, ...examples('fs/read_file', 'fs/*', ['mail/send', 'crm/*']) }

const RULE = record(
  'Rule',
  'One rule: exactly one of `allow`, `deny` and `require`, with the tools it is for.',
  {
    id: about('Its name, which stands in receipts.', { ...RULE_ID, not: { const: 'observe' } }),
    allow: about('Lets calls of these tools pass. `*` stands for any characters.', TOOL_NAMES),
    deny: about('Refuses calls of these tools.', TOOL_NAMES),
    require: about('Asks a person before calls of these tools.', TOOL_NAMES),
    principal: about('Only for these principals.', NAMES),
    session: about('Only for these sessions.', NAMES),
    door: about('Only through these doors.', oneOrMore(DOOR)),
    when: about('A condition in CEL. One that fails denies.', {
      type: 'string',
      minLength: 1,
      maxLength: 4096,
      ...examples('args.amount > 100.0', 'destinations.all(d, d.host == "example.com")', 'risk > 0.3'),
    }),
    because: about('Why, for whoever is denied.', REASON),
    approvers: about('Who may answer: people, or groups of their tokens. Left out, any operator.', NAMES),
    expires: about('How long a request waits and an answer holds: 15m if left out, at most 7d.', DURATION),
  },
  {
    required: ['id'],
    oneOf: [{ required: ['allow'] }, { required: ['deny'] }, { required: ['require'] }],
    dependentRequired: { approvers: ['require'], expires: ['require'] },
    ...examples({ id: 'reading', allow: 'fs/read_file' }),
  },
)

/** The schema of a policy file, draft 2020-12. */
export const POLICY_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...record(
    'Tollgate policy',
    'Who may do what. The rules are asked in order, the first that fits decides, and if none fits the call is denied.',
    {
      tollgate: about('The version of the format.', { const: 1 }),
      name: about('What the policy is called.', { ...TEXT, maxLength: 200 }),
      context: CONTEXT,
      principals: mapping(
        'Principals',
        'How far principals are trusted, by name or pattern; the first that fits counts.',
        part('principal'),
        NAME,
      ),
      tools: {
        ...mapping('Tools', 'The catalogue: which tools exist, and what they do.', part('tool'), NAME),
        maxProperties: 10_000,
      },
      rules: about('The rules, in order. Only they allow.', {
        type: 'array',
        items: part('rule'),
        maxItems: 10_000,
      }),
      approvals: record('Approvals', 'What is asked of answers of people.', {
        reason: about(
          '`required`: an answer without a reason is not accepted.',
          words(['optional', 'required'], 'optional'),
        ),
      }),
      gates: GATES,
    },
    { required: ['tollgate', 'name', 'rules'] },
  ),
  $defs: { principal: PRINCIPAL, tool: TOOL, rule: RULE, ...GATE_PARTS },
}

/** The schema as it is published. */
export function policySchemaText(): string {
  return `${JSON.stringify(POLICY_SCHEMA, null, 2)}\n`
}
