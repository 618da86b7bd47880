// The route that explains how a call would be decided. It uses the same ladder, but writes no receipt and counts nothing.

import { DOORS, LADDER_STEPS, VERDICTS, type Door } from '@tollgate/evidence'
import { foresee } from '@tollgate/kernel/workbench'
import { BROWSER_PART, browserPartOf, CALL } from './evaluate.ts'
import { showExplanation } from './explained.ts'
import { answered, json, kernelOf, textIn, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import {
  COUNT,
  FLAG,
  list,
  NAME,
  object,
  orNull,
  described,
  SENTENCE,
  TEXT,
  word,
  type ApiSchema,
} from './schema.ts'

async function show(question: ApiQuestion): Promise<Reply> {
  const { options, identity, body } = question
  const { policy, explanation } = await foresee(kernelOf(options), {
    caller: { tenant: identity.tenant, principal: textIn(body, 'principal') },
    // Sound: the schema allows the doors only.
    door: (textIn(body, 'door') ?? 'http') as Door,
    assurance: 'advised',
    tool: body['tool'],
    args: body['arguments'],
    session_id: body['session_id'],
    delegation_session_id: body['delegation_session_id'],
    delegation: body['delegation'],
    sources: body['sources'],
    context: body['context'],
    browser: browserPartOf(body),
  })
  return json(200, showExplanation(explanation, policy.hash))
}

const MATCHES = [
  'matched',
  'other tool',
  'other principal',
  'other session',
  'other door',
  'condition is false',
  'condition failed',
] as const

const PART: ApiSchema = object(
  {
    depth: described(
      COUNT,
      'Nesting depth: 0 for the whole condition. Each part follows the part that contains it.',
    ),
    text: TEXT,
    truth: described(word('true', 'false', 'failed'), 'A condition that fails denies.'),
    joins: orNull(
      described(
        TEXT,
        '`all` if all of its parts must be true, `any` if one is enough; null if it has no parts.',
      ),
    ),
    fault: orNull(described(TEXT, 'Why it failed, without argument values.')),
    looks: list(
      object({
        name: TEXT,
        value: orNull(
          described(
            TEXT,
            'The value in the call, shortened. Null if the call does not contain such a value, or if the value is stored data of the principal.',
          ),
        ),
        missing: FLAG,
      }),
    ),
  },
  'A part of a condition.',
)

const RULE: ApiSchema = object({
  id: TEXT,
  line: COUNT,
  action: word('allow', 'deny', 'require'),
  because: orNull(TEXT),
  match: word(...MATCHES, 'not reached'),
  would: orNull(described(TEXT, 'The `match` that a rule would have if it were reached.')),
  fault: orNull(TEXT),
  parts: described(
    list(PART),
    'The parts of the condition if it is or would be false or failed. Only for the first 200 such rules.',
  ),
})

const STEP: ApiSchema = object({
  rung: word(...LADDER_STEPS),
  standing: word('active', 'not configured'),
  asked: described(
    FLAG,
    'Whether the ladder reaches this step. If not, the other members show what it would answer.',
  ),
  verdict: orNull(described(TEXT, 'ALLOW, DENY or ESCALATE; null if it does not object.')),
  reason_code: orNull(TEXT),
  detail: orNull(TEXT),
  rule: orNull(TEXT),
})

const OBSTACLE: ApiSchema = object({
  rung: word(...LADDER_STEPS),
  verdict: word('DENY', 'ESCALATE'),
  reason_code: TEXT,
  message: SENTENCE,
  remedy: SENTENCE,
  detail: orNull(TEXT),
  rule: orNull(described(TEXT, 'The rule that objects.')),
  approvers: described(list(TEXT), 'The approvers that the rule names, if it requires approval.'),
  goes: described(
    list(
      object({
        at: described(TEXT, 'JSON pointer of the argument.'),
        host: described(TEXT, 'Empty if the hostname cannot be parsed.'),
      }),
    ),
    'The first five destinations that are denied or need approval.',
  ),
  near: described(list(TEXT), 'Rules that would allow the call if they matched, closest first.'),
})

export const explainRoutes: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/v1/policy/explain',
    id: 'explainCall',
    about:
      'Explains how a call of a principal would be decided now: the answer of each step and each rule, and every objection. Nothing is recorded or counted. Existing approvals are ignored.',
    roles: ['operator', 'admin', 'auditor'],
    body: {
      schema: object({
        ...CALL,
        ...BROWSER_PART,
        tool: NAME,
        principal: described(NAME, 'The principal of the call.'),
        'door?': { ...word(...DOORS), default: 'http' },
      }),
    },
    answers: answered('The decision and its explanation.', {
      verdict: word(...VERDICTS),
      reason_code: TEXT,
      message: TEXT,
      remedy: TEXT,
      rung: word(...LADDER_STEPS),
      rule: orNull(TEXT),
      detail: orNull(TEXT),
      policy: TEXT,
      rungs: described(list(STEP), 'All steps, in the order of the ladder.'),
      rules: described(list(RULE), 'All rules, in order; empty if the call cannot be parsed.'),
      obstacles: described(list(OBSTACLE), 'All objections; empty if the call is allowed.'),
      relies: orNull(
        object(
          {
            rule: TEXT,
            next: orNull(described(TEXT, 'The rule that would decide if this one were removed.')),
          },
          'The rule that allows the call; null if the call is not allowed.',
        ),
      ),
    }),
    answer: show,
  },
]
