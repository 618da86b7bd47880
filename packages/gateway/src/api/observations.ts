// The route on which a Sentinel posts an observation of a page. A call can then refer to it.

import { postObservation } from '@tollgate/kernel'
import { OBSERVATION } from './evaluate.ts'
import { json, kernelOf, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import { HASH, object, described } from './schema.ts'

function post({ options, identity, body }: ApiQuestion): Reply {
  return json(201, { id: postObservation(kernelOf(options), identity.tenant, body) })
}

export const observationRoutes: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/v1/browser/observations',
    id: 'postObservation',
    about:
      'Posts the Sentinel’s observation of a page. One call on the same page can refer to it within ten seconds.',
    roles: ['sentinel'],
    body: { schema: OBSERVATION },
    answers: {
      201: {
        about: 'Stored.',
        schema: object({ id: described(HASH, 'The `observation_id` for the call.') }),
      },
    },
    answer: post,
  },
]
