// Routes to list, set and lift freezes.

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
  described,
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
    // Sound: only freeze receipts anchor these names, and every listed name has an anchor.
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
    throw new Problem('request-invalid', '`/target` is required for every scope except `all`')
  }
  if (scope === 'all' && identity.tenant !== kernel.tenant) {
    throw new Problem('role-forbidden', 'only the tenant that runs the gateway may freeze everything')
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

export const freezeRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/freeze',
    id: 'listFreezes',
    about: 'Lists the freezes in force.',
    roles: ['operator', 'admin', 'auditor'],
    answers: answered('The freezes.', { freezes: list(FROZEN) }),
    problems: ['gateway-needed'],
    answer: listFrozen,
  },
  {
    method: 'POST',
    path: '/v1/freeze',
    id: 'setFreeze',
    about: 'Sets or lifts a freeze. The change applies to every call that is decided afterwards.',
    roles: ['operator', 'admin'],
    body: {
      schema: object({
        scope: SCOPE,
        'target?': described(NAME, 'The principal, the tool, or the session id (of any principal).'),
        frozen: FLAG,
        'because?': SENTENCE,
      }),
    },
    answers: answered('Recorded, and in force.', { receipt: HASH }),
    problems: ['ledger-unavailable'],
    answer: change,
  },
]
