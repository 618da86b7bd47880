// Sessions of the revisions that have them. A session belongs to the caller that began it. Its id is no credential: for other
// callers the session does not exist.

import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { Conversation } from '../conversation.ts'
import type { HttpLimits } from './http-limits.ts'
import type { KnownCaller } from '../../tokens.ts'

export interface Session {
  readonly id: string
  readonly owner: string
  /** The path it was begun on. */
  readonly path: string
  readonly conversation: Conversation
  /** Open requests and streams. */
  busy: number
  /** When the last one ended. */
  since: number
  /** Whether it has its stream for messages that belong to no request. */
  listening: boolean
}

interface Sessions {
  /** Begins a session. If there are too many, ends the caller's oldest idle one; undefined if none is idle. */
  begin(
    caller: KnownCaller,
    path: string,
    converse: () => Conversation | undefined,
  ): Session | undefined | 'unknown'
  find(id: string, caller: KnownCaller, path: string): Session | undefined
  end(session: Session): Promise<void>
  /** Ends idle sessions. */
  look(): void
  close(): Promise<void>
}

export function createSessions(limits: HttpLimits): Sessions {
  // Ordered by creation.
  const all = new Map<string, Session>()

  async function end(session: Session): Promise<void> {
    if (all.delete(session.id)) await session.conversation.close()
  }

  function ensureCapacity(owner: string): boolean {
    const own = [...all.values()].filter((session) => session.owner === owner)
    if (own.length < limits.sessions && all.size < limits.sessionsInAll) return true
    const [oldest] = own.filter(({ busy }) => busy === 0).sort((a, b) => a.since - b.since)
    if (oldest) void end(oldest)
    return oldest !== undefined
  }

  return {
    begin({ owner }, path, converse) {
      if (!ensureCapacity(owner)) return undefined
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
