// Sends requests to a legacy client, mostly while one of its own requests is in progress.

import type { JsonObject } from '@tollgate/evidence'
import type { Out } from './conversation.ts'
import { CODE, formatRequest, RpcFault, type Response } from './message.ts'
import type { AskClient } from './outside.ts'
import { withResolvers } from './waiting.ts'

const MAX_WAITING = 256
const ANSWER_WITHIN_MS = 110_000

export class ClientQuestions {
  readonly #waiting = new Map<string, ReturnType<typeof withResolvers<JsonObject>>>()
  #asked = 0
  /** The receiver of messages that belong to no request. */
  #attached: Out | undefined
  #isGreeted = false

  attach(out: Out | undefined): void {
    this.#attached = out
  }

  /** The greeting of the client is over. It takes no question before. */
  greeted(): void {
    this.#isGreeted = true
  }

  /** Asks the client outside of its requests; undefined if it takes no questions there now. */
  now(): AskClient | undefined {
    const out = this.#isGreeted ? this.#attached : undefined
    if (!out) return undefined
    const send = (message: string): void => out.send(message, false)
    return (method, params) => this.ask(send, method, params, AbortSignal.timeout(ANSWER_WITHIN_MS))
  }

  /** Asks the client. @throws RpcFault */
  async ask(
    send: (message: string) => void,
    method: string,
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    if (this.#waiting.size >= MAX_WAITING)
      throw new RpcFault(CODE.internal, 'too many questions to the client are open')
    const id = `tollgate-${this.#asked++}`
    const question = withResolvers<JsonObject>()
    const gone = (): void => question.reject(new RpcFault(CODE.internal, 'the client cancelled'))
    signal.addEventListener('abort', gone)
    this.#waiting.set(id, question)
    try {
      send(formatRequest(id, method, params))
      return await question.promise
    } finally {
      this.#waiting.delete(id)
      signal.removeEventListener('abort', gone)
    }
  }

  /** Takes an answer of the client. An answer to no open question is dropped. */
  take(response: Response): void {
    const question = this.#waiting.get(String(response.id))
    if ('result' in response) question?.resolve(response.result)
    else question?.reject(new RpcFault(response.error.code, response.error.message, response.error.data))
  }

  /** Rejects every open question. */
  close(): void {
    for (const { reject } of this.#waiting.values()) reject(new RpcFault(CODE.internal, 'the client is gone'))
  }
}
