// Proving an ALLOW: that it is the ledger's own word on exactly this call, made for it just now, and not that of somebody
// in between.

import { sha256Hex, type Decision, type Receipt, type Trust } from '@tollgate/evidence'
import { TollgateError } from './error.ts'
import type { Allowed, CapturedCall } from './evaluate.ts'
import type { Host, Moment } from './host.ts'
import type { Receipts } from './receipts.ts'

/** How far the clocks of gateway and client may be apart if nobody says otherwise, in milliseconds. */
export const USUAL_SKEW = 30_000

/** What an ALLOW is proven with. */
interface Pinned {
  readonly trust: Trust | string
  readonly skew: number
  readonly signal: AbortSignal | undefined
}

/** An ALLOW, and when it was asked for. */
export interface Claim {
  readonly allowed: Allowed
  readonly sent: Moment
}

/**
 * Makes sure that an ALLOW is in the ledger, for this call, and was decided after it was asked for, as far as the clocks of
 * both sides tell.
 *
 * @throws TollgateError `receipt-unproven`.
 */
export async function prove(
  { receipts, host }: { readonly receipts: Receipts; readonly host: Host },
  call: CapturedCall,
  { allowed, sent }: Claim,
  { trust, skew, signal }: Pinned,
): Promise<void> {
  const { receipt } = await receipts.verify(allowed.receipt, trust, {
    // The ledger's key vouches for the whole entry; an agent may not read the receipts of other keys.
    signature: 'skip',
    ...(signal && { signal }),
  })
  if (!isAllow(receipt, allowed)) throw unproven('it does not say that the call is allowed', LOOK)
  if (!isFor(receipt, call)) throw unproven('it allows another call than this one', SALTED)
  const at = Date.parse(receipt.time)
  // Asked this way round, what is no number is not fresh.
  if (!(at >= sent.time - skew && at <= host.time() + skew))
    throw unproven('it was not decided just now', CLOCKS)
}

function isAllow(receipt: Receipt, allowed: Allowed): receipt is Decision {
  return (
    receipt.kind === 'decision' &&
    receipt.verdict === 'ALLOW' &&
    receipt.expires === allowed.expires &&
    // What the route for calls answers, and no other door of the gateway.
    receipt.door === 'http' &&
    receipt.assurance === 'advised'
  )
}

/** Whether a decision is on this call: of everything that was sent and that a receipt says. */
function isFor(receipt: Decision, { tool, args, said }: CapturedCall): boolean {
  const { session, principal, tenant, delegation } = said
  return (
    receipt.tool === tool &&
    receipt.commit === 'plain' &&
    receipt.args_hash === sha256Hex(args) &&
    (session === undefined || receipt.session.id === session) &&
    (principal === undefined || receipt.principal === principal) &&
    (tenant === undefined || receipt.tenant === tenant) &&
    receipt.delegation === delegation
  )
}

const LOOK = 'Look what stands between here and the gateway.'
const SALTED = `${LOOK} With salted commitments this cannot be proven: leave out \`trust\`.`
const CLOCKS = `${LOOK} If the clocks here and there disagree, set them right, or allow for it with \`skew\`.`

function unproven(why: string, remedy: string): TollgateError {
  return new TollgateError(
    'receipt-unproven',
    `the ledger does not prove the ALLOW: ${why}; nothing was run`,
    {
      remedy,
    },
  )
}
