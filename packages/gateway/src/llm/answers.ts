// Requests that come again with the same key: answered with what was answered before, so that no call is decided twice.

import { sha256Hex } from '@tollgate/evidence'
import type { Reply } from '../exchange.ts'
import { Refused, type Ruling } from './dialect.ts'

/** One request that may come again. */
export interface AnswerAttempt {
  /** What was ruled for calls of it, also by an earlier try that came to no end. */
  readonly rulings: Map<string, Ruling>
  /** Keeps a whole answer for whoever asks again. */
  keep(reply: Reply, body: string): void
  /** It came to no end: whoever asks again asks the model again. */
  drop(): void
}

/** Answers by the keys of their requests. */
interface KeptAnswers {
  /**
   * The answer of before, as soon as it is there; or a new attempt.
   *
   * @throws Refused if the same key comes with another body, or if calls of the answer can no longer be run.
   */
  begin(owner: string, key: string, body: string): Promise<Reply | AnswerAttempt>
}

/** Whether what was allowed before may still be handed out. */
interface Standing {
  /** The same as long as nothing has changed that decisions rest on, such as a freeze or the policy. */
  now(): string
  /** Whether the call of a decision can still be run. */
  isOpen(receipt: string): boolean
}

interface KeptAnswer {
  readonly owner: string
  readonly body: string
  readonly since: number
  readonly standing: string
  readonly rulings: Map<string, Ruling>
  reply: Reply | undefined
  size: number
  /** Resolves when the attempt under way has ended. */
  under: Promise<void> | undefined
}

const MOST = 4000
const MOST_OF_ONE = 400
const MOST_BYTES = 64 << 20
const LONGEST = 1 << 20
const FOR_MS = 600_000

/** Nothing was answered yet. */
export function createAnswers(now: () => number, standing: Standing): KeptAnswers {
  const kept = new Map<string, KeptAnswer>()
  let bytes = 0

  function forget(name: string, entry: KeptAnswer): void {
    if (kept.get(name) === entry) kept.delete(name)
    bytes -= entry.size
    entry.size = 0
  }

  /** Makes room: the oldest go first, and what is under way stays. */
  function tidy(owner: string): void {
    let own = [...kept.values()].filter((entry) => entry.owner === owner).length
    for (const [name, entry] of kept) {
      const old = now() - entry.since > FOR_MS
      const many = kept.size > MOST || bytes > MOST_BYTES || (entry.owner === owner && own > MOST_OF_ONE)
      if (entry.under || !(old || many)) continue
      if (entry.owner === owner) own--
      forget(name, entry)
    }
  }

  function again(entry: KeptAnswer): Reply | undefined {
    const allowed = [...entry.rulings.values()].filter((ruling) => ruling.allowed)
    if (!allowed.every(({ receipt = '' }) => standing.isOpen(receipt))) throw ended()
    const { reply } = entry
    return reply && { ...reply, headers: { ...reply.headers, 'tollgate-replayed': 'true' } }
  }

  async function begin(owner: string, key: string, body: string): Promise<Reply | AnswerAttempt> {
    const name = sha256Hex(`${owner}\n${key}`)
    for (let entry = kept.get(name); entry; entry = kept.get(name)) {
      if (entry.body !== body) throw another()
      if (entry.under) {
        await entry.under
        continue
      }
      // What was decided then is decided anew under what holds now.
      if (entry.standing !== standing.now() || now() - entry.since > FOR_MS) {
        forget(name, entry)
        break
      }
      return again(entry) ?? attempt(entry)
    }
    const fresh: KeptAnswer = {
      ...{ owner, body, since: now(), standing: standing.now(), rulings: new Map<string, Ruling>() },
      ...{ reply: undefined, size: 0, under: undefined },
    }
    kept.set(name, fresh)
    tidy(owner)
    return attempt(fresh)
  }

  function attempt(entry: KeptAnswer): AnswerAttempt {
    let over = (): void => undefined
    entry.under = new Promise((resolve) => (over = resolve))
    const end = (): void => {
      entry.under = undefined
      over()
    }
    return {
      rulings: entry.rulings,
      keep(reply, body) {
        if (body.length <= LONGEST) {
          entry.reply = { ...reply, body }
          entry.size = body.length
          bytes += body.length
        }
        end()
      },
      drop: end,
    }
  }

  return { begin }
}

function another(): Refused {
  const message = 'the same idempotency key came with another request; use a new key for each request'
  return new Refused(422, 'IDEMPOTENCY_KEY_REUSED', message)
}

function ended(): Refused {
  const message =
    'the calls of the answer to this idempotency key have been run or have ended; use a new key to ask again'
  return new Refused(422, 'IDEMPOTENCY_KEY_REUSED', message)
}
