// The route that shows a principal: its tier, trust, freezes and remaining limits.

import { TIERS } from '@tollgate/evidence'
import { capture, policyOf, trustName, type Kernel } from '@tollgate/kernel'
import { isDelegateOnly } from '@tollgate/kernel/admin'
import type { Policy } from '@tollgate/kernel/policy'
import type { Identity } from '../tokens.ts'
import { allowancesOf, ALLOWANCE } from './allowances.ts'
import { Problem } from './problem.ts'
import { READERS } from './receipts.ts'
import { answered, json, kernelOf, type ApiQuestion, type Reply, type ApiRoute } from './route.ts'
import { FLAG, list, NAME, orNull, described, word } from './schema.ts'
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

/** The first entry of the policy that matches a principal. */
function declared({ principals }: Policy, principal: string): Policy['principals'][number] | undefined {
  return principals.find(({ name }) => name.matches(principal))
}

function isFrozen({ freezes }: Kernel, caller: Pick<Identity, 'tenant' | 'principal'>): boolean {
  // A freeze of a principal depends only on tenant and name.
  const intent = capture({ caller, door: 'http', assurance: 'advised', tool: '', args: {} })
  return freezes.all() || freezes.principal(intent)
}

export const principalRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/v1/principals/{name}',
    id: 'showPrincipal',
    about:
      'Returns the current state of a principal. An agent sees only itself. Any name is valid: a principal that never called has the initial state.',
    roles: READERS,
    params: { name: NAME },
    answers: answered('The principal.', {
      principal: NAME,
      tier: described(word(...TIERS), 'The tier in the policy. An operator may have raised single sessions.'),
      trust: orNull(described(DECIMAL, 'From 0 to 1000; null if the policy does not use trust.')),
      delegate_only: described(FLAG, 'Whether it may act only under a delegation.'),
      frozen: described(FLAG, 'Whether it is frozen, alone or with everything.'),
      limits: described(list(ALLOWANCE), 'The remaining rates and budgets of the principal.'),
    }),
    problems: ['gateway-needed'],
    answer: show,
  },
]
