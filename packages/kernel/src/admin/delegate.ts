// Registering and revoking delegations. Each is a receipt, and in force from its turn on; a delegation that is registered
// has been checked to only narrow what it hangs from, and is checked again at every call.

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

/** A delegation that was registered: its receipt, and its own id. */
export interface Registration extends Appended {
  readonly delegation: string
}

/** Who hands a delegation in, as the door has made sure of it. */
interface HandedIn {
  readonly tenant: string
  readonly by: string
  /** It is an agent, whose storage this takes. */
  readonly limited?: boolean
}

const DAY = 86_400_000
const LONGEST = 366 * DAY
const MAX_OF_A_DELEGATOR = 1000

/**
 * Registers a delegation. From this turn on calls of its delegate may name it. The same one again gives back the receipt of
 * the first time.
 *
 * @throws KernelError `DELEGATION_REFUSED` if it is not signed by its delegator’s key, or goes beyond what it hangs from.
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

const WRONG_KEY = 'it is not signed with the key that the policy has for its delegator; sign it with that one'
const REMEDIES: Partial<Record<EvidenceError['code'], string>> = {
  KEY_UNAVAILABLE: 'its delegator has no key; give its entry under `principals` in the policy a `key`',
  DELEGATION_SIGNATURE_WRONG: WRONG_KEY,
}

function takeIn(kernel: Kernel, turn: Turn, opened: OpenedDelegation, by: string): Registration {
  const { id, statement, keyId } = opened
  // Before it is looked for: one that has ended may have been forgotten, and that must not matter.
  if (!(Date.parse(statement.until) > turn.time))
    throw refuse('`until` is in the past; sign one that still holds')
  const known = kernel.delegations.get(statement.tenant, id)
  return known ? again(known, keyId) : grant(kernel, turn, opened, by)
}

function grant(kernel: Kernel, turn: Turn, opened: OpenedDelegation, by: string): Registration {
  const { id, statement, keyId, envelope } = opened
  const { tenant, delegator } = statement
  const { delegations } = kernel
  const policy = policyOf(kernel, tenant)
  const key = keyIn(policy, delegator)
  // The policy may have changed while the signature was checked.
  if (key?.id !== keyId) throw refuse(WRONG_KEY)
  const parents = statement.parent === null ? [] : chainOf(delegations, tenant, statement.parent)
  if (!parents) throw refuse('its parent is not registered here; register that first')
  const problem = problemIn(policy, statement, parents, turn.time)
  if (problem !== undefined) throw refuse(problem)
  const ended = roomFor(delegations, statement, turn.time)
  const appended = record(turn, 'grant', opened, by, parents[0] && receiptOn(parents[0]))
  // Nothing from here on can fail, so what is kept in memory and what is written stay one.
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
  if (revoked) throw refuse('it was revoked; sign a new one, with another `nonce`')
  if (keyId !== signedWith)
    throw refuse('it is registered with another key; sign a new one, with another `nonce`')
  return { id: receipt, clock, delegation: id }
}

/** What keeps a delegation from being registered; undefined if nothing does. */
function problemIn(
  policy: Policy,
  statement: DelegationStatement,
  parents: readonly RegisteredDelegation[],
  time: number,
): string | undefined {
  const { delegator, delegate, until } = statement
  if (!(Date.parse(until) <= time + LONGEST)) return '`until` is more than 366 days away; sign a shorter one'
  if ([delegator, ...parents.map((link) => link.statement.delegator)].includes(delegate)) {
    return 'its delegate is among those it comes from; nobody delegates to themselves, not even through others'
  }
  // Who is frozen is asked at every call, and may be thawed by then.
  const parties = partiesIn(policy, () => false)
  const [parent] = parents
  if (parent)
    return invalidity(parents, { principal: delegator, time }, parties) ?? tooWide(statement, parent)
  return parties.delegateOnly(delegator)
    ? 'its delegator acts only under a delegation; name that one as `parent`'
    : undefined
}

function tooWide(statement: DelegationStatement, parent: RegisteredDelegation): string | undefined {
  const field = wideningOf(statement, parent)
  return field && `${field} goes beyond its parent’s; a delegation can only narrow`
}

/** The delegations of the tenant that have ended, and can be forgotten. @throws KernelError if the delegator has too many that still run. */
function roomFor(
  delegations: Delegations,
  { tenant, delegator }: DelegationStatement,
  time: number,
): readonly RegisteredDelegation[] {
  const all = delegations.list(tenant)
  const running = all.filter(({ until, statement }) => time <= until && statement.delegator === delegator)
  if (running.length >= MAX_OF_A_DELEGATOR) {
    throw refuse(`its delegator has ${MAX_OF_A_DELEGATOR} delegations that still run; let some of them end`)
  }
  return all.filter(({ until }) => time > until)
}

/**
 * Revokes a delegation, and with it all that hang below it.
 *
 * @throws KernelError `REQUEST_INVALID` if it is not known, or was revoked.
 */
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
      if (!known) throw new KernelError('REQUEST_INVALID', 'there is no such delegation; it may have ended')
      if (known.revoked) throw new KernelError('REQUEST_INVALID', 'the delegation is revoked already')
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
    if (header.ledger !== ledger) throw refuse('it is for another ledger; sign one for this')
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
