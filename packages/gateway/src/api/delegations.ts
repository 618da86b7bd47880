// Delegations: handing one in, looking at them, taking one back. What each is good for is decided at every call.

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
import { COUNT, HASH, list, NAME, object, orNull, said, TEXT, TIME, word, type ApiSchema } from './schema.ts'

const STANDINGS = ['in force', 'revoked', 'ended'] as const

const DELEGATION: Readonly<Record<string, ApiSchema>> = {
  id: said(HASH, 'SHA-256 of the signed statement: what calls name as `delegation`.'),
  delegator: NAME,
  delegate: NAME,
  tools: said(list(TEXT), 'Names of tools, exact or with `*`.'),
  effects: orNull(said(list(word(...EFFECT_CLASSES)), 'What those tools may do; null for anything.')),
  session: orNull(said(NAME, 'The only session it holds in; null for any.')),
  until: TIME,
  depth: said(COUNT, 'How many further delegations may hang below it.'),
  parent: orNull(said(HASH, 'The delegation that it narrows.')),
  standing: said(
    word(...STANDINGS),
    'Whether it, and all it hangs from, still runs. A call may be refused for more: a delegator that is frozen, or has another key by now.',
  ),
  receipt: said(HASH, 'The newest receipt on it.'),
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

/** The text of the envelope. An envelope has one spelling, so an object can only have meant this one. */
function envelopeIn({ envelope = '' }: JsonObject): string {
  return typeof envelope === 'string' ? envelope.trim() : canonicalize(envelope)
}

/** An agent hands in what concerns itself. Whether it is signed is found out later, and told as what it is. */
async function refuseOthers(envelope: string, { principal }: Identity): Promise<void> {
  try {
    await openDelegation(envelope, ({ delegator, delegate }) => {
      if (delegator === principal || delegate === principal) return undefined
      throw new Problem('role-forbidden', 'the delegation is between others', {
        remedy: 'Let its delegator or its delegate hand it in, or an operator.',
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
    throw new Problem('role-forbidden', 'only its delegator, or an operator, takes a delegation back')
  }
  const { id: receipt } = await revokeDelegation(kernel, tenant, id, principal)
  return json(200, { receipt })
}

/** A delegation that is the caller's to see. @throws Problem `not-found` for every other, whether it exists or not. */
function find({ delegations }: Kernel, identity: Identity, id: string): RegisteredDelegation {
  const found = delegations.get(identity.tenant, id)
  if (found && concerns(found, identity)) return found
  throw new Problem('not-found')
}

/** An agent sees those that it is part of. */
function concerns({ statement }: RegisteredDelegation, { role, principal }: Identity): boolean {
  return role !== 'agent' || statement.delegator === principal || statement.delegate === principal
}

function shown(kernel: Kernel, delegation: RegisteredDelegation): Readonly<Record<string, unknown>> {
  const { id, receipt, statement } = delegation
  const { delegator, delegate, tools, effects = null, session = null, until, depth, parent } = statement
  return {
    ...{ id, delegator, delegate, tools, effects, session, until, depth, parent },
    standing: standingOf(kernel, delegation),
    receipt,
  }
}

function standingOf(kernel: Kernel, { tenant, id }: RegisteredDelegation): (typeof STANDINGS)[number] {
  const chain = chainOf(kernel.delegations, tenant, id)
  if (chain?.some(({ revoked }) => revoked)) return 'revoked'
  const now = kernel.host.now()
  return chain?.every(({ until }) => now <= until) ? 'in force' : 'ended'
}

/** Delegations. */
export const delegationRoutes: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/v1/delegations',
    id: 'registerDelegation',
    about:
      'Registers a delegation that its delegator has signed. From then on the delegate may name it in calls, which are judged within its limits. An agent hands in only what it is part of. The same one again gives the first receipt.',
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
    about: 'The delegations that are known, the oldest first. An agent sees those it is part of.',
    roles: READERS,
    answers: answered('Delegations. Those that ended long ago are on the ledger only.', {
      delegations: list(object(DELEGATION)),
    }),
    problems: ['gateway-needed'],
    answer: listAll,
  },
  {
    method: 'GET',
    path: '/v1/delegations/{id}',
    id: 'showDelegation',
    about: 'One delegation, and the chain that it hangs from.',
    roles: READERS,
    params: { id: HASH },
    answers: answered('The delegation.', {
      ...DELEGATION,
      lineage: said(LINEAGE, 'It and all that it hangs from, the root last.'),
    }),
    problems: ['gateway-needed'],
    answer: show,
  },
  {
    method: 'POST',
    path: '/v1/delegations/{id}/revoke',
    id: 'revokeDelegation',
    about:
      'Takes a delegation back, and with it all that hang below it. An agent takes back only what it has delegated itself.',
    roles: ['agent', 'operator', 'admin'],
    params: { id: HASH },
    answers: answered('Recorded, and in force.', { receipt: HASH }),
    problems: ['ledger-unavailable'],
    answer: revoke,
  },
]
