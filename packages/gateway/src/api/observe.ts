// Observe mode: where it is on, and switching it.

import { DOORS } from '@tollgate/evidence'
import { setObserve, type ObserveOrder } from '@tollgate/kernel/admin'
import { answered, json, kernelOf, textIn, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import { HASH, list, NAME, object, orNull, said, TIME, word } from './schema.ts'

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

/** Observe mode. */
export const observeRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/observe',
    id: 'listObserved',
    about: 'The doors and principals that observe mode is on for.',
    roles: ['operator', 'admin', 'auditor'],
    answers: answered('Where it is on; nowhere if the list is empty.', {
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
      'Switches observe mode on for a door or a principal, for at most a day, or off. While it is on, a call that no rule matches passes as ALLOW by the rule `observe`, unless it deletes, pays, administers, or goes to a host that `gates.egress.allow` does not name. Everything else binds as ever.',
    roles: ['admin'],
    body: {
      schema: object({
        scope: SCOPE,
        target: said(NAME, `A door (${DOORS.join(', ')}), or the whole name of a principal.`),
        seconds: said(
          orNull({ type: 'integer', minimum: 1, maximum: 86_400 }),
          'For how long; null switches it off.',
        ),
      }),
    },
    answers: answered('Recorded, and in force.', { receipt: HASH }),
    problems: ['ledger-unavailable'],
    answer: change,
  },
]
