// The form of case files as a JSON Schema, for editors. What the reader refuses beyond it, it says with line and remedy.

import { DOORS, EFFECT_CLASSES, REASONS, LADDER_STEPS, VERDICTS, type JsonObject } from '@tollgate/evidence'

const TEXT: JsonObject = { type: 'string', minLength: 1 }
const DURATION: JsonObject = { type: 'string', pattern: '^[1-9][0-9]{0,5}[smhd]$' }
const MOMENT: JsonObject = {
  type: 'string',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2})?(Z|[+-]\\d{2}:\\d{2})$',
}

function about(description: string, schema: JsonObject): JsonObject {
  return { description, ...schema }
}

function record(
  properties: Readonly<Record<string, JsonObject>>,
  ...required: readonly string[]
): JsonObject {
  return { type: 'object', additionalProperties: false, properties, ...(required.length > 0 && { required }) }
}

function listOf(items: JsonObject): JsonObject {
  return { type: 'array', items }
}

function someOf(item: JsonObject): JsonObject {
  return { anyOf: [item, listOf(item)] }
}

const CONTEXT = record({ environment: TEXT, workspace: TEXT, tenant: TEXT })

const PAGE = record(
  {
    url: about('Address of the page.', TEXT),
    risk: about('What the Sentinel says of its risk; 0 if not given.', {
      type: 'number',
      minimum: 0,
      maximum: 100,
    }),
    findings: about('Codes of what the Sentinel found.', someOf(TEXT)),
    by: about('Who says so; the Sentinel if not given.', { enum: ['sentinel', 'agent'] }),
  },
  'url',
)

const BROWSER = record({
  page: about('The page as the Sentinel describes it.', PAGE),
  observation: about('An observation exactly as the call carries it, instead of `page`.', {}),
  planner_ref: TEXT,
  side_effect: {},
  destination: TEXT,
})

const CALL = record(
  {
    tool: about('Name of the tool, such as `fs/read_file`.', TEXT),
    args: about('Its arguments; none if not given.', {}),
    raw: about('Its arguments as JSON text, instead of `args`.', TEXT),
    principal: about('Whose credential it is.', TEXT),
    claims: about('Whom the call says it is from.', TEXT),
    session: TEXT,
    door: { enum: [...DOORS] },
    context: about('Where the call says it comes from.', CONTEXT),
    sources: about(
      'Texts that led to the call: what the user said, and what a tool or a page has said.',
      listOf({ ...record({ user: TEXT, output: TEXT }), minProperties: 1, maxProperties: 1 }),
    ),
    browser: about('What a browser call brings along.', BROWSER),
    delegation: about('A delegation, by the name that a step gave it.', TEXT),
  },
  'tool',
)

const EXPECT: JsonObject = {
  description: 'A verdict, then `by` a rule or `at` a rung, if that matters: `DENY at egress`. Or a mapping.',
  anyOf: [
    {
      type: 'string',
      pattern: `^(${VERDICTS.join('|')})( by [^ ]{1,100})?( at (${LADDER_STEPS.join('|')}))?$`,
    },
    record(
      {
        verdict: { enum: [...VERDICTS] },
        rule: about('Id of the rule that decides.', TEXT),
        rung: about('The rung that decides, or one of those that ask.', { enum: [...LADDER_STEPS] }),
        reason: { enum: Object.keys(REASONS) },
        detail: about('A part of what the caller is told.', TEXT),
      },
      'verdict',
    ),
  ],
}

const CALL_STEP: Readonly<Record<string, JsonObject>> = {
  call: about('The call that is judged.', CALL),
  expect: EXPECT,
  times: about('How often it is sent; once if not given.', { type: 'integer', minimum: 1, maximum: 1000 }),
  returns: about('What the tool answers if it runs.', {}),
  delivery: about('How much of that the agent may see.', { enum: ['full', 'redacted', 'withheld'] }),
  'cannot-approve': about('People or groups who may not say yes to it.', someOf(TEXT)),
  approve: about('Who says yes: then the same call is sent again, and must be allowed.', TEXT),
  refuse: about('Who says no: then the same call is sent again, and must be denied.', TEXT),
}

const FREEZE: JsonObject = {
  anyOf: [
    { const: 'all' },
    { ...record({ principal: TEXT, tool: TEXT, session: TEXT }), minProperties: 1, maxProperties: 1 },
  ],
}

const DELEGATE = record(
  {
    as: about('What the case calls it.', TEXT),
    from: about('Who delegates; has a `key` in the policy.', TEXT),
    to: TEXT,
    tools: someOf(TEXT),
    effects: someOf({ enum: [...EFFECT_CLASSES] }),
    lasts: DURATION,
    depth: { type: 'integer', minimum: 0, maximum: 8 },
    parent: TEXT,
    session: TEXT,
  },
  'as',
  'from',
  'to',
  'tools',
)

const STEP: JsonObject = {
  anyOf: [
    record(CALL_STEP, 'call', 'expect'),
    record({ after: about('Time passes.', DURATION) }, 'after'),
    record({ freeze: FREEZE }, 'freeze'),
    record({ unfreeze: FREEZE }, 'unfreeze'),
    record({ delegate: DELEGATE }, 'delegate'),
    record({ revoke: about('A delegation is taken back.', TEXT) }, 'revoke'),
  ],
}

const NAME = about('What the case shows, in a few words.', { ...TEXT, maxLength: 200 })

/** The form of a case file. */
export const CASE_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Cases of a Tollgate policy',
  ...record(
    {
      tollgate: about('The version of the format.', { const: 1 }),
      policy: about(
        'Path of the policy, from this file; `NAME.yaml` beside `NAME.test.yaml` if not given.',
        TEXT,
      ),
      defaults: about(
        'What holds for every call that does not say otherwise.',
        record({
          principal: TEXT,
          session: TEXT,
          door: { enum: [...DOORS] },
          context: CONTEXT,
          tenant: TEXT,
          at: about('When cases begin.', MOMENT),
        }),
      ),
      cases: {
        type: 'array',
        minItems: 1,
        maxItems: 10_000,
        items: {
          anyOf: [
            record({ name: NAME, at: MOMENT, ...CALL_STEP }, 'name', 'call', 'expect'),
            record(
              { name: NAME, at: MOMENT, steps: { ...listOf(STEP), minItems: 1, maxItems: 1000 } },
              'name',
              'steps',
            ),
          ],
        },
      },
    },
    'tollgate',
    'cases',
  ),
}
