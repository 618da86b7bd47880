// Questions of a server outside of a call. Only `roots/list` may be one: file servers ask it as soon as they have started, when the
// client cannot answer yet. So a question waits until the client can be asked.

import type { JsonObject } from '@tollgate/evidence'
import { CODE, RpcFault } from './message.ts'
import { createRateLimit } from './safe-text.ts'
import { orLate, withResolvers } from './waiting.ts'

/** Asks the client. @throws RpcFault. */
export type AskClient = (method: string, params: JsonObject) => Promise<JsonObject>

/** How a question reaches the client. */
interface QuestionWay {
  /** Asks the client outside of its requests; undefined if that is not possible now. */
  readonly now: () => AskClient | undefined
  /** Judges the question and asks the client. */
  readonly run: (ask: AskClient) => Promise<JsonObject>
  /** Aborted when the server no longer waits. */
  readonly signal: AbortSignal
}

// Each question is a decision and a receipt.
const MOST_A_MINUTE = 16
// A call does not wait longer for the answer to an earlier question, or for a server to ask again.
const PATIENCE_MS = 5000
const AGAIN_MS = 1000

/** The questions of one server outside of its calls. */
export class OutsideQuestions {
  readonly #mayAsk = createRateLimit(MOST_A_MINUTE)
  readonly #open = new Set<Promise<unknown>>()
  /** The questions that wait for a way to the client. */
  readonly #waiting = new Set<ReturnType<typeof withResolvers<AskClient>>>()
  #arrived = (): void => undefined
  #isMissed = false
  #refused: { readonly request: string | undefined } | undefined

  /** Answers a question as soon as the client can be asked. @throws RpcFault. */
  async answer(options: QuestionWay): Promise<JsonObject> {
    if (!this.#mayAsk()) throw new RpcFault(CODE.internal, 'the server asks too often; try again later')
    const answered = this.#answer(options)
    this.#open.add(answered)
    this.#arrived()
    try {
      return await answered
    } finally {
      this.#open.delete(answered)
    }
  }

  async #answer({ now, run, signal }: QuestionWay): Promise<JsonObject> {
    return run(now() ?? (await this.#way(signal)))
  }

  async #way(signal: AbortSignal): Promise<AskClient> {
    const way = withResolvers<AskClient>()
    const gone = (): void => {
      this.#isMissed = true
      way.reject(new RpcFault(CODE.internal, 'the client could not be asked in time'))
    }
    this.#waiting.add(way)
    signal.addEventListener('abort', gone, { once: true })
    try {
      return await way.promise
    } finally {
      this.#waiting.delete(way)
      signal.removeEventListener('abort', gone)
    }
  }

  /** The client can be asked now. */
  ask(ask: AskClient): void {
    for (const { resolve } of this.#waiting) resolve(ask)
  }

  /** The server has ended. A new one asks again. */
  lose(): void {
    for (const { reject } of this.#waiting) reject(new RpcFault(CODE.internal, 'the server has ended'))
  }

  /**
   * Settles the questions before a call, because its answer may depend on theirs. `ask` is for the time of the call. `again` makes a
   * server repeat a question that the client did not get in time. Never rejects.
   */
  async settle(ask: AskClient, again: () => void): Promise<void> {
    if (this.#isMissed) {
      this.#isMissed = false
      const arrival = new Promise<void>((resolve) => (this.#arrived = resolve))
      again()
      await orLate(arrival, AGAIN_MS)
    }
    if (this.#open.size === 0) return
    const all = Promise.allSettled(this.#open)
    const isOwn = this.#waiting.size > 0
    this.ask(ask)
    // A question in this call ends with it.
    await (isOwn ? all : orLate(all, PATIENCE_MS))
  }

  /** A question was denied. A person may still answer the request. */
  refuse(request: string | undefined): void {
    this.#refused = { request }
  }

  /** Whether a denied question is approved now. Then the server is to ask again, once. */
  takeApproved(isApproved: (request: string | undefined) => boolean): boolean {
    if (!this.#refused || !isApproved(this.#refused.request)) return false
    this.#refused = undefined
    return true
  }
}
