// Routes for operators to reset the risk of a session, close a session, and reset the trust of a principal.

import {
  closeSession,
  resetSession,
  resetTrust,
  type PardonOrder,
  type SessionPardon,
} from '@tollgate/kernel/admin'
import { lineageOf } from './lineage.ts'
import { Problem } from './problem.ts'
import { json, kernelOf, textIn, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import { HASH, NAME, object, described, SENTENCE } from './schema.ts'
import { recall } from './sessions.ts'

/** The operator and the reason. Both are stored permanently in the receipt. */
function personIn({ identity, body }: ApiQuestion): Pick<PardonOrder, 'tenant' | 'by' | 'because'> {
  return { tenant: identity.tenant, by: identity.principal, because: textIn(body, 'because') ?? '' }
}

async function sessionIn(question: ApiQuestion): Promise<SessionPardon> {
  const { options, identity, params, body } = question
  const { tenant } = identity
  const principal = textIn(body, 'principal') ?? ''
  const session = params['id'] ?? ''
  const known = await recall(question, { tenant, principal, session })
  if (!known) throw new Problem('not-found')
  const { delegation } = known.newest.decision
  const links = await lineageOf({ kernel: kernelOf(options), view: options.view, tenant }, delegation)
  const root = links.at(-1)?.delegator
  return { ...personIn(question), principal, session, ...(root !== undefined && { root }) }
}

async function reset(question: ApiQuestion): Promise<Reply> {
  const { id } = await resetSession(kernelOf(question.options), await sessionIn(question))
  return json(200, { receipt: id })
}

async function close(question: ApiQuestion): Promise<Reply> {
  const { id } = await closeSession(kernelOf(question.options), await sessionIn(question))
  return json(200, { receipt: id })
}

async function retrust(question: ApiQuestion): Promise<Reply> {
  const order = { ...personIn(question), principal: question.params['name'] ?? '' }
  const { id } = await resetTrust(kernelOf(question.options), order)
  return json(200, { receipt: id })
}

const BECAUSE = described(
  SENTENCE,
  'The reason. It is stored permanently in the receipt, so text that looks like a secret is refused.',
)
const OF_SESSION = {
  schema: object({ principal: described(NAME, 'The principal of the session.'), because: BECAUSE }),
}
const DONE = { 200: { about: 'Recorded, and in force.', schema: object({ receipt: HASH }) } }
const COMMON = { roles: ['operator', 'admin'], answers: DONE, problems: ['gateway-needed'] } as const

export const pardonRoutes: readonly ApiRoute[] = [
  {
    ...COMMON,
    method: 'POST',
    path: '/v1/sessions/{id}/reset',
    id: 'resetSession',
    about:
      'Resets the risk of a session, and removes its share from the risk of its principal and of the delegators. Data labels are kept.',
    params: { id: NAME },
    body: OF_SESSION,
    answer: reset,
  },
  {
    ...COMMON,
    method: 'POST',
    path: '/v1/sessions/{id}/close',
    id: 'closeSession',
    about: 'Closes a session and deletes its state. The risk of its principal is kept.',
    params: { id: NAME },
    body: OF_SESSION,
    answer: close,
  },
  {
    ...COMMON,
    method: 'POST',
    path: '/v1/principals/{name}/trust',
    id: 'resetTrust',
    about: 'Resets the trust of a principal to its initial value.',
    params: { name: NAME },
    body: { schema: object({ because: BECAUSE }) },
    answer: retrust,
  },
]
