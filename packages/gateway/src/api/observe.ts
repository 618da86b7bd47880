// Routes to show and switch observe mode.

import { DOORS } from '@tollgate/evidence'
import { setObserve, type ObserveOrder } from '@tollgate/kernel/admin'
import { answered, json, kernelOf, textIn, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import { HASH, list, NAME, object, orNull, described, TIME, word } from './schema.ts'

const SCOPE = word('door', 'principal')

function show({ options, identity }: ApiQuestion): Reply {
  const { observing, host } = kernelOf(options)
  const own = observing.list(host.now()).filter(({ tenant }) => tenant === identity.tenant)
  return json(200, {
    observed: own.map(({ scope, target, until }) => ({
      scope,
      target,
      until: new Date(until).toISOString(),
    })),
  })
}

async function change({ options, identity, body }: ApiQuestion): Promise<Reply> {
  const kernel = kernelOf(options)
  const seconds = body['seconds']
  const { id } = await setObserve(kernel, {
    // Sound: the schema allows these words only.
    scope: textIn(body, 'scope') as ObserveOrder['scope'],
    target: textIn(body, 'target') ?? '',
    tenant: identity.tenant,
    lasts: typeof seconds === 'number' ? seconds * 1000 : undefined,
    by: identity.principal,
  })
  return json(200, { receipt: id })
}

export const observeRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/observe',
    id: 'listObserved',
    about: 'Lists the doors and principals in observe mode.',
    roles: ['operator', 'admin', 'auditor'],
    answers: answered('The doors and principals. Empty if observe mode is off.', {
      observed: list(object({ scope: SCOPE, target: NAME, until: TIME })),
    }),
    problems: ['gateway-needed'],
    answer: show,
  },
  {
    method: 'POST',
    path: '/v1/observe',
    id: 'setObserve',
    about:
      'Switches observe mode on or off for a door or a principal, for at most one day. While observe mode is on, the gateway also allows a call that no rule matches, and records the rule `observe` for it. It does not allow a call of the effect class `delete`, `pay` or `admin`, and allows a call to a destination only if an entry of `gates.egress.allow` is exactly its host (`*`, `*.example.com` and networks do not count). All other checks apply as usual.',
    roles: ['admin'],
    body: {
      schema: object({
        scope: SCOPE,
        target: described(NAME, `A door (${DOORS.join(', ')}), or the full name of a principal.`),
        seconds: described(
          orNull({ type: 'integer', minimum: 1, maximum: 86_400 }),
          'The duration; null switches it off.',
        ),
      }),
    },
    answers: answered('Recorded, and in force.', { receipt: HASH }),
    problems: ['ledger-unavailable'],
    answer: change,
  },
]
