// Proves that an ALLOW is in the ledger, for exactly this call and recent, so that nothing between client and gateway can forge it.

import { sha256Hex, type Decision, type Receipt, type Trust } from '@tollgate/evidence'
import { TollgateError } from './error.ts'
import type { Allowed, CapturedCall } from './evaluate.ts'
import type { Host, Moment } from './host.ts'
import type { Receipts } from './receipts.ts'

/** Default maximum difference of the clocks of gateway and client, in milliseconds. */
export const DEFAULT_SKEW = 30_000

/** The trust to prove an ALLOW with. */
interface Pinned {
  readonly trust: Trust | string
  readonly skew: number
  readonly signal: AbortSignal | undefined
}

/** An ALLOW and the time of its request. */
export interface Claim {
  readonly allowed: Allowed
  readonly sent: Moment
}

/**
 * Checks that an ALLOW is in the ledger, for this call, and was decided after the request, within `skew`.
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
    // The checkpoint covers the whole entry. An agent may not read the key receipts.
    signature: 'skip',
    ...(signal && { signal }),
  })
  if (!isAllow(receipt, allowed, call)) throw unproven('its receipt does not allow the call', CHECK)
  if (!isFor(receipt, call)) throw unproven('it allows another call', SALTED)
  const at = Date.parse(receipt.time)
  // Written so that NaN is not recent.
  if (!(at >= sent.time - skew && at <= host.time() + skew)) throw unproven('it is not recent', CLOCKS)
}

function isAllow(receipt: Receipt, allowed: Allowed, { door }: CapturedCall): receipt is Decision {
  return (
    receipt.kind === 'decision' &&
    receipt.verdict === 'ALLOW' &&
    receipt.expires === allowed.expires &&
    // Only the doors of this client give such decisions.
    receipt.door === door &&
    receipt.assurance === 'advised'
  )
}

/** Whether a decision is for this call. Compares everything that the call and the receipt both contain. */
function isFor(receipt: Decision, { tool, args, claims }: CapturedCall): boolean {
  const { session, principal, tenant, delegation } = claims
  return (
    receipt.tool === tool &&
    receipt.commit === 'plain' &&
    receipt.args_hash === sha256Hex(args) &&
    (session === undefined || receipt.session.id === session) &&
    (principal === undefined || receipt.principal === principal) &&
    (tenant === undefined || receipt.tenant === tenant) &&
    receipt.delegation === delegation &&
    isOnPage(receipt, claims)
  )
}

function isOnPage({ browser }: Decision, claims: CapturedCall['claims']): boolean {
  const { planner_ref, dom_hash, visual_text_hash } = claims
  return (
    browser?.planner_ref === planner_ref &&
    (dom_hash === undefined || browser?.dom_hash === dom_hash) &&
    (visual_text_hash === undefined || browser?.visual_text_hash === visual_text_hash)
  )
}

const CHECK = 'Check for a proxy between client and gateway.'
const SALTED = `${CHECK} With salted commitments there is no proof: leave out \`trust\`.`
const CLOCKS = `${CHECK} If the clocks of client and gateway differ, correct them or increase \`skew\`.`

function unproven(why: string, remedy: string): TollgateError {
  return new TollgateError(
    'receipt-unproven',
    `the ledger does not prove the ALLOW: ${why}; the tool did not run`,
    {
      remedy,
    },
  )
}
