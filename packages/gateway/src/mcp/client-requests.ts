// The requests of one client that are being answered.

import type { JsonObject } from '@tollgate/evidence'
import type { Out } from './conversation.ts'
import { formatNotification, type RequestId } from './message.ts'
import type { Reach } from './proxy.ts'
import { safeMessage } from './safe-text.ts'

/** A request of the client that is being answered. */
export interface ActiveRequest {
  readonly out: Out
  readonly abort: AbortController
  /** Aborted when the connection of the request is lost. The request itself may continue. */
  readonly lost: AbortController
  /** It stays open until it is cancelled. */
  readonly endless: boolean
  /** Lowest level of the log messages that a modern client wants with it. */
  logLevel: string | undefined
  /** The servers that it uses. */
  reached: Reach | undefined
}

const MAX_ACTIVE = 1024

export class ClientRequests {
  readonly #all = new Map<RequestId, ActiveRequest>()

  /** Adds a request. Returns the reason if that is not possible. */
  add(id: RequestId, out: Out, endless: boolean): ActiveRequest | string {
    if (this.#all.has(id)) return 'a request with this id is still in progress'
    if (this.#all.size >= MAX_ACTIVE) return 'too many requests are in progress'
    const [abort, lost] = [new AbortController(), new AbortController()]
    const active: ActiveRequest = { out, abort, lost, endless, logLevel: undefined, reached: undefined }
    this.#all.set(id, active)
    return active
  }

  get(id: RequestId): ActiveRequest | undefined {
    return this.#all.get(id)
  }

  delete(id: RequestId): void {
    this.#all.delete(id)
  }

  /** The connection of a request is lost, or of all requests. */
  lose(id: RequestId | undefined): void {
    if (id !== undefined) this.#all.get(id)?.lost.abort()
    else for (const { lost } of this.#all.values()) lost.abort()
  }

  /** Whether a request uses these servers. */
  uses(used: Reach): boolean {
    return [...this.#all.values()].some(({ reached }) => reached === used)
  }

  /** Aborts all requests, or only those that stay open. */
  abort(which: 'all' | 'endless'): void {
    for (const { abort, endless } of this.#all.values()) if (endless || which === 'all') abort.abort()
  }

  /** Forwards a log message that belongs to no request, if exactly one request wants log messages. */
  tellMessage(params: JsonObject): void {
    const wanting = [...this.#all.values()].filter(({ logLevel }) => logLevel !== undefined)
    const [only] = wanting
    // With several, the owner is unknown, and they may belong to different clients.
    const message = only && wanting.length === 1 ? safeMessage(params, only.logLevel) : undefined
    if (message) only?.out.send(formatNotification('notifications/message', message), false)
  }
}
