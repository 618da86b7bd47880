// Closing sessions that nobody has used for a long time: what was remembered of them goes, and the ledger says so.

import type { SessionChange } from '@tollgate/evidence'
import type { Kernel } from '../kernel.ts'
import { provenanceName, readSession } from './records.ts'
import type { Appended, Turn } from './ledger.ts'
import { NEW_SESSION, sessionIn, type SessionState } from './session.ts'
import { DETECTORS } from '../gates/index.ts'

/** A session as the store has it: the name of its record, and how many decisions it has had. */
export interface IdleSession {
  readonly name: string
  readonly seq: number
}

/**
 * Closes sessions whose records are as old as the operator wants to keep them, and removes the records. One that has been
 * used since it was looked at stays open. What is known of the principal itself is not touched.
 *
 * @returns how many were closed.
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

/** Closes a session in a turn: what was remembered of it goes. A person who does it is named, with the reason. */
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

/** Whether it has not been used since it was looked at. One that was opened and never used has its scope alone. */
function isUnused({ seq }: IdleSession, now: SessionState): boolean {
  return now.seq === seq && (seq > 0 || now.scope !== null)
}
