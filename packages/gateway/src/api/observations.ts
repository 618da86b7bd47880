// What a Sentinel with a token of its own says of a page, for a call to refer to.

import { postObservation } from '@tollgate/kernel'
import { OBSERVATION } from './evaluate.ts'
import { json, kernelOf, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import { HASH, object, said } from './schema.ts'

function post({ options, identity, body }: ApiQuestion): Reply {
  return json(201, { id: postObservation(kernelOf(options), identity.tenant, body) })
}

/** Observations. */
export const observationRoutes: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/v1/browser/observations',
    id: 'postObservation',
    about:
      'Posts what the Sentinel sees of a page. One call may refer to it, within ten seconds, on the same page.',
    roles: ['sentinel'],
    body: { schema: OBSERVATION },
    answers: { 201: { about: 'Kept.', schema: object({ id: said(HASH, 'What the call refers to.') }) } },
    answer: post,
  },
]
