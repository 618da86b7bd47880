// Closes sessions that were idle for a long time: removes their records and appends a receipt.

import type { SessionChange } from '@tollgate/evidence'
import type { Kernel } from '../kernel.ts'
import { provenanceName, readSession } from './records.ts'
import type { Appended, Turn } from './ledger.ts'
import { NEW_SESSION, sessionIn, type SessionState } from './session.ts'
import { DETECTORS } from '../gates/index.ts'

/** A stored session: the name of its record, and its number of decisions. */
export interface IdleSession {
  readonly name: string
  readonly seq: number
}

/**
 * Closes sessions whose records have reached the configured age, and removes the records. A session that was used since it was
 * listed stays open. The record of the principal stays.
 *
 * @returns how many sessions were closed.
 */
export async function closeSessions(kernel: Kernel, sessions: readonly IdleSession[]): Promise<number> {
  return kernel.ledger.append({
    reads: sessions.map(({ name }) => ({ name, parse: readSession })),
    run: (turn) => {
      const idle = sessions.filter((each) => isUnused(each, sessionIn(turn.read(each.name))))
      for (const { name, seq } of idle) closeIn(turn, name, seq)
      return idle.length
    },
  })
}

/** Closes a session in a turn and removes its records. If a person closes it, the receipt has the name and the reason. */
export function closeIn(
  turn: Turn,
  name: string,
  seq: number,
  person?: { readonly by: string; readonly because: string },
): Appended {
  const [, tenant = '', principal = '', session = ''] = name.split('\n')
  const data = provenanceName({ tenant, principal }, session)
  const appended = turn.append({ anchors: [name, data] }, (header): SessionChange => ({
    ...header,
    kind: 'session',
    tenant,
    op: 'close',
    session,
    principal,
    decisions: seq,
    ...(person && { by: person.by, because: person.because }),
  }))
  turn.write(name, { ...NEW_SESSION, seq }, undefined)
  turn.write(data, { value: DETECTORS.taint.none, broken: false }, undefined)
  return appended
}

/** Returns whether the session is unused since it was listed. A session that was only opened has nothing but a scope. */
function isUnused({ seq }: IdleSession, now: SessionState): boolean {
  return now.seq === seq && (seq > 0 || now.scope !== null)
}
