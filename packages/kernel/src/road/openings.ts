// Decisions that allowed a call whose effect is not known yet. Each is closed by exactly one effect, and if that says
// UNKNOWN, one late effect may follow.

import { sha256Hex } from '@tollgate/evidence'
import type { Appended } from '../ledger/ledger.ts'
import { chargedName, payerOf, type Charged } from '../ledger/storage.ts'

/** An allowed call that has not ended. */
export interface Opening extends Appended {
  readonly tenant: string
  readonly principal: string
  /** Whose question it is, if a server's. */
  readonly author?: string
  readonly session: string
  readonly tool: string
  readonly assurance: 'enforced' | 'advised'
  /** When an advised one ends unreported, in milliseconds; null for an enforced one. */
  readonly expires: number | null
  /** Whether its effect is committed to with a salt. */
  readonly salted: boolean
  /** What its caller calls it. */
  readonly reference?: string
}

/** Whose call it is, and of which session. */
export type SessionOf = Pick<Opening, 'tenant' | 'principal' | 'session'>

/** The openings of a kernel. */
export interface Openings {
  add(opening: Opening): void
  get(id: string): Opening | undefined
  /** The newest that its caller calls so. */
  named(owner: SessionOf, reference: string): Opening | undefined
  /** All of them, oldest first. */
  all(): readonly Opening[]
  remove(id: string): void
  /** How many are charged to this principal. */
  chargedTo(of: Charged): number
  /** Whether an advised opening ended unreported. */
  hasExpired(time: number): boolean
  /** Advised openings that ended unreported, oldest first, at most `most`. */
  expired(time: number, most: number): readonly Opening[]
  readonly size: number
  /** How many were ever added. */
  readonly added: number
}

/** What the names of all openings begin with. */
export const OPENINGS = 'open\n'

/**
 * The name of an opening's private record; it goes when the effect is recorded. The clock comes first, so that a store finds
 * the newest ones side by side: ids are random, and would be spread over all it has.
 */
export function openingName({ id, clock }: Appended): string {
  return `${OPENINGS}${String(clock).padStart(16, '0')}\n${id}`
}

/** The name of the record that lets a late effect follow an UNKNOWN one; it goes when that is recorded. */
export function lateName(id: string): string {
  return `late\n${id}`
}

/** The name of the record that says which decision a caller means; it goes when the effect is known. */
export function referenceName({ tenant, principal, session }: SessionOf, reference: string): string {
  return `ref\n${sha256Hex(JSON.stringify([tenant, principal, session, reference]))}`
}

/** An opening as it is stored: JSON, of which only the names need a writer. */
export function openingText(opening: Opening): string {
  const { id, clock, tenant, principal, author, session, tool, assurance, expires, salted, reference } =
    opening
  const caller = `"tenant":${JSON.stringify(tenant)},"principal":${JSON.stringify(principal)}`
  const owner = `${caller},"session":${JSON.stringify(session)},"tool":${JSON.stringify(tool)}`
  const called = reference === undefined ? '' : `,"reference":${JSON.stringify(reference)}`
  const asked = author === undefined ? '' : `,"author":${JSON.stringify(author)}`
  return `{"id":"${id}","clock":${clock},${owner},"assurance":"${assurance}","expires":${expires},"salted":${salted}${called}${asked}}`
}

/** No call is open. */
export function createOpenings(): Openings {
  // Advised calls all have the same time to live, so the oldest is always the first to end.
  const open = new Map<string, Opening>()
  const advised = new Map<string, Opening>()
  const named = new Map<string, Opening>()
  const charged = new Map<string, number>()
  const count = (opening: Opening, change: 1 | -1): void => {
    const name = chargedName(payerOf(opening))
    const now = (charged.get(name) ?? 0) + change
    if (now > 0) charged.set(name, now)
    else charged.delete(name)
  }
  let added = 0
  return {
    add(opening) {
      added++
      if (!open.has(opening.id)) count(opening, 1)
      open.set(opening.id, opening)
      if (opening.reference !== undefined) named.set(referenceName(opening, opening.reference), opening)
      if (opening.expires !== null) advised.set(opening.id, opening)
    },
    get: (id) => open.get(id),
    named: (owner, reference) => named.get(referenceName(owner, reference)),
    all: () => [...open.values()],
    remove(id) {
      const opening = open.get(id)
      if (opening) count(opening, -1)
      open.delete(id)
      const name = opening?.reference === undefined ? undefined : referenceName(opening, opening.reference)
      // A caller may have called another the same since.
      if (name !== undefined && named.get(name) === opening) named.delete(name)
      advised.delete(id)
    },
    chargedTo: (of) => charged.get(chargedName(of)) ?? 0,
    hasExpired(time) {
      for (const { expires } of advised.values()) return (expires ?? 0) < time
      return false
    },
    expired(time, most) {
      const found: Opening[] = []
      for (const opening of advised.values()) {
        if (found.length >= most || (opening.expires ?? 0) >= time) break
        found.push(opening)
      }
      return found
    },
    get size() {
      return open.size
    },
    get added() {
      return added
    },
  }
}
