// Whether the gateway is there, whether it can judge, and whose ledger this is.

import { parseReceipt, type Genesis } from '@tollgate/evidence'
import { GatewayError } from '../error.ts'
import { ROLES } from '../tokens.ts'
import type { LedgerView } from '../view.ts'
import { Problem } from './problem.ts'
import { answered, json, kernelOf, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import { COUNT, NAME, object, orNull, said, TEXT, TIME, word } from './schema.ts'

const WELL = object({ status: word('ok') })

/** The first receipt of a ledger, which names it. */
export async function genesisOf(view: LedgerView): Promise<Genesis> {
  const [envelope] = await view.envelopes(0, 1)
  const receipt = envelope && parseReceipt(envelope).receipt
  if (receipt?.kind === 'genesis') return receipt
  throw new Error('the ledger has no beginning')
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

/** Why, without where the data is: anybody may ask. */
function reasonIn({ message }: GatewayError): string {
  return message.replaceAll(/`[^`]*[/\\]([^`/\\]*)`/g, '`$1`')
}

/** Health and status. */
export const healthRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/status',
    id: 'showStatus',
    about: 'What runs here, on which ledger, and as whom the caller is known.',
    roles: 'any role',
    answers: answered('The status.', {
      version: TEXT,
      ledger: said(TEXT, 'The name of the ledger.'),
      size: said(COUNT, 'How many entries it has.'),
      poisoned: orNull(said(TEXT, 'Why nothing can be recorded any more.')),
      since: said(TIME, 'When the gateway was started.'),
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
    about: 'Whether the process answers.',
    roles: 'public',
    answers: { 200: { about: 'It does.', schema: WELL } },
    answer: () => json(200, { status: 'ok' }),
  },
  {
    method: 'GET',
    path: '/readyz',
    id: 'isReady',
    about: 'Whether calls can be judged: the ledger records.',
    roles: 'public',
    answers: { 200: { about: 'They can.', schema: WELL } },
    problems: ['ledger-unavailable', 'gateway-needed'],
    answer: ready,
  },
]
