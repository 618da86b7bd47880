// What is frozen, and freezing: the stop button of the gateway.

import { parseJson, type Freeze } from '@tollgate/evidence'
import { setFreeze, type FreezeOrder } from '@tollgate/kernel/admin'
import { Problem } from './problem.ts'
import { answered, json, kernelOf, textIn, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import {
  FLAG,
  HASH,
  list,
  NAME,
  object,
  orNull,
  said,
  SENTENCE,
  TEXT,
  TIME,
  word,
  type ApiSchema,
} from './schema.ts'

const SCOPE = word('all', 'principal', 'tool', 'session')

const FROZEN: ApiSchema = object({
  scope: SCOPE,
  target: orNull(TEXT),
  tenant: NAME,
  by: NAME,
  because: orNull(TEXT),
  since: TIME,
})

async function listFrozen({ options, identity }: ApiQuestion): Promise<Reply> {
  const { store } = kernelOf(options)
  const stored = await store.load(await store.list('freeze\n', 'anchors'))
  const freezes = stored
    // Sound: only freeze receipts anchor such names, and an anchor is there because it was listed.
    .map(({ anchor }) => parseJson(anchor ?? '') as unknown as Freeze)
    .filter(({ frozen, scope, tenant }) => frozen && (scope === 'all' || tenant === identity.tenant))
    .map(({ scope, target = null, tenant, by, because = null, time: since }) => ({
      ...{ scope, target, tenant, by, because, since },
    }))
  return json(200, { freezes })
}

async function change({ options, identity, body }: ApiQuestion): Promise<Reply> {
  const kernel = kernelOf(options)
  // Sound: the schema allows these words only.
  const scope = textIn(body, 'scope') as FreezeOrder['scope']
  const target = textIn(body, 'target')
  const because = textIn(body, 'because')
  if ((scope === 'all') !== (target === undefined)) {
    throw new Problem('request-invalid', '`/target` belongs to every scope but `all`')
  }
  if (scope === 'all' && identity.tenant !== kernel.tenant) {
    throw new Problem('role-forbidden', 'only the tenant that runs the gateway may freeze all of it')
  }
  const { id } = await setFreeze(kernel, {
    scope,
    tenant: identity.tenant,
    frozen: body['frozen'] === true,
    by: identity.principal,
    ...(target !== undefined && { target }),
    ...(because !== undefined && { because }),
  })
  return json(200, { receipt: id })
}

/** Freezes. */
export const freezeRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/freeze',
    id: 'listFreezes',
    about: 'What is frozen.',
    roles: ['operator', 'admin', 'auditor'],
    answers: answered('The freezes in force.', { freezes: list(FROZEN) }),
    problems: ['gateway-needed'],
    answer: listFrozen,
  },
  {
    method: 'POST',
    path: '/v1/freeze',
    id: 'setFreeze',
    about: 'Freezes, or lifts a freeze. It is in force for every call that is decided after it.',
    roles: ['operator', 'admin'],
    body: {
      schema: object({
        scope: SCOPE,
        'target?': said(NAME, 'The principal, the tool, or the id of the session (of whichever principal).'),
        frozen: FLAG,
        'because?': SENTENCE,
      }),
    },
    answers: answered('Recorded, and in force.', { receipt: HASH }),
    problems: ['ledger-unavailable'],
    answer: change,
  },
]
