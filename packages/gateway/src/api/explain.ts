// Why a call would be judged as it would: the same ladder, without a receipt and without being counted.

import { DOORS, reasonOf, RUNGS, VERDICTS, type Door } from '@tollgate/evidence'
import { foresee, type Explained } from '@tollgate/kernel'
import { CALL } from './evaluate.ts'
import { json, kernelOf, textIn, type Question, type Reply, type Route } from './route.ts'
import { COUNT, list, NAME, object, orNull, said, TEXT, word } from './schema.ts'

async function show(question: Question): Promise<Reply> {
  const { options, identity, body } = question
  const { policy, judgement, rules } = await foresee(kernelOf(options), {
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
  const { verdict, reason, rung, rule, detail } = judgement
  return json(200, {
    verdict,
    reason_code: reason,
    message: reasonOf(reason)?.sentence ?? '',
    remedy: reasonOf(reason)?.remedy ?? '',
    rung,
    rule: rule?.id ?? null,
    detail: detail ?? null,
    policy: policy.hash,
    rules: rules.map(ruleOf),
  })
}

function ruleOf({ rule, match, fault }: Explained): Readonly<Record<string, unknown>> {
  const { id, line, action, because } = rule
  return { id, line, action, because: because ?? null, match, fault: fault ?? null }
}

/** Explanations. */
export const explainRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/policy/explain',
    id: 'explainCall',
    about:
      'How a call of a principal would be judged now, and what each rule says to it. Nothing is recorded or counted; an approval that waits or was granted is not looked at.',
    roles: ['operator', 'admin', 'auditor'],
    body: {
      schema: object({
        ...CALL,
        tool: NAME,
        principal: said(NAME, 'Who would call.'),
        'delegation_session_id?': NAME,
        'door?': { ...word(...DOORS), default: 'http' },
      }),
    },
    answers: {
      200: {
        about: 'What would be decided, and why.',
        schema: object({
          verdict: word(...VERDICTS),
          reason_code: TEXT,
          message: TEXT,
          remedy: TEXT,
          rung: word(...RUNGS),
          rule: orNull(TEXT),
          detail: orNull(TEXT),
          policy: TEXT,
          rules: list(
            object({
              id: TEXT,
              line: COUNT,
              action: word('allow', 'deny', 'require'),
              because: orNull(TEXT),
              match: word(
                'matched',
                'other tool',
                'other principal',
                'other session',
                'other door',
                'condition is false',
                'condition failed',
                'not reached',
              ),
              fault: orNull(TEXT),
            }),
          ),
        }),
      },
    },
    answer: show,
  },
]
