// Registers and revokes delegations. Each is a receipt and takes effect in its turn of the ledger. Registration checks that a
// delegation only narrows its parent; every call checks it again.

import {
  EvidenceError,
  openDelegation,
  type Delegation,
  type DelegationStatement,
  type OpenedDelegation,
} from '@tollgate/evidence'
import { delegationName, delegationText } from '../gates/delegation/records.ts'
import {
  chainOf,
  invalidity,
  keyIn,
  partiesIn,
  receiptOn,
  registered,
  wideningOf,
  type Delegations,
  type RegisteredDelegation,
} from '../gates/delegation/delegations.ts'
import { KernelError } from '../error.ts'
import { policyOf, type Kernel } from '../kernel.ts'
import type { Appended, Turn } from '../ledger/ledger.ts'
import type { Policy } from '../policy/parse/parse.ts'
import { isFull, STORAGE_USED_UP } from '../ledger/storage.ts'

/** A registered delegation: its receipt and its own id. */
export interface Registration extends Appended {
  readonly delegation: string
}

/** The person or agent that registers a delegation, authenticated by the door. */
interface HandedIn {
  readonly tenant: string
  readonly by: string
  /** Set for an agent: its storage is charged. */
  readonly limited?: boolean
}

const DAY = 86_400_000
const MAX_DURATION = 366 * DAY
const MAX_PER_DELEGATOR = 1000

/**
 * Registers a delegation. Later calls of its delegate may name it. Registering the same delegation again returns the first
 * receipt.
 *
 * @throws KernelError `DELEGATION_REFUSED` if it is not signed with its delegator’s key or exceeds its parent.
 */
export async function registerDelegation(
  kernel: Kernel,
  envelope: Uint8Array | string,
  { tenant, by, limited = false }: HandedIn,
): Promise<Registration> {
  const opened = await open(kernel, envelope, tenant)
  const payer = { tenant, principal: by }
  return kernel.ledger.append({
    run: (turn) => {
      if (limited && isFull(kernel, payer, turn.time)) throw refuse(STORAGE_USED_UP)
      const taken = takeIn(kernel, turn, opened, by)
      if (limited) kernel.storage.charge(payer, turn, turn.written)
      return taken
    },
  })
}

async function open(
  kernel: Kernel,
  envelope: Uint8Array | string,
  tenant: string,
): Promise<OpenedDelegation> {
  try {
    return await openDelegation(envelope, (statement) => {
      if (statement.tenant !== tenant) throw refuse('it is for another tenant; sign one for yours')
      return keyIn(policyOf(kernel, tenant), statement.delegator)
    })
  } catch (fault) {
    if (fault instanceof EvidenceError) throw refuse(REMEDIES[fault.code] ?? fault.message)
    throw fault
  }
}

const WRONG_KEY =
  'it is not signed with the key that the policy lists for its delegator; sign it with that key'
const REMEDIES: Partial<Record<EvidenceError['code'], string>> = {
  KEY_UNAVAILABLE: 'its delegator has no key; add a `key` to its entry under `principals` in the policy',
  DELEGATION_SIGNATURE_WRONG: WRONG_KEY,
}

function takeIn(kernel: Kernel, turn: Turn, opened: OpenedDelegation, by: string): Registration {
  const { id, statement, keyId } = opened
  // Check the time first: the result must not depend on whether an ended delegation was already removed.
  if (!(Date.parse(statement.until) > turn.time))
    throw refuse('`until` is in the past; sign one with a later `until`')
  const known = kernel.delegations.get(statement.tenant, id)
  return known ? again(known, keyId) : grant(kernel, turn, opened, by)
}

function grant(kernel: Kernel, turn: Turn, opened: OpenedDelegation, by: string): Registration {
  const { id, statement, keyId, envelope } = opened
  const { tenant, delegator } = statement
  const { delegations } = kernel
  const policy = policyOf(kernel, tenant)
  const key = keyIn(policy, delegator)
  // The policy may have changed during the signature check.
  if (key?.id !== keyId) throw refuse(WRONG_KEY)
  const parents = statement.parent === null ? [] : chainOf(delegations, tenant, statement.parent)
  if (!parents) throw refuse('its parent is not registered here; register the parent first')
  const problem = problemIn(policy, statement, parents, turn.time)
  if (problem !== undefined) throw refuse(problem)
  const ended = endedIn(delegations, statement, turn.time)
  const appended = record(turn, 'grant', opened, by, parents[0] && receiptOn(parents[0]))
  // Nothing below can fail, so memory and store stay consistent.
  turn.put(delegationName(tenant, id), delegationText(envelope, key))
  delegations.add(registered(opened, appended, false))
  for (const each of ended) {
    delegations.forget(each)
    turn.put(delegationName(tenant, each.id), undefined)
  }
  return { ...appended, delegation: id }
}

