// Pardons by an operator: reset the risk of a session, close a session, reset the trust of a principal. Each is a receipt with
// the operator and the reason.

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

/** The subject of a pardon, the operator and the reason. */
export interface PardonOrder {
  readonly tenant: string
  readonly principal: string
  /** The operator, authenticated by the door. */
  readonly by: string
  readonly because: string
}

/** A pardon for one session. */
export interface SessionPardon extends PardonOrder {
  readonly session: string
  /** The root delegator, if the session acts under a delegation. Its risk is reduced by the share of the session, too. */
  readonly root?: string
}

/**
 * Resets the risk of a session and subtracts its share from the principals that are charged for it. The next call is judged like
 * a first call. Labels, scope, limits and the number of decisions stay.
 *
 * @throws KernelError `REQUEST_INVALID` if the session has no decisions or the reason is missing; `LEDGER_POISONED`,
 * `LEDGER_FULL`.
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
        // Safe cast: only such records are kept under such a name.
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
        ...commonFields(order, 'reset'),
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

/** Returns the state of a principal without the share of one session, and without the flags that it set. */
function pardoned(
  { value }: Kept<PrincipalState>,
  share: Leak,
  kernel: Kernel,
  tenant: string,
  time: number,
): Kept<PrincipalState> {
  const { halfLife } = policyOf(kernel, tenant).gates.sessionRisk
  const { watch } = value
  const isFlagged = watch.latch > 0 || watch.grave > 0
  return keepPrincipal({
    ...value,
    leak: without(value.leak, share, time, halfLife),
    watch: isFlagged ? { ...watch, latch: 0, grave: 0 } : watch,
  })
}

/** Closes a session and removes its records. The principal keeps its own risk. @throws KernelError as `resetSession`. */
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
 * Resets the trust of a principal to its initial value.
 *
 * @throws KernelError `REQUEST_INVALID` if the policy has no `trust` section or the reason is missing; as `resetSession`.
 */
export async function resetTrust(kernel: Kernel, given: PardonOrder): Promise<Appended> {
  const order = reasoned(given)
  if (!policyOf(kernel, order.tenant).gates.trust) {
    throw new KernelError(
      'REQUEST_INVALID',
      'the policy has no `trust` section, so there is nothing to reset',
    )
  }
  const name = trustName(order)
  return kernel.ledger.append({
    reserved: true,
    reads: [{ name, parse: readTrustState }],
    run: (turn) => {
      const appended = turn.append({ anchors: [name] }, (header): SessionChange => ({
        ...header,
        ...commonFields(order, 'trust'),
        session: order.principal,
        trust: trustText(NEW_TRUST),
      }))
      turn.write(name, { ...NEW_TRUST, at: turn.time }, undefined)
      return appended
    },
  })
}

function commonFields({ tenant, principal, by, because }: PardonOrder, op: SessionChange['op']) {
  return { kind: 'session', op, tenant, principal, by, because } as const
}

/** Returns a session that has a decision or a scope. @throws KernelError for any other. */
function usedSession(turn: Turn, name: string): SessionState {
  const session = sessionIn(turn.read(name))
  if (session.seq > 0 || session.scope) return session
  throw new KernelError(
    'REQUEST_INVALID',
    'this principal has no such session; check the session id in its receipts',
  )
}

/** Returns the order with its reason validated. A reason is required, because the ledger keeps it permanently. */
function reasoned<T extends PardonOrder>(order: T): T {
  const because = readBecause(order.because)
  if (because === undefined) throw new KernelError('REQUEST_INVALID', 'the reason is missing; give one')
  return { ...order, because }
}
