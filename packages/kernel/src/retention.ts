// Closing sessions that nobody has used for a long time: what was remembered of them goes, and the ledger says so.

import type { SessionChange } from '@tollgate/evidence'
import type { Kernel } from './kernel.ts'
import { provenanceName, readSession } from './records.ts'
import { NEW_SESSION, type SessionState, type State } from './session.ts'
import { NO_PROVENANCE } from './taint/provenance.ts'

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
      for (const { name, seq } of idle) {
        const [, tenant = '', principal = '', session = ''] = name.split('\n')
        const data = provenanceName({ tenant, principal }, session)
        turn.append({ anchors: [name, data] }, (header): SessionChange => ({
          ...header,
          kind: 'session',
          tenant,
          op: 'close',
          session,
          principal,
          decisions: seq,
        }))
        turn.write(name, { ...NEW_SESSION, seq }, undefined)
        turn.write(data, { value: NO_PROVENANCE, broken: false }, undefined)
      }
      return idle.length
    },
  })
}

/** Whether it has not been used since it was looked at. One that was opened and never used has its scope alone. */
function isUnused({ seq }: IdleSession, now: SessionState): boolean {
  return now.seq === seq && (seq > 0 || now.scope !== null)
}

function sessionIn(kept: unknown): SessionState {
  // Sound: under such a name only the two are kept, see `stateIn` in `judge.ts`.
  const known = kept as State | SessionState
  return 'session' in known ? known.session : known
}
