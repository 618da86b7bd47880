// Keeps answers by idempotency key. A repeated request gets the same answer, so that no call is decided twice.

import { sha256Hex } from '@tollgate/evidence'
import type { Reply } from '../exchange.ts'
import { Refused, type Ruling } from './dialect.ts'

/** A request that may be repeated. */
export interface AnswerAttempt {
  /** The rulings on its calls, including those of an earlier attempt that did not finish. */
  readonly rulings: Map<string, Ruling>
  /** Keeps a whole answer for repeated requests. */
  keep(reply: Reply, body: string): void
  /** The attempt did not finish. A repeated request asks the model again. */
  drop(): void
}

interface KeptAnswers {
  /**
   * The earlier answer, as soon as it is complete; or a new attempt.
   * @throws Refused if the key comes with another body, or if calls of the answer can no longer be run.
   */
  begin(owner: string, key: string, body: string): Promise<Reply | AnswerAttempt>
}

/** Tells whether an earlier ALLOW may still be answered. */
interface DecisionBasis {
  /** A value that changes with everything decisions depend on, such as a freeze or the policy. */
  now(): string
  /** Whether the call of a decision can still be run. */
  isOpen(receipt: string): boolean
}

interface KeptAnswer {
  readonly owner: string
  readonly body: string
  readonly since: number
  readonly basis: string
  readonly rulings: Map<string, Ruling>
  reply: Reply | undefined
  size: number
  /** Resolves when the running attempt has ended. */
  under: Promise<void> | undefined
}

const MAX_ANSWERS = 4000
const MAX_PER_OWNER = 400
const MAX_BYTES = 64 << 20
const MAX_ANSWER_LENGTH = 1 << 20
const KEPT_MS = 600_000

export function createAnswers(now: () => number, basis: DecisionBasis): KeptAnswers {
  const kept = new Map<string, KeptAnswer>()
  let bytes = 0

  function forget(name: string, entry: KeptAnswer): void {
    if (kept.get(name) === entry) kept.delete(name)
    bytes -= entry.size
    entry.size = 0
  }

  /** Removes the oldest answers, but no running attempt. */
  function tidy(owner: string): void {
    let own = [...kept.values()].filter((entry) => entry.owner === owner).length
    for (const [name, entry] of kept) {
      const old = now() - entry.since > KEPT_MS
      const many =
        kept.size > MAX_ANSWERS || bytes > MAX_BYTES || (entry.owner === owner && own > MAX_PER_OWNER)
      if (entry.under || !(old || many)) continue
      if (entry.owner === owner) own--
      forget(name, entry)
    }
  }

  function again(entry: KeptAnswer): Reply | undefined {
    const allowed = [...entry.rulings.values()].filter((ruling) => ruling.allowed)
    if (!allowed.every(({ receipt = '' }) => basis.isOpen(receipt))) throw ended()
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
      // The basis of the decisions has changed, so they are made again.
      if (entry.basis !== basis.now() || now() - entry.since > KEPT_MS) {
        forget(name, entry)
        break
      }
      return again(entry) ?? attempt(entry)
    }
    const fresh: KeptAnswer = {
      ...{ owner, body, since: now(), basis: basis.now(), rulings: new Map<string, Ruling>() },
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
        if (body.length <= MAX_ANSWER_LENGTH) {
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
  const message = 'this idempotency key was used for another request; use a new key for each request'
  return new Refused(422, 'IDEMPOTENCY_KEY_REUSED', message)
}

function ended(): Refused {
  const message =
    'the calls in the answer to this idempotency key have been run or have expired; use a new key'
  return new Refused(422, 'IDEMPOTENCY_KEY_REUSED', message)
}
