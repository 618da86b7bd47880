// Sessions of the revisions that have them. A session belongs to whoever began it: its id is no credential, and for anybody else
// it does not exist.

import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { Conversation } from '../conversation.ts'
import type { HttpLimits } from './http-limits.ts'
import type { KnownCaller } from '../../tokens.ts'

/** A session. */
export interface Session {
  readonly id: string
  readonly owner: string
  /** The path it was begun on. */
  readonly path: string
  readonly conversation: Conversation
  /** Requests and streams that are open. */
  busy: number
  /** When the last one ended. */
  since: number
  /** It has its stream for what belongs to no request. */
  listening: boolean
}

/** All sessions. */
interface Sessions {
  /** Begins one, ending the caller's oldest idle one if there are too many. Undefined if there still are. */
  begin(
    caller: KnownCaller,
    path: string,
    converse: () => Conversation | undefined,
  ): Session | undefined | 'unknown'
  find(id: string, caller: KnownCaller, path: string): Session | undefined
  end(session: Session): Promise<void>
  /** Ends those that are idle. */
  look(): void
  close(): Promise<void>
}

/** There are no sessions yet. */
export function createSessions(limits: HttpLimits): Sessions {
  // In the order of their last use.
  const all = new Map<string, Session>()

  async function end(session: Session): Promise<void> {
    if (all.delete(session.id)) await session.conversation.close()
  }

  function makeRoom(owner: string): boolean {
    const own = [...all.values()].filter((session) => session.owner === owner)
    if (own.length < limits.sessions && all.size < limits.sessionsInAll) return true
    const [oldest] = own.filter(({ busy }) => busy === 0).sort((a, b) => a.since - b.since)
    if (oldest) void end(oldest)
    return oldest !== undefined
  }

  return {
    begin({ owner }, path, converse) {
      if (!makeRoom(owner)) return undefined
      const conversation = converse()
      if (!conversation) return 'unknown'
      const id = randomBytes(32).toString('base64url')
      const session = { id, owner, path, conversation, busy: 0, since: performance.now(), listening: false }
      all.set(id, session)
      return session
    },
    find(id, { owner }, path) {
      const session = all.get(id)
      return session?.owner === owner && session.path === path ? session : undefined
    },
    end,
    look() {
      const before = performance.now() - limits.sessionIdle
      for (const session of all.values()) if (session.busy === 0 && session.since <= before) void end(session)
    },
    async close() {
      await Promise.all([...all.values()].map(end))
    },
  }
}
