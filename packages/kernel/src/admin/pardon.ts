// What an operator lifts: the risk of a session, all that is remembered of it, a principal's loss of trust. Each is a receipt that says
// who did it and why.

import type { SessionChange } from '@tollgate/evidence'
import { readBecause } from './because.ts'
import { KernelError } from '../error.ts'
import { policyOf, type Kernel } from '../kernel.ts'
import type { Appended, Turn } from '../ledger/ledger.ts'
import {
  principalName,
  readPrincipal,
  readSession,
  readTrustState,
  sessionName,
  trustName,
} from '../ledger/records.ts'
import { closeIn } from '../ledger/retention.ts'
import { NO_MEMORY, without, type Leak } from '../gates/session-risk/risk.ts'
import {
  keepPrincipal,
  sessionIn,
  stateOf,
  stateText,
  type Kept,
  type PrincipalState,
  type SessionState,
} from '../ledger/session.ts'
import { NEW_TRUST, trustText } from '../gates/trust/trust.ts'

/** Whose, by whom, and why. */
export interface PardonOrder {
  readonly tenant: string
  readonly principal: string
  /** Who does it, as the door has made sure of it. */
  readonly by: string
  readonly because: string
}

/** The same for one session. */
export interface SessionPardon extends PardonOrder {
  readonly session: string
  /** Who the session works for in the end, where it acts under a delegation: its share is taken from that one's risk, too. */
  readonly root?: string
}

/**
 * Takes the risk from a session, and its share from whoever answers for it: the next call is judged as the first one. What was read in
 * it stays labelled, its scope, limits and number of decisions stay as they are.
 *
 * @throws KernelError `REQUEST_INVALID` if it has had no decision, or the reason is none; `LEDGER_POISONED`, `LEDGER_FULL`.
 */
export async function resetSession(kernel: Kernel, given: SessionPardon): Promise<Appended> {
  const order = reasoned(given)
  const { tenant, principal, session, root } = order
  const names = { session: sessionName(order, session), principal: principalName(order) }
  const lineage =
    root === undefined || root === principal ? undefined : principalName({ tenant, principal: root })
  const reads = [
    { name: names.session, parse: readSession },
    { name: names.principal, parse: (stored: StoredSession) => readPrincipal(stored, principal) },
    ...(lineage === undefined
      ? []
      : [{ name: lineage, parse: (stored: StoredSession) => readPrincipal(stored, root) }]),
  ]
  return kernel.ledger.append({
    reserved: true,
    reads,
    run: (turn) => {
      const before = usedSession(turn, names.session)
      const freed = (name: string): Kept<PrincipalState> =>
        // Sound: under such a name only such records are kept.
        pardoned(turn.read(name) as Kept<PrincipalState>, before.risk.leak, kernel, tenant, turn.time)
      const records = {
        session: { ...before, risk: NO_MEMORY, source: false, suspect: 0, denials: 0 },
        principal: freed(names.principal),
        tenant: undefined,
        lineage: lineage === undefined ? undefined : freed(lineage),
      }
      const text = stateText(records)
      const state = stateOf(records, text)
      const changed = [names.session, names.principal, ...(lineage === undefined ? [] : [lineage])]
      const appended = turn.append({ anchors: changed }, (header): SessionChange => ({
        ...header,
        ...told(order, 'reset'),
        session,
        next_state_hash: state.hash,
        decisions: before.seq,
      }))
      turn.write(names.session, state, text)
      turn.write(names.principal, state.principal, text)
      if (lineage !== undefined) turn.write(lineage, state.lineage, text)
      return appended
    },
  })
}

type StoredSession = Parameters<typeof readPrincipal>[0]

/** What is held against a principal without the share of one session, and without what that has brought about for the others. */
function pardoned(
  { value }: Kept<PrincipalState>,
  share: Leak,
  kernel: Kernel,
  tenant: string,
  time: number,
): Kept<PrincipalState> {
  const { halfLife } = policyOf(kernel, tenant).gates.sessionRisk
  const { watch } = value
  const isWatched = watch.latch > 0 || watch.grave > 0
  return keepPrincipal({
    ...value,
    leak: without(value.leak, share, time, halfLife),
    watch: isWatched ? { ...watch, latch: 0, grave: 0 } : watch,
  })
}

/**
 * Closes a session: everything that is remembered of it goes. Its principal keeps its own risk.
 *
 * @throws KernelError as `resetSession`.
 */
export async function closeSession(kernel: Kernel, given: SessionPardon): Promise<Appended> {
  const order = reasoned(given)
  const name = sessionName(order, order.session)
  return kernel.ledger.append({
    reserved: true,
    reads: [{ name, parse: readSession }],
    run: (turn) => closeIn(turn, name, usedSession(turn, name).seq, order),
  })
}

/**
 * Sets a principal's trust back to where it began.
 *
 * @throws KernelError `REQUEST_INVALID` if the policy does not ask for trust, or the reason is none; as `resetSession`.
 */
export async function resetTrust(kernel: Kernel, given: PardonOrder): Promise<Appended> {
  const order = reasoned(given)
  if (!policyOf(kernel, order.tenant).gates.trust) {
    throw new KernelError('REQUEST_INVALID', 'the policy does not ask for trust; there is nothing to reset')
  }
  const name = trustName(order)
  return kernel.ledger.append({
    reserved: true,
    reads: [{ name, parse: readTrustState }],
    run: (turn) => {
      const appended = turn.append({ anchors: [name] }, (header): SessionChange => ({
        ...header,
        ...told(order, 'trust'),
        session: order.principal,
        trust: trustText(NEW_TRUST),
      }))
      turn.write(name, { ...NEW_TRUST, at: turn.time }, undefined)
      return appended
    },
  })
}

function told({ tenant, principal, by, because }: PardonOrder, op: SessionChange['op']) {
  return { kind: 'session', op, tenant, principal, by, because } as const
}

/** A session that has had a decision, or has a scope; for any other there is nothing to lift. */
function usedSession(turn: Turn, name: string): SessionState {
  const session = sessionIn(turn.read(name))
  if (session.seq > 0 || session.scope) return session
  throw new KernelError('REQUEST_INVALID', 'there is no such session of this principal; look at its receipts')
}

/** An order with its reason as the receipt holds it. There must be one: it is on the ledger for ever. */
function reasoned<T extends PardonOrder>(order: T): T {
  const because = readBecause(order.because)
  if (because === undefined) throw new KernelError('REQUEST_INVALID', 'a reason is missing; say why')
  return { ...order, because }
}
