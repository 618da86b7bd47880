// Sets the scope of a session. Each scope is a receipt and applies to every later call of the session.

import { toHex, type SessionChange } from '@tollgate/evidence'
import { KernelError } from '../error.ts'
import type { Kernel } from '../kernel.ts'
import type { Appended, Turn } from '../ledger/ledger.ts'
import { principalName, readPrincipal, readSession, sessionName } from '../ledger/records.ts'
import {
  sessionIn,
  stateOf,
  stateText,
  type Kept,
  type PrincipalState,
  type SessionState,
} from '../ledger/session.ts'
import { isFull, STORAGE_USED_UP } from '../ledger/storage.ts'
import { isNarrower } from '../gates/scope/holds.ts'
import { isSameScope, scopeHash, shownScope, type HeldScope, type Scope } from '../gates/scope/scope.ts'

/** A scope for a session. */
interface ScopeOrder {
  readonly tenant: string
  readonly principal: string
  readonly session: string
  readonly scope: Scope
  /** The person or host application that sets it, authenticated by the door. */
  readonly by: string
  /** An operator may set any scope. A `host` may set the first scope before the first call, and later only a narrower one. */
  readonly as: 'host' | 'operator'
}

/** The result of setting a scope. */
export interface ScopeSet {
  /** Hash of the scope in force. */
  readonly hash: string
  /** The id of the receipt; undefined if the same scope was already in force. */
  readonly receipt: string | undefined
}

/**
 * Sets the scope of a session. Setting the scope that is in force changes nothing, even if approvals have widened it since.
 *
 * @throws KernelError `SCOPE_REFUSED` if a `host` would widen it or the session has had calls; `LEDGER_POISONED`, `LEDGER_FULL`.
 */
export async function setScope(kernel: Kernel, order: ScopeOrder): Promise<ScopeSet> {
  const names = { session: sessionName(order, order.session), principal: principalName(order) }
  return kernel.ledger.append({
    reads: [
      { name: names.session, parse: readSession },
      { name: names.principal, parse: (stored) => readPrincipal(stored, order.principal) },
    ],
    run: (turn) => {
      const before = sessionIn(turn.read(names.session))
      if (before.scope && isSameScope(before.scope, order.scope)) {
        return { hash: scopeHash(before.scope), receipt: undefined }
      }
      refuseWider(before, order)
      const isLimited = order.as === 'host'
      if (isLimited && isFull(kernel, order, turn.time)) throw refuse(STORAGE_USED_UP)
      const { written } = turn
      const scope: HeldScope = { ...order.scope, salt: toHex(kernel.host.salt()) }
      // Safe cast: only such records are kept under this name.
      const principal = turn.read(names.principal) as Kept<PrincipalState>
      const records = { session: { ...before, scope }, principal, tenant: undefined, lineage: undefined }
      const text = stateText(records)
      const state = stateOf(records, text)
      const { id } = record(turn, order, { before, scope, name: names.session, next: state.hash })
      turn.write(names.session, state, text)
      if (isLimited) kernel.storage.charge(order, turn, turn.written - written)
      return { hash: scopeHash(scope), receipt: id }
    },
  })
}

/** Returns the current scope of a session, as widened by approvals; undefined if it has none. */
export async function scopeOf(
  kernel: Kernel,
  of: Pick<ScopeOrder, 'tenant' | 'principal' | 'session'>,
): Promise<HeldScope | undefined> {
  const name = sessionName(of, of.session)
  const found = await kernel.ledger.append({
    reads: [{ name, parse: readSession }],
    run: (turn) => ({ scope: sessionIn(turn.read(name)).scope ?? undefined }),
  })
  return found.scope
}

function refuseWider({ seq, scope, broken }: SessionState, order: ScopeOrder): void {
  if (broken) throw refuse('the stored state of the session was lost; open another session')
  if (order.as === 'operator') return
  if (scope ? isNarrower(order.scope, scope) : seq === 0) return
  throw refuse(
    scope
      ? 'it is wider than the scope in force; approve single calls, or let an operator set it'
      : 'the session already has calls; open another session, or let an operator set the scope',
  )
}

function refuse(message: string): KernelError {
  return new KernelError('SCOPE_REFUSED', message)
}

interface Made {
  readonly before: SessionState
  readonly scope: HeldScope
  readonly name: string
  readonly next: string
}

function record(turn: Turn, { tenant, principal, session, by }: ScopeOrder, made: Made): Appended {
  const { before, scope, name, next } = made
  return turn.append({ anchors: [name] }, (header): SessionChange => ({
    ...header,
    kind: 'session',
    tenant,
    op: before.scope ? 'scope' : 'open',
    session,
    principal,
    scope_hash: scopeHash(scope),
    scope: shownScope(scope),
    next_state_hash: next,
    by,
    decisions: before.seq,
  }))
}
