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

export class KeptAnswers {
  readonly #now: () => number
  readonly #basis: DecisionBasis
  readonly #kept = new Map<string, KeptAnswer>()
  #bytes = 0

  constructor(now: () => number, basis: DecisionBasis) {
    this.#now = now
    this.#basis = basis
  }

  /**
   * The earlier answer, as soon as it is complete; or a new attempt.
   * @throws Refused if the key comes with another body, or if calls of the answer can no longer be run.
   */
  async begin(owner: string, key: string, body: string): Promise<Reply | AnswerAttempt> {
    const name = sha256Hex(`${owner}\n${key}`)
    for (let entry = this.#kept.get(name); entry; entry = this.#kept.get(name)) {
      if (entry.body !== body) throw reused(ANOTHER)
      if (entry.under) {
        await entry.under
        continue
      }
      // The basis of the decisions has changed, so they are made again.
      if (entry.basis !== this.#basis.now() || this.#isOld(entry)) {
        this.#forget(name, entry)
        break
      }
      return this.#again(entry) ?? this.#attempt(entry)
    }
    const fresh: KeptAnswer = {
      ...{ owner, body, since: this.#now(), basis: this.#basis.now(), rulings: new Map<string, Ruling>() },
      ...{ reply: undefined, size: 0, under: undefined },
    }
    this.#kept.set(name, fresh)
    this.#tidy(owner)
    return this.#attempt(fresh)
  }

  #isOld({ since }: KeptAnswer): boolean {
    return this.#now() - since > KEPT_MS
  }

  #forget(name: string, entry: KeptAnswer): void {
    if (this.#kept.get(name) === entry) this.#kept.delete(name)
    this.#bytes -= entry.size
    entry.size = 0
  }

  /** Removes the oldest answers, but no running attempt. */
  #tidy(owner: string): void {
    let own = [...this.#kept.values()].filter((entry) => entry.owner === owner).length
    for (const [name, entry] of this.#kept) {
      const isOwn = entry.owner === owner
      const many = this.#kept.size > MAX_ANSWERS || this.#bytes > MAX_BYTES || (isOwn && own > MAX_PER_OWNER)
      if (entry.under || !(this.#isOld(entry) || many)) continue
      if (isOwn) own--
      this.#forget(name, entry)
    }
  }

  #again(entry: KeptAnswer): Reply | undefined {
    const allowed = [...entry.rulings.values()].filter((ruling) => ruling.allowed)
    if (!allowed.every(({ receipt = '' }) => this.#basis.isOpen(receipt))) throw reused(ENDED)
    const { reply } = entry
    return reply && { ...reply, headers: { ...reply.headers, 'tollgate-replayed': 'true' } }
  }

  #attempt(entry: KeptAnswer): AnswerAttempt {
    let over = (): void => undefined
    entry.under = new Promise((resolve) => (over = resolve))
    const end = (): void => {
      entry.under = undefined
      over()
    }
    return {
      rulings: entry.rulings,
      keep: (reply, body) => {
        if (body.length <= MAX_ANSWER_LENGTH) {
          entry.reply = { ...reply, body }
          entry.size = body.length
          this.#bytes += body.length
        }
        end()
      },
      drop: end,
    }
  }
}

const ANOTHER = 'this idempotency key was used for another request; use a new key for each request'
const ENDED = 'the calls in the answer to this idempotency key have been run or have expired; use a new key'

function reused(message: string): Refused {
  return new Refused(422, 'IDEMPOTENCY_KEY_REUSED', message)
}
