// How a principal stands: what the policy says of it, what it has earned, and what it has left.

import { TIERS } from '@tollgate/evidence'
import { capture, policyOf, trustName, type Kernel } from '@tollgate/kernel'
import { isDelegateOnly } from '@tollgate/kernel/admin'
import type { Policy } from '@tollgate/kernel/policy'
import type { Identity } from '../tokens.ts'
import { allowancesOf, ALLOWANCE } from './allowances.ts'
import { Problem } from './problem.ts'
import { READERS } from './receipts.ts'
import { answered, json, kernelOf, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import { FLAG, list, NAME, orNull, said, word } from './schema.ts'
import { DECIMAL, trustNow } from './sessions.ts'

async function show({ options, identity, params, inTurn }: ApiQuestion): Promise<Reply> {
  const kernel = kernelOf(options)
  const { tenant } = identity
  const principal = params['name'] ?? ''
  if (identity.role === 'agent' && principal !== identity.principal) throw new Problem('not-found')
  const policy = policyOf(kernel, tenant)
  const owner = { tenant, principal }
  const [trusted = { record: undefined, anchor: undefined }] = await inTurn(() =>
    kernel.store.load([trustName(owner)]),
  )
  return json(200, {
    principal,
    tier: declared(policy, principal)?.tier ?? 'observer',
    trust: trustNow(kernel, tenant, trusted),
    delegate_only: isDelegateOnly(policy, principal),
    frozen: isFrozen(kernel, owner),
    limits: await inTurn(() => allowancesOf(kernel, owner)),
  })
}

/** What the policy says of a principal: the first entry that fits. */
function declared({ principals }: Policy, principal: string): Policy['principals'][number] | undefined {
  return principals.find(({ name }) => name.matches(principal))
}

function isFrozen({ freezes }: Kernel, caller: Pick<Identity, 'tenant' | 'principal'>): boolean {
  // Who is frozen is known by tenant and name alone.
  const intent = capture({ caller, door: 'http', assurance: 'advised', tool: '', args: {} })
  return freezes.all() || freezes.principal(intent)
}

/** Principals. */
export const principalRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/principals/{name}',
    id: 'showPrincipal',
    about:
      'How a principal stands now. An agent sees itself. There is no list of principals: a name that never called has the standing it would begin with.',
    roles: READERS,
    params: { name: NAME },
    answers: answered('The principal.', {
      principal: NAME,
      tier: said(word(...TIERS), 'By the policy; a person may have raised some of its sessions.'),
      trust: orNull(said(DECIMAL, 'Of 1000; null where the policy does not ask for trust.')),
      delegate_only: said(FLAG, 'It acts only under a delegation.'),
      frozen: said(FLAG, 'It is frozen, or everything is.'),
      limits: said(list(ALLOWANCE), 'What is left of the rates and budgets that go by principal.'),
    }),
    problems: ['gateway-needed'],
    answer: show,
  },
]
