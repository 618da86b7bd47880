// Routes to register, show and revoke delegations. Every call checks again what its delegation permits.

import { canonicalize, EFFECT_CLASSES, openDelegation, type JsonObject } from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import {
  chainOf,
  registerDelegation,
  revokeDelegation,
  type RegisteredDelegation,
} from '@tollgate/kernel/admin'
import type { Identity } from '../tokens.ts'
import { LINEAGE, lineageOf } from './lineage.ts'
import { Problem } from './problem.ts'
import { READERS } from './receipts.ts'
import { answered, json, kernelOf, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import {
  COUNT,
  HASH,
  list,
  NAME,
  object,
  orNull,
  described,
  TEXT,
  TIME,
  word,
  type ApiSchema,
} from './schema.ts'

const STATUSES = ['in force', 'revoked', 'ended'] as const

const DELEGATION: Readonly<Record<string, ApiSchema>> = {
  id: described(
    HASH,
    'SHA-256 of the signed statement. A call names the delegation with this id, as `delegation`.',
  ),
  delegator: NAME,
  delegate: NAME,
  tools: described(list(TEXT), 'Tool names, exact or with `*`.'),
  effects: orNull(
    described(list(word(...EFFECT_CLASSES)), 'The effect classes that the delegation covers; null for all.'),
  ),
  session: orNull(described(NAME, 'The only session in which the delegation is valid; null for any.')),
  until: TIME,
  depth: described(COUNT, 'How many levels of further delegation are possible.'),
  parent: orNull(described(HASH, 'The delegation that it is derived from.')),
  standing: described(
    word(...STATUSES),
    'Whether this delegation and all delegations above it are in force. A call can still be denied, for example if a delegator is frozen or has a new key.',
  ),
  receipt: described(HASH, 'The newest receipt about this delegation.'),
}

async function register({ options, identity, body }: ApiQuestion): Promise<Reply> {
  const kernel = kernelOf(options)
  const envelope = envelopeIn(body)
  if (identity.role === 'agent') await refuseOthers(envelope, identity)
  const { tenant, principal } = identity
  const { id: receipt, delegation } = await registerDelegation(kernel, envelope, {
    tenant,
    by: principal,
    limited: identity.role === 'agent',
  })
  return json(201, { delegation, receipt })
}

/** The text of the envelope. An envelope has only one valid encoding, so an object is encoded canonically. */
function envelopeIn({ envelope = '' }: JsonObject): string {
  return typeof envelope === 'string' ? envelope.trim() : canonicalize(envelope)
}

/** An agent may register only delegations that it is part of. Later checks report an invalid signature. */
async function refuseOthers(envelope: string, { principal }: Identity): Promise<void> {
  try {
    await openDelegation(envelope, ({ delegator, delegate }) => {
      if (delegator === principal || delegate === principal) return undefined
      throw new Problem('role-forbidden', 'the delegation is between others', {
        remedy: 'Its delegator, its delegate or an operator must register it.',
      })
    })
  } catch (fault) {
    if (fault instanceof Problem) throw fault
  }
}

function listAll({ options, identity }: ApiQuestion): Reply {
  const kernel = kernelOf(options)
  const all = kernel.delegations.list(identity.tenant).filter((each) => concerns(each, identity))
  return json(200, { delegations: all.map((each) => shown(kernel, each)) })
}

async function show({ options, identity, params }: ApiQuestion): Promise<Reply> {
  const kernel = kernelOf(options)
  const found = find(kernel, identity, params['id'] ?? '')
  const where = { kernel, view: options.view, tenant: identity.tenant }
  return json(200, { ...shown(kernel, found), lineage: await lineageOf(where, found.id) })
}

async function revoke({ options, identity, params }: ApiQuestion): Promise<Reply> {
  const kernel = kernelOf(options)
  const { id, statement } = find(kernel, identity, params['id'] ?? '')
  const { tenant, principal, role } = identity
  if (role === 'agent' && statement.delegator !== principal) {
    throw new Problem('role-forbidden', 'only its delegator or an operator can revoke a delegation')
  }
  const { id: receipt } = await revokeDelegation(kernel, tenant, id, principal)
  return json(200, { receipt })
}

/** A delegation that the caller may see. @throws Problem `not-found` for every other id, whether it exists or not. */
function find({ delegations }: Kernel, identity: Identity, id: string): RegisteredDelegation {
  const found = delegations.get(identity.tenant, id)
  if (found && concerns(found, identity)) return found
  throw new Problem('not-found')
}

/** An agent sees the delegations that it is part of. */
function concerns({ statement }: RegisteredDelegation, { role, principal }: Identity): boolean {
  return role !== 'agent' || statement.delegator === principal || statement.delegate === principal
}

function shown(kernel: Kernel, delegation: RegisteredDelegation): Readonly<Record<string, unknown>> {
  const { id, receipt, statement } = delegation
  const { delegator, delegate, tools, effects = null, session = null, until, depth, parent } = statement
  return {
    ...{ id, delegator, delegate, tools, effects, session, until, depth, parent },
    standing: statusOf(kernel, delegation),
    receipt,
  }
}

function statusOf(kernel: Kernel, { tenant, id }: RegisteredDelegation): (typeof STATUSES)[number] {
  const chain = chainOf(kernel.delegations, tenant, id)
  if (chain?.some(({ revoked }) => revoked)) return 'revoked'
  const now = kernel.host.now()
  return chain?.every(({ until }) => now <= until) ? 'in force' : 'ended'
}

export const delegationRoutes: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/v1/delegations',
    id: 'registerDelegation',
    about:
      'Registers a delegation that its delegator has signed. The delegate can then name the delegation in a call, and the call has at most the rights of the delegation. An agent can register a delegation only if it is the delegator or the delegate. Registering the same delegation again returns the first receipt.',
    roles: ['agent', 'operator', 'admin'],
    body: {
      schema: object({
        envelope: {
          type: ['string', 'object'],
          description: 'The DSSE envelope, as its JSON text or as the object.',
        },
      }),
    },
    answers: {
      201: { about: 'Recorded, and in force.', schema: object({ delegation: HASH, receipt: HASH }) },
    },
    problems: ['delegation-refused', 'ledger-unavailable'],
    answer: register,
  },
  {
    method: 'GET',
    path: '/v1/delegations',
    id: 'listDelegations',
    about:
      'Lists the delegations, oldest first. An agent sees those in which it is the delegator or the delegate.',
    roles: READERS,
    answers: answered('The delegations. Those that ended long ago are only in the ledger.', {
      delegations: list(object(DELEGATION)),
    }),
    problems: ['gateway-needed'],
    answer: listAll,
  },
  {
    method: 'GET',
    path: '/v1/delegations/{id}',
    id: 'showDelegation',
    about: 'Returns one delegation with the chain of delegations above it.',
    roles: READERS,
    params: { id: HASH },
    answers: answered('The delegation.', {
      ...DELEGATION,
      lineage: described(LINEAGE, 'The delegation and all delegations above it, the root last.'),
    }),
    problems: ['gateway-needed'],
    answer: show,
  },
  {
    method: 'POST',
    path: '/v1/delegations/{id}/revoke',
    id: 'revokeDelegation',
    about:
      'Revokes a delegation and all delegations derived from it. An agent can revoke only delegations that it granted.',
    roles: ['agent', 'operator', 'admin'],
    params: { id: HASH },
    answers: answered('Recorded, and in force.', { receipt: HASH }),
    problems: ['ledger-unavailable'],
    answer: revoke,
  },
]
