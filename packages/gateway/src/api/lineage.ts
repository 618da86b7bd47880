// In whose name somebody acts: a delegation and all that it hangs from. What has ended is forgotten by the kernel, and read
// from its receipts.

import type { Delegation } from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import type { LedgerView } from '../view.ts'
import { receiptOf } from './receipts.ts'
import { FLAG, HASH, list, NAME, object, said, TIME, type ApiSchema } from './schema.ts'

/** One delegation of a chain. */
interface LineageLink {
  readonly delegation: string
  readonly delegator: string
  readonly delegate: string
  readonly until: string
  readonly revoked: boolean
}

/** A chain: the delegation that was named first, the one that all of it hangs from last. */
export const LINEAGE: ApiSchema = list(
  object({
    delegation: HASH,
    delegator: NAME,
    delegate: NAME,
    until: TIME,
    revoked: said(FLAG, 'It was revoked itself; what hangs below it falls with it.'),
  }),
)

/** Where delegations are looked up. */
interface Delegated {
  readonly kernel: Kernel
  readonly view: LedgerView
  readonly tenant: string
}

/** As many as a chain can have. */
const MOST_LINKS = 9
const MOST_RECEIPTS = 1000

/** A delegation and all that it hangs from, the root last; it ends where nothing is known any more. */
export async function lineageOf(where: Delegated, id: string | undefined): Promise<readonly LineageLink[]> {
  const { kernel, tenant } = where
  const links: LineageLink[] = []
  let ended: ReadonlyMap<string, FoundLink> | undefined
  for (let next: string | null = id ?? null; next !== null && links.length < MOST_LINKS;) {
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

/** What the newest receipt on each delegation says, as far back as is looked. */
async function receiptsOn({ view, tenant }: Delegated): Promise<ReadonlyMap<string, FoundLink>> {
  const filter = { kind: 'delegation', tenant } as const
  const { entries } = await view.page({ filter, direction: 'back', limit: MOST_RECEIPTS })
  // Sound: the filter asks for this kind. The newest comes first, and must be set last.
  const receipts = entries.map((entry) => receiptOf(entry) as Delegation).reverse()
  return new Map(receipts.map((receipt) => [receipt.delegation_hash, saidBy(receipt)]))
}

function saidBy({ delegator, delegate, expires: until, parent, op }: Delegation): FoundLink {
  return { delegator, delegate, until, revoked: op === 'revoke', parent: parent ?? null }
}
