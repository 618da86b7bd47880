// Delegations at rest: what is stored of one, and how it is taken up again. A record is believed only as far as the ledger
// and the delegator's signature say the same.

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

/** What the names of all delegations begin with. */
export const DELEGATIONS = 'delegation\n'

/** The name of a delegation's private record, and of what its newest receipt anchors. */
export function delegationName(tenant: string, id: string): string {
  return `${DELEGATIONS}${tenant}\n${id}`
}

/** The private record of a delegation: its envelope, and in a second line the key that it was signed with. */
export function delegationText(envelope: string, key: PublicKey): string {
  return `${envelope}\n${toBase64(key.bytes)}`
}

/** What a store has of a delegation. */
interface FoundDelegation {
  readonly record: string | undefined
  readonly anchor: JsonObject | undefined
  /** Id of the receipt that is the anchor. */
  readonly id: string
}

/**
 * Takes up a delegation from what a store has of it, unless it has ended by `time`, the ledger's. One whose record is lost, or
 * is not the one that the receipt names, counts as revoked: it is kept, so that what hangs below it falls too.
 */
export async function takeUpDelegation(
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

/** The delegation in a record, if it is the receipt's. Its signature is checked again: the key's id is in no hash. */
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
    // Damaged, however it came about: as good as lost.
    return undefined
  }
}

/** What is left of a delegation whose record is lost: who it was between, and what it hung from. It grants nothing. */
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
