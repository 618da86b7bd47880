// The route that proposes how the policy could always allow a waiting call. It changes nothing: an admin activates the proposal.

import { parseJson, type Decision } from '@tollgate/evidence'
import { policyOf } from '@tollgate/kernel'
import { inputName, inputOf } from '@tollgate/kernel/admin'
import { parsePolicy } from '@tollgate/kernel/policy'
import type { AlwaysProposal } from '../workbench/always.ts'
import { maySee } from './auth.ts'
import { Problem } from './problem.ts'
import { receiptOf } from './receipts.ts'
import { answered, json, kernelOf, type ApiQuestion, type ApiRoute, type Reply } from './route.ts'
import { COUNT, described, HASH, list, object, orNull, TEXT, type ApiSchema } from './schema.ts'

async function propose(question: ApiQuestion): Promise<Reply> {
  const { options, identity, params } = question
  const kernel = kernelOf(options)
  const id = params['id'] ?? ''
  const request = kernel.approvals.find({ id })
  const entry = request && maySee(identity, request) ? await options.view.find(id) : undefined
  if (!request || !entry) throw new Problem('not-found')
  const input = inputOf(request, await options.view.record(inputName(id)))
  if (request.answer !== null || input === undefined)
    throw new Problem('approval-refused', 'the request is answered, or its arguments are lost')
  const { hash, text } = policyOf(kernel, identity.tenant)
  const parsed = parsePolicy(text)
  if (!parsed.ok) throw new Problem('policy-invalid', 'the policy in force cannot be read')
  // Loaded only here: it has the generator of calls.
  const { escalatedCall, proposeAlways } = await import('../workbench/always.ts')
  // Sound: the id of a request is that of its decision.
  const decision = receiptOf(entry) as Decision
  const call = escalatedCall(id, decision, request.asks, parseJson(input))
  const proposal = proposeAlways(parsed.policy, call, Date.parse(decision.time))
  return json(200, shownProposal(proposal, text, hash))
}

function shownProposal(proposal: AlwaysProposal, before: string, replaces: string): object {
  if (!proposal.ok) return { why: proposal.why, remedy: proposal.remedy, edit: null }
  const { text, rule = null, hosts, tried, loosened, insertions } = proposal
  return {
    why: null,
    remedy: null,
    edit: {
      ...{ text, replaces, rule, hosts, tried },
      inserted: insertions.map(({ at, text: more }) => ({
        line: before.slice(0, at).split('\n').length,
        text: more,
      })),
      loosened: loosened.map(({ from, to, generated, cases }) => ({
        calls: generated + cases,
        from: `${from.verdict} by ${from.rule ?? from.rung}`,
        to: `${to.verdict} by ${to.rule ?? to.rung}`,
      })),
    },
  }
}

const EDIT: ApiSchema = object({
  text: described({ type: 'string' }, 'The complete changed policy.'),
  replaces: described(HASH, 'The hash of the policy that it was made from.'),
  rule: orNull(described(TEXT, 'The new rule; null if a rule allows the call already.')),
  hosts: described(list(TEXT), 'Hosts that then need no approval as a destination, for any call.'),
  inserted: list(object({ line: COUNT, text: TEXT }), 1000),
  tried: described(COUNT, 'The number of generated calls that were tried under both policies.'),
  loosened: described(
    list(object({ calls: COUNT, from: TEXT, to: TEXT })),
    'The calls that the change would allow in addition, in groups.',
  ),
})

export const alwaysRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/approvals/{id}/always',
    id: 'proposeAlways',
    about:
      'Proposes an edit of the policy that always allows exactly this waiting call, and tests it on generated calls. Changes nothing. An admin can activate the text with `POST /v1/policy`.',
    roles: ['operator', 'admin'],
    params: { id: HASH },
    answers: answered('The proposal, or why there is none.', {
      why: orNull(TEXT),
      remedy: orNull(TEXT),
      edit: orNull(EDIT),
    }),
    problems: ['approval-refused', 'policy-invalid', 'gateway-needed'],
    answer: propose,
  },
]
