// Stores delegations and restores them. A restored record must match both the ledger and the delegator's signature.

import {
  importPublicKey,
  openDelegation,
  toBase64,
  type Delegation,
  type DelegationStatement,
  type JsonObject,
  type OpenedDelegation,
  type PublicKey,
} from '@tollgate/evidence'
import { registered, type Delegations } from './delegations.ts'

/** The prefix of the names of all delegations. */
export const DELEGATIONS = 'delegation\n'

/** The name of a delegation's private record, which its newest receipt anchors. */
export function delegationName(tenant: string, id: string): string {
  return `${DELEGATIONS}${tenant}\n${id}`
}

/** The private record of a delegation: its envelope, and on a second line its public key. */
export function delegationText(envelope: string, key: PublicKey): string {
  return `${envelope}\n${toBase64(key.bytes)}`
}

/** The stored parts of a delegation. */
interface FoundDelegation {
  readonly record: string | undefined
  readonly anchor: JsonObject | undefined
  /** The id of the anchor receipt. */
  readonly id: string
}

/**
 * Restores a delegation, unless it has expired at `time`, the time of the ledger. If its record is lost or does not match the receipt,
 * it is kept as revoked, so that all delegations below it are invalid, too.
 */
export async function restoreDelegation(
  { delegations }: { readonly delegations: Delegations },
  { record, anchor, id }: FoundDelegation,
  time: number,
): Promise<void> {
  if (!anchor) return
  // Sound: only delegation receipts anchor such names.
  const receipt = anchor as unknown as Delegation
  if (Date.parse(receipt.expires) < time) return
  const opened = await reopen(record, receipt)
  const newest = { id, clock: receipt.lamport_clock }
  delegations.add(registered(opened ?? stubOf(receipt), newest, receipt.op === 'revoke' || !opened))
}

/** The delegation in a record, if it matches the receipt. The signature is checked again, because no hash covers the key's id. */
async function reopen(
  record: string | undefined,
  { delegation_hash, tenant, ledger }: Delegation,
): Promise<OpenedDelegation | undefined> {
  const [envelope = '', key = ''] = (record ?? '').split('\n')
  try {
    const opened = await openDelegation(envelope, () => importPublicKey(key))
    const { statement } = opened
    const same = opened.id === delegation_hash && statement.tenant === tenant && statement.ledger === ledger
    return same ? opened : undefined
  } catch {
    // A damaged record counts as lost.
    return undefined
  }
}

/** A placeholder for a delegation whose record is lost, made from its receipt. It grants nothing. */
function stubOf(receipt: Delegation): Omit<OpenedDelegation, 'envelope'> {
  const { delegation_hash: id, ledger, tenant, delegator, delegate, expires, parent = null } = receipt
  const statement: DelegationStatement = {
    v: 1,
    ledger,
    tenant,
    delegator,
    delegate,
    tools: [],
    until: expires,
    depth: 0,
    parent,
    nonce: '',
  }
  return { id, statement, keyId: '' }
}