function again(
  { id, receipt, clock, revoked, keyId }: RegisteredDelegation,
  signedWith: string,
): Registration {
  if (revoked) throw refuse('it was revoked; sign a new one with another `nonce`')
  if (keyId !== signedWith)
    throw refuse('it was registered with another key; sign a new one with another `nonce`')
  return { id: receipt, clock, delegation: id }
}

/** Returns the reason why a delegation cannot be registered, or undefined. */
function problemIn(
  policy: Policy,
  statement: DelegationStatement,
  parents: readonly RegisteredDelegation[],
  time: number,
): string | undefined {
  const { delegator, delegate, until } = statement
  if (!(Date.parse(until) <= time + MAX_DURATION))
    return '`until` is more than 366 days away; sign a shorter one'
  if ([delegator, ...parents.map((link) => link.statement.delegator)].includes(delegate)) {
    return 'its delegate is also one of its delegators; delegate to a principal outside the chain'
  }
  // Freezes are checked at every call and may be lifted by then.
  const parties = partiesIn(policy, () => false)
  const [parent] = parents
  if (parent)
    return invalidity(parents, { principal: delegator, time }, parties) ?? tooWide(statement, parent)
  return parties.delegateOnly(delegator)
    ? 'its delegator acts only under a delegation; name that delegation as `parent`'
    : undefined
}

function tooWide(statement: DelegationStatement, parent: RegisteredDelegation): string | undefined {
  const field = wideningOf(statement, parent)
  return field && `${field} exceeds that of its parent; narrow it`
}

/** Returns the ended delegations of the tenant. @throws KernelError if the delegator has too many active ones. */
function endedIn(
  delegations: Delegations,
  { tenant, delegator }: DelegationStatement,
  time: number,
): readonly RegisteredDelegation[] {
  const all = delegations.list(tenant)
  const running = all.filter(({ until, statement }) => time <= until && statement.delegator === delegator)
  if (running.length >= MAX_PER_DELEGATOR) {
    throw refuse(`its delegator has ${MAX_PER_DELEGATOR} active delegations; wait until some end`)
  }
  return all.filter(({ until }) => time > until)
}

/** Revokes a delegation and all below it. @throws KernelError `REQUEST_INVALID` if it is unknown or already revoked. */
export async function revokeDelegation(
  kernel: Kernel,
  tenant: string,
  id: string,
  by: string,
): Promise<Appended> {
  return kernel.ledger.append({
    reserved: true,
    run: (turn) => {
      const known = kernel.delegations.get(tenant, id)
      if (!known)
        throw new KernelError('REQUEST_INVALID', 'there is no such delegation; it may already have ended')
      if (known.revoked) throw new KernelError('REQUEST_INVALID', 'the delegation is already revoked')
      const appended = record(turn, 'revoke', known, by, receiptOn(known))
      kernel.delegations.revoke(tenant, id, appended)
      return appended
    },
  })
}

/** Appends the receipt of a grant or a revocation. */
function record(
  turn: Turn,
  op: Delegation['op'],
  { id, statement }: Pick<RegisteredDelegation, 'id' | 'statement'>,
  by: string,
  cause: Appended | undefined,
): Appended {
  const { ledger, tenant, delegator, delegate, until, parent } = statement
  const options = { anchors: [delegationName(tenant, id)], causes: cause ? [cause] : [] }
  return turn.append(options, (header): Delegation => {
    if (header.ledger !== ledger) throw refuse('it is for another ledger; sign one for this ledger')
    return {
      ...header,
      kind: 'delegation',
      tenant,
      op,
      delegation_hash: id,
      delegator,
      delegate,
      expires: until,
      ...(parent !== null && { parent }),
      by,
    }
  })
}

function refuse(problem: string): KernelError {
  return new KernelError('DELEGATION_REFUSED', `the delegation is refused: ${problem}`)
}
