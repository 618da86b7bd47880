// The JSON Schema of case files, for editors. The reader checks more and reports it with line and remedy.

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
    url: about('The address of the page.', TEXT),
    risk: about('The risk that the Sentinel reports. Default: 0.', {
      type: 'number',
      minimum: 0,
      maximum: 100,
    }),
    findings: about('The finding codes that the Sentinel reports.', someOf(TEXT)),
    by: about('The source of the report. Default: the Sentinel.', { enum: ['sentinel', 'agent'] }),
  },
  'url',
)

const BROWSER = record({
  page: about('The page as the Sentinel reports it.', PAGE),
  observation: about('The exact observation in the call, instead of `page`.', {}),
  planner_ref: TEXT,
  side_effect: {},
  destination: TEXT,
})

const FILES = record({
  project: about('The directory that the agent works in. Default: /project.', TEXT),
  cwd: about('The working directory. Default: the project.', TEXT),
  home: about('The home directory. Default: /home/user.', TEXT),
  gate: about('Directories and files of the gateway.', someOf(TEXT)),
  links: about('The target of each link, by its path.', { type: 'object', additionalProperties: TEXT }),
})

const CALL = record(
  {
    tool: about('The name of the tool, such as `fs/read_file`.', TEXT),
    args: about('The arguments. Default: none.', {}),
    raw: about('The arguments as JSON text, instead of `args`.', TEXT),
    principal: about('The principal of the credential.', TEXT),
    claims: about('The principal that the call claims.', TEXT),
    session: TEXT,
    door: { enum: [...DOORS] },
    context: about('The context that the call claims.', CONTEXT),
    sources: about(
      'Texts that led to the call: of the user, or of a tool or page.',
      listOf({ ...record({ user: TEXT, output: TEXT }), minProperties: 1, maxProperties: 1 }),
    ),
    browser: about('The data of a browser call.', BROWSER),
    delegation: about('The name of a delegation from an earlier step.', TEXT),
    files: about('The files that the call can name. Without it the gateway does not see them.', FILES),
  },
  'tool',
)

const EXPECT: JsonObject = {
  description: 'A verdict, optionally with `by` a rule or `at` a step: `DENY at egress`. Or a mapping.',
  anyOf: [
    {
      type: 'string',
      pattern: `^(${VERDICTS.join('|')})( by [^ ]{1,100})?( at (${LADDER_STEPS.join('|')}))?$`,
    },
    record(
      {
        verdict: { enum: [...VERDICTS] },
        rule: about('The id of the rule that decides.', TEXT),
        rung: about('The step that decides, or one of those that escalate.', { enum: [...LADDER_STEPS] }),
        reason: { enum: Object.keys(REASONS) },
        detail: about('A part of the detail text.', TEXT),
      },
      'verdict',
    ),
  ],
}

const CALL_STEP: Readonly<Record<string, JsonObject>> = {
  call: about('The call to decide.', CALL),
  expect: EXPECT,
  times: about('How often it is sent. Default: once.', { type: 'integer', minimum: 1, maximum: 1000 }),
  returns: about('The result of the tool if it runs.', {}),
  delivery: about('Which part of the result is forwarded.', { enum: ['full', 'redacted', 'withheld'] }),
  'cannot-approve': about('People or groups who cannot approve it.', someOf(TEXT)),
  approve: about('The person who approves. The same call is then sent again and must be allowed.', TEXT),
  refuse: about('The person who denies. The same call is then sent again and must be denied.', TEXT),
}

const FREEZE: JsonObject = {
  anyOf: [
    { const: 'all' },
    { ...record({ principal: TEXT, tool: TEXT, session: TEXT }), minProperties: 1, maxProperties: 1 },
  ],
}

const DELEGATE = record(
  {
    as: about('Its name in this case.', TEXT),
    from: about('The delegator; it must have a `key` in the policy.', TEXT),
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
    record({ after: about('Advances the time.', DURATION) }, 'after'),
    record({ freeze: FREEZE }, 'freeze'),
    record({ unfreeze: FREEZE }, 'unfreeze'),
    record({ delegate: DELEGATE }, 'delegate'),
    record({ revoke: about('Revokes a delegation.', TEXT) }, 'revoke'),
  ],
}

const NAME = about('A short description of the case.', { ...TEXT, maxLength: 200 })

/** The schema of a case file. */
export const CASE_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Cases of a Tollgate policy',
  ...record(
    {
      tollgate: about('The version of the format.', { const: 1 }),
      policy: about(
        'The path of the policy, relative to this file. Default: `NAME.yaml` next to `NAME.test.yaml`.',
        TEXT,
      ),
      defaults: about(
        'Values for calls that do not set them.',
        record({
          principal: TEXT,
          session: TEXT,
          door: { enum: [...DOORS] },
          context: CONTEXT,
          tenant: TEXT,
          at: about('The start time of cases.', MOMENT),
          files: FILES,
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
