// The texts that users wrote, until calls have taken them in. They tell which values come from the user.

import type { Source } from '@tollgate/kernel'
import { Recent } from '../recent.ts'

const MAX_SESSIONS = 1000
const MAX_TEXTS = 32
const MAX_LENGTH = 64 << 10

/** The texts of one session of a client. A subagent works on the same texts as its session. */
interface Written {
  texts: readonly string[]
  /** How many texts were dropped from the front. */
  dropped: number
  /** How many texts, with the dropped ones, each session of the gateway has taken in. */
  readonly taken: Map<string, number>
}

/** Texts that wait for the next call, and the function to call once a decision has taken them in. */
interface PendingWords {
  readonly sources: readonly Source[]
  readonly taken: () => void
}

/** The texts of the users of all sessions, in memory: after a restart the gateway trusts less, never more. */
export class UserWords {
  readonly #sessions = new Recent<Written>(MAX_SESSIONS)

  /** Adds a text of the user of a client's session. Long texts and old ones are dropped. */
  add(owner: string, text: string): void {
    const known = this.#sessions.get(owner) ?? { texts: [], dropped: 0, taken: new Map<string, number>() }
    const texts = [...known.texts, text.slice(0, MAX_LENGTH).toWellFormed()]
    const over = Math.max(0, texts.length - MAX_TEXTS)
    this.#sessions.set(owner, { ...known, texts: texts.slice(over), dropped: known.dropped + over })
  }

  /** The texts that a session of the gateway has not taken in yet. */
  pending(owner: string, session: string): PendingWords {
    const known = this.#sessions.get(owner)
    if (!known) return { sources: [], taken: () => undefined }
    const count = known.dropped + known.texts.length
    const texts = known.texts.slice(Math.max(0, (known.taken.get(session) ?? 0) - known.dropped))
    return {
      sources: texts.map((text) => ({ source_channel: 'USER', text })),
      taken: () => void known.taken.set(session, count),
    }
  }

  /** Forgets a session that is over. */
  end(owner: string): void {
    this.#sessions.delete(owner)
  }
}
