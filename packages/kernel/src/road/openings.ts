// Openings: allowed calls whose effect is not known yet. Each is closed by exactly one effect. After UNKNOWN, one late effect may
// follow.

import { sha256Hex } from '@tollgate/evidence'
import type { Appended } from '../ledger/ledger.ts'
import { chargedName, payerOf, type Charged } from '../ledger/storage.ts'

/** An allowed call without an effect. */
export interface Opening extends Appended {
  readonly tenant: string
  readonly principal: string
  /** The server that asks, if it is a question of a server. */
  readonly author?: string
  readonly session: string
  readonly tool: string
  readonly assurance: 'enforced' | 'advised'
  /** The client asks its person first, so the call expires later. */
  readonly prompted?: true
  /** When an advised call expires without a report, in milliseconds; null for an enforced call. */
  readonly expires: number | null
  /** Whether the hash of its effect is salted. */
  readonly salted: boolean
  /** The caller's own id for the call. */
  readonly reference?: string
  /** The writer whose gateway runs the call, if the ledger has several. */
  readonly writer?: string
}

/** The owner and session of a call. */
export type SessionOf = Pick<Opening, 'tenant' | 'principal' | 'session'>

/** The openings of a kernel. */
export interface Openings {
  add(opening: Opening): void
  get(id: string): Opening | undefined
  /** Returns the newest opening with this id of the caller. */
  named(owner: SessionOf, reference: string): Opening | undefined
  /** Returns all openings, oldest first. */
  all(): readonly Opening[]
  remove(id: string): void
  /** Returns how many are charged to this principal. */
  chargedTo(of: Charged): number
  /** Returns whether an advised opening has expired. */
  hasExpired(time: number): boolean
  /** Returns expired advised openings, oldest first, at most `most`. */
  expired(time: number, most: number): readonly Opening[]
  readonly size: number
  /** How many were ever added. */
  readonly added: number
}

/** The prefix of all opening names. */
export const OPENINGS = 'open\n'

/**
 * Returns the name of an opening's private record, which is removed with the effect. The clock comes first, so that a store keeps
 * new records next to each other; random ids would scatter them.
 */
export function openingName({ id, clock }: Appended): string {
  return `${OPENINGS}${String(clock).padStart(16, '0')}\n${id}`
}

/** Returns the name of the record that allows a late effect after UNKNOWN. It is removed with that effect. */
export function lateName(id: string): string {
  return `late\n${id}`
}

/** Returns the name of the record that maps a caller's own id to a decision. It is removed once the effect is known. */
export function referenceName({ tenant, principal, session }: SessionOf, reference: string): string {
  return `ref\n${sha256Hex(JSON.stringify([tenant, principal, session, reference]))}`
}

/** Returns an opening as JSON. It is written by hand for speed; only the names need quoting. */
export function openingText(opening: Opening): string {
  const { id, clock, tenant, principal, author, session, tool, assurance } = opening
  const { expires, salted, reference, prompted } = opening
  const caller = `"tenant":${JSON.stringify(tenant)},"principal":${JSON.stringify(principal)}`
  const owner = `${caller},"session":${JSON.stringify(session)},"tool":${JSON.stringify(tool)}`
  const called = reference === undefined ? '' : `,"reference":${JSON.stringify(reference)}`
  const asked = author === undefined ? '' : `,"author":${JSON.stringify(author)}`
  const run = opening.writer === undefined ? '' : `,"writer":${JSON.stringify(opening.writer)}`
  const prompt = prompted === undefined ? '' : ',"prompted":true'
  return `{"id":"${id}","clock":${clock},${owner},"assurance":"${assurance}","expires":${expires},"salted":${salted}${called}${asked}${prompt}${run}}`
}

function isDue(list: ReadonlyMap<string, Opening>, time: number): boolean {
  for (const { expires } of list.values()) return (expires ?? 0) < time
  return false
}

/** Returns an empty collection of openings. */
export function createOpenings(): Openings {
  const open = new Map<string, Opening>()
  // All calls of a list have the same lifetime, so the oldest expires first.
  const advised = new Map<string, Opening>()
  const prompted = new Map<string, Opening>()
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
      if (opening.expires !== null) (opening.prompted ? prompted : advised).set(opening.id, opening)
    },
    get: (id) => open.get(id),
    named: (owner, reference) => named.get(referenceName(owner, reference)),
    all: () => [...open.values()],
    remove(id) {
      const opening = open.get(id)
      if (opening) count(opening, -1)
      open.delete(id)
      const name = opening?.reference === undefined ? undefined : referenceName(opening, opening.reference)
      // The caller may have reused its id for another call.
      if (name !== undefined && named.get(name) === opening) named.delete(name)
      advised.delete(id)
      prompted.delete(id)
    },
    chargedTo: (of) => charged.get(chargedName(of)) ?? 0,
    hasExpired(time) {
      return isDue(advised, time) || isDue(prompted, time)
    },
    expired(time, most) {
      const found: Opening[] = []
      for (const list of [advised, prompted]) {
        for (const opening of list.values()) {
          if (found.length >= most || (opening.expires ?? 0) >= time) break
          found.push(opening)
        }
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
