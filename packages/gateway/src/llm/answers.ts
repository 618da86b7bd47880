// Requests that come again with the same key: answered with what was answered before, so that no call is decided twice.

import { sha256Hex } from '@tollgate/evidence'
import type { Reply } from '../exchange.ts'
import { Refused, type Ruling } from './dialect.ts'
import { createRecent } from './recent.ts'

/** One request that may come again. */
export interface Attempt {
  /** What was ruled for calls of it, also by an earlier try that came to no end. */
  readonly rulings: Map<string, Ruling>
  /** Keeps a whole answer for whoever asks again. */
  keep(reply: Reply, body: string): void
  /** It came to no end: whoever asks again asks the model again. */
  drop(): void
}

/** Answers by the keys of their requests. */
export interface Answers {
  /**
   * The answer of before, as soon as it is there; or a new attempt.
   *
   * @throws Refused if the same key comes with another body.
   */
  begin(owner: string, key: string, body: string): Promise<Reply | Attempt>
}

interface Kept {
  readonly body: string
  readonly rulings: Map<string, Ruling>
  reply: Reply | undefined
  /** Resolves when the attempt under way has ended. */
  under: Promise<void> | undefined
}

const MOST = 1000
const LONGEST = 1 << 20
const FOR_MS = 600_000

/** Nothing was answered yet. */
export function createAnswers(now: () => number): Answers {
  const kept = createRecent<Kept & { readonly since: number }>(MOST)

  async function begin(owner: string, key: string, body: string): Promise<Reply | Attempt> {
    const name = sha256Hex(`${owner}\n${key}`)
    while (true) {
      const before = kept.get(name)
      if (!before || now() - before.since > FOR_MS) break
      if (before.body !== body) throw another()
      if (before.reply)
        return { ...before.reply, headers: { ...before.reply.headers, 'tollgate-replayed': 'true' } }
      if (!before.under) return attempt(before)
      await before.under
    }
    const fresh = {
      body,
      rulings: new Map<string, Ruling>(),
      reply: undefined,
      under: undefined,
      since: now(),
    }
    kept.set(name, fresh)
    return attempt(fresh)
  }

  return { begin }
}

function attempt(entry: Kept): Attempt {
  let over = (): void => undefined
  entry.under = new Promise((resolve) => (over = resolve))
  const end = (): void => {
    entry.under = undefined
    over()
  }
  return {
    rulings: entry.rulings,
    keep(reply, body) {
      if (body.length <= LONGEST) entry.reply = { ...reply, body }
      end()
    },
    drop: end,
  }
}

function another(): Refused {
  const message = 'the same idempotency key came with another request; use a new key for each request'
  return new Refused(422, 'IDEMPOTENCY_KEY_REUSED', message)
}
