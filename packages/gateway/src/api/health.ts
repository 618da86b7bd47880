// Routes for health checks and status.

import { parseReceipt, type Genesis } from '@tollgate/evidence'
import { GatewayError } from '../error.ts'
import { ROLES } from '../tokens.ts'
import type { LedgerView } from '../view.ts'
import { Problem } from './problem.ts'
import { answered, json, kernelOf, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import { COUNT, NAME, object, orNull, described, TEXT, TIME, word } from './schema.ts'

const WELL = object({ status: word('ok') })

/** The genesis receipt of a ledger. */
export async function genesisOf(view: LedgerView): Promise<Genesis> {
  const [envelope] = await view.envelopes(0, 1)
  const receipt = envelope && parseReceipt(envelope).receipt
  if (receipt?.kind === 'genesis') return receipt
  throw new Error('the ledger has no genesis receipt')
}

async function status({ options, identity, metrics }: ApiQuestion): Promise<Reply> {
  const { version, view, kernel } = options
  const { ledger } = await genesisOf(view)
  return json(200, {
    version,
    ledger,
    size: await view.size(),
    poisoned: kernel?.ledger.poisoned ?? null,
    since: metrics.since,
    tenant: identity.tenant,
    principal: identity.principal,
    role: identity.role,
  })
}

function ready({ options }: ApiQuestion): Reply {
  const { poisoned, cause } = kernelOf(options).ledger
  if (poisoned === undefined) return json(200, { status: 'ok' })
  throw new Problem('ledger-unavailable', cause instanceof GatewayError ? reasonIn(cause) : undefined)
}

/** The cause without directories, because the route is public. */
function reasonIn({ message }: GatewayError): string {
  return message.replaceAll(/`[^`]*[/\\]([^`/\\]*)`/g, '`$1`')
}

export const healthRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/status',
    id: 'showStatus',
    about: 'Returns the version, the ledger and the identity of the caller.',
    roles: 'any role',
    answers: answered('The status.', {
      version: TEXT,
      ledger: described(TEXT, 'The name of the ledger.'),
      size: described(COUNT, 'The number of entries.'),
      poisoned: orNull(described(TEXT, 'Why the ledger is poisoned; null if it is not.')),
      since: described(TIME, 'The start time of the gateway.'),
      tenant: NAME,
      principal: NAME,
      role: word(...ROLES),
    }),
    answer: status,
  },
  {
    method: 'GET',
    path: '/healthz',
    id: 'isAlive',
    about: 'Reports whether the process responds.',
    roles: 'public',
    answers: { 200: { about: 'The process responds.', schema: WELL } },
    answer: () => json(200, { status: 'ok' }),
  },
  {
    method: 'GET',
    path: '/readyz',
    id: 'isReady',
    about: 'Reports whether calls can be decided and recorded.',
    roles: 'public',
    answers: { 200: { about: 'The gateway is ready.', schema: WELL } },
    problems: ['ledger-unavailable', 'gateway-needed'],
    answer: ready,
  },
]
