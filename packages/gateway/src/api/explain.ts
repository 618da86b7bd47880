// Why a call would be judged as it would: the same ladder, without a receipt and without being counted.

import { DOORS, LADDER_STEPS, VERDICTS, type Door } from '@tollgate/evidence'
import { foresee } from '@tollgate/kernel/workbench'
import { CALL } from './evaluate.ts'
import { showExplanation } from './explained.ts'
import { answered, json, kernelOf, textIn, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import {
  COUNT,
  FLAG,
  list,
  NAME,
  object,
  orNull,
  said,
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
    depth: said(
      COUNT,
      'How deep it lies: 0 for the whole condition, and each part right after what it is a part of.',
    ),
    text: TEXT,
    truth: said(word('true', 'false', 'failed'), 'A condition that fails denies.'),
    joins: orNull(
      said(TEXT, '`all` if all of its parts must hold, `any` if one is enough; null if it has none.'),
    ),
    fault: orNull(said(TEXT, 'Why it failed, without any value.')),
    looks: list(
      object({
        name: TEXT,
        value: orNull(
          said(TEXT, 'Shortened; null if the call does not have it, or it is not the call that says it.'),
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
  would: orNull(said(TEXT, 'What a rule that was not reached would say, in the words of `match`.')),
  fault: orNull(TEXT),
  parts: said(
    list(PART),
    'The condition, if it is false or failed, or would be; of the first 200 such rules.',
  ),
})

const STEP: ApiSchema = object({
  rung: word(...LADDER_STEPS),
  standing: word('active', 'not configured'),
  asked: said(FLAG, 'Whether the ladder comes to it. If not, the rest is what it would say.'),
  verdict: orNull(said(TEXT, 'ALLOW, DENY or ESCALATE; null if it does not object.')),
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
  rule: orNull(said(TEXT, 'The rule that objects.')),
  approvers: said(list(TEXT), 'Who may approve, if a rule asks for it and says who.'),
  goes: said(
    list(
      object({
        at: said(TEXT, 'JSON pointer of the argument.'),
        host: said(TEXT, 'Empty if it cannot be read.'),
      }),
    ),
    'Where data would go that must not, or not without a person: the first five.',
  ),
  near: said(list(TEXT), 'Rules that would let it pass if they matched, the nearest first.'),
})

/** Explanations. */
export const explainRoutes: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/v1/policy/explain',
    id: 'explainCall',
    about:
      'How a call of a principal would be judged now: what each rung and each rule says to it, and what stands in its way. Nothing is recorded or counted; an approval that waits or was granted is not looked at.',
    roles: ['operator', 'admin', 'auditor'],
    body: {
      schema: object({
        ...CALL,
        tool: NAME,
        principal: said(NAME, 'Who would call.'),
        'door?': { ...word(...DOORS), default: 'http' },
      }),
    },
    answers: answered('What would be decided, and why.', {
      verdict: word(...VERDICTS),
      reason_code: TEXT,
      message: TEXT,
      remedy: TEXT,
      rung: word(...LADDER_STEPS),
      rule: orNull(TEXT),
      detail: orNull(TEXT),
      policy: TEXT,
      rungs: said(list(STEP), 'Every rung, in the order of the ladder.'),
      rules: said(list(RULE), 'Every rule, in its order; none if the call cannot be read.'),
      obstacles: said(list(OBSTACLE), 'Everything between the call and an ALLOW; empty if it is allowed.'),
      relies: orNull(
        object(
          { rule: TEXT, next: orNull(said(TEXT, 'The rule that would decide without it.')) },
          'What an ALLOW rests on; null if it is none.',
        ),
      ),
    }),
    answer: show,
  },
]
