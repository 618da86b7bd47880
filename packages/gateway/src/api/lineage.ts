// Builds the chain of delegations above a delegation. Delegations that ended are no longer in the kernel, so they are read
// from their receipts.

import type { Delegation } from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import type { LedgerView } from '../view.ts'
import { receiptOf } from './receipts.ts'
import { FLAG, HASH, list, NAME, object, described, TIME, type ApiSchema } from './schema.ts'

/** One delegation of a chain. */
export interface LineageLink {
  readonly delegation: string
  readonly delegator: string
  readonly delegate: string
  readonly until: string
  readonly revoked: boolean
}

/** A chain of delegations, the root last. */
export const LINEAGE: ApiSchema = list(
  object({
    delegation: HASH,
    delegator: NAME,
    delegate: NAME,
    until: TIME,
    revoked: described(
      FLAG,
      'Whether this delegation was revoked. Delegations derived from it are then invalid too.',
    ),
  }),
)

interface Delegated {
  readonly kernel: Kernel
  readonly view: LedgerView
  readonly tenant: string
}

/** The maximum length of a chain. */
const MAX_LINKS = 9
const MAX_RECEIPTS = 1000

/** A delegation and all delegations above it, the root last. Stops at a delegation that is not found. */
export async function lineageOf(where: Delegated, id: string | undefined): Promise<readonly LineageLink[]> {
  const { kernel, tenant } = where
  const links: LineageLink[] = []
  let ended: ReadonlyMap<string, FoundLink> | undefined
  for (let next: string | null = id ?? null; next !== null && links.length < MAX_LINKS;) {
    const known = kernel.delegations.get(tenant, next)
    if (!known) ended ??= await receiptsOn(where)
    const found: FoundLink | undefined = known
      ? { ...known.statement, revoked: known.revoked }
      : ended?.get(next)
    if (!found) break
    const { delegator, delegate, until, revoked, parent } = found
    links.push({ delegation: next, delegator, delegate, until, revoked })
    next = parent
  }
  return links
}

type FoundLink = Omit<LineageLink, 'delegation'> & { readonly parent: string | null }

/** The newest receipt of each delegation, among the newest 1000 receipts. */
async function receiptsOn({ view, tenant }: Delegated): Promise<ReadonlyMap<string, FoundLink>> {
  const filter = { kind: 'delegation', tenant } as const
  const { entries } = await view.page({ filter, direction: 'back', limit: MAX_RECEIPTS })
  // Sound: the filter selects this kind. Reversed, so that the newest receipt wins in the map.
  const receipts = entries.map((entry) => receiptOf(entry) as Delegation).reverse()
  return new Map(receipts.map((receipt) => [receipt.delegation_hash, linkOf(receipt)]))
}

function linkOf({ delegator, delegate, expires: until, parent, op }: Delegation): FoundLink {
  return { delegator, delegate, until, revoked: op === 'revoke', parent: parent ?? null }
}
