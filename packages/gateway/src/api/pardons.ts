// What operators lift: the risk of a session, all that is remembered of one, a principal's loss of trust.

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
import { HASH, NAME, object, said, SENTENCE } from './schema.ts'
import { recall } from './sessions.ts'

/** Who asks, and why: on the record for good. */
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

const BECAUSE = said(SENTENCE, 'Why: it is in the receipt, for good. What looks like a secret is refused.')
const OF_SESSION = { schema: object({ principal: said(NAME, 'Whose session.'), because: BECAUSE }) }
const DONE = { 200: { about: 'Recorded, and in force.', schema: object({ receipt: HASH }) } }
const COMMON = { roles: ['operator', 'admin'], answers: DONE, problems: ['gateway-needed'] } as const

/** What operators lift. */
export const pardonRoutes: readonly ApiRoute[] = [
  {
    ...COMMON,
    method: 'POST',
    path: '/v1/sessions/{id}/reset',
    id: 'resetSession',
    about:
      'Takes the risk from a session, and its share from the risk of its principal and of who that works for. What was read in it stays labelled.',
    params: { id: NAME },
    body: OF_SESSION,
    answer: reset,
  },
  {
    ...COMMON,
    method: 'POST',
    path: '/v1/sessions/{id}/close',
    id: 'closeSession',
    about: 'Closes a session: all that is remembered of it goes. Its principal keeps its own risk.',
    params: { id: NAME },
    body: OF_SESSION,
    answer: close,
  },
  {
    ...COMMON,
    method: 'POST',
    path: '/v1/principals/{name}/trust',
    id: 'resetTrust',
    about: 'Sets the trust of a principal back to where it began.',
    params: { name: NAME },
    body: { schema: object({ because: BECAUSE }) },
    answer: retrust,
  },
]
