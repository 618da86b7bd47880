// Relays between a client and its gateway, which can start late, end and return. Answers every request and sends none twice.

import { clearTimeout, setTimeout } from 'node:timers'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  CODE,
  formatError,
  MAX_MESSAGE,
  parseMessage,
  type Request,
  type RequestId,
} from '../../mcp/message.ts'
import type { WrapLink, LinkEvents } from './wrap-link.ts'
import { word } from '../program/table.ts'
import { notRun, refusalOf, unknownOutcome } from './wrap-refusal.ts'
import { StartFailed } from './wrap-start.ts'

interface RelayOptions {
  readonly data: string
  /** Joins a gateway. `again` is the first request of the client, and `mayStart` tells whether a gateway may be started. */
  join(events: LinkEvents, again: Request | undefined, mayStart: boolean): Promise<WrapLink>
  /** Writes a line to the client; false if the client must read first. */
  write(line: string): boolean
  stderr(text: string): void
  say(sentence: string): void
  readonly times?: Partial<RelayTimes>
}

/** Times in milliseconds. */
interface RelayTimes {
  /** How long a request waits for the first gateway. */
  readonly patience: number
  /** How long running requests may take after the client has ended its input. */
  readonly farewell: number
  /** The first and the longest pause before joining again. */
  readonly pause: number
  readonly longestPause: number
}

const TIMES: RelayTimes = { patience: 15_000, farewell: 10_000, pause: 100, longestPause: 5000 }
const MAX_WAITING = 256
// The first requests of a client, in both protocols. They change nothing, so they may be sent again.
const FIRST_METHODS: readonly string[] = ['initialize', 'server/discover']

interface HeldRequest {
  readonly request: Request
  readonly line: Uint8Array
  readonly timer: NodeJS.Timeout
}

/** Tries to join a gateway until it is closed. */
export class Relay {
  readonly #options: RelayOptions
  readonly #times: RelayTimes
  /** Requests that were not sent yet. */
  readonly #waiting = new Map<RequestId, HeldRequest>()
  /** Requests that were sent and have no answer yet. */
  readonly #running = new Map<RequestId, { readonly request: Request; readonly line: Uint8Array }>()
  #link: WrapLink | undefined
  /** The client's `initialize`, once it was answered. */
  #again: Request | undefined
  #everJoined = false
  /** Whether the last gateway said that it stops. */
  #wasAnnounced = false
  #isClosed = false
  /** Why there is no gateway. */
  #reason = 'it is being started'
  /** Milliseconds before the next attempt to join. */
  #pause: number
  /** Called when all requests are answered. */
  #settled = (): void => undefined

  constructor(options: RelayOptions) {
    this.#options = options
    this.#times = { ...TIMES, ...options.times }
    this.#pause = this.#times.pause
    this.#keepJoined().catch(() => undefined)
  }

  take(line: Uint8Array): void {
    if (line.length === 0) return
    const message = parseMessage(line)
    if (message.kind === 'request') {
      this.#takeRequest(message, line)
      return
    }
    if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
      const { requestId: id } = message.params
      // A cancelled request gets no answer, whether or not it was sent.
      if (typeof id === 'string' || typeof id === 'number') this.#forget(id)
    }
    // The gateway records unreadable messages, if they are not too long.
    if (this.#link && line.length <= MAX_MESSAGE) this.#link.send(line)
    else if (message.kind === 'unreadable') this.#options.write(formatError(message.id, message.error))
  }

  /** The client reads again. */
  drained(): void {
    this.#link?.resume()
  }

  /** The client has ended its input. Resolves when all requests are answered, or after a time limit. */
  async finish(): Promise<void> {
    const { patience, farewell } = this.#times
    await new Promise<void>((resolve) => {
      setTimeout(resolve, this.#waiting.size > 0 ? patience + farewell : farewell).unref()
      this.#settled = resolve
      this.#settleIfIdle()
    })
    this.close()
  }

  close(): void {
    this.#isClosed = true
    this.#refuseWaiting()
    this.#link?.end()
    this.#settled()
  }

  #takeRequest(request: Request, line: Uint8Array): void {
    const { id, method } = request
    if (this.#running.has(id) || this.#waiting.has(id)) {
      const message = 'a request with this id is already running'
      this.#options.write(formatError(id, { code: CODE.invalidRequest, message }))
    } else if (this.#link) this.#send(this.#link, request, line)
    else if ((this.#everJoined && !FIRST_METHODS.includes(method)) || this.#waiting.size >= MAX_WAITING) {
      this.#refuse(request)
    } else this.#wait(request, line)
  }

  #send(to: WrapLink, request: Request, line: Uint8Array): void {
    this.#running.set(request.id, { request, line })
    to.send(line)
  }

  #wait(request: Request, line: Uint8Array): void {
    const timer = setTimeout(() => this.#refuse(request), this.#times.patience)
    this.#waiting.set(request.id, { request, line, timer })
  }

  #refuseWaiting(): void {
    for (const { request } of [...this.#waiting.values()]) this.#refuse(request)
  }

  /** Answers a request that was not sent. */
  #refuse(request: Request): void {
    this.#answer(request, refusalOf(request, notRun(this.#options.data, this.#reason)))
  }

  /** Answers the client and removes the request. */
  #answer(request: Request, text: string): void {
    this.#forget(request.id)
    this.#options.write(text)
    this.#settleIfIdle()
  }

  #forget(id: RequestId): void {
    clearTimeout(this.#waiting.get(id)?.timer)
    this.#waiting.delete(id)
    this.#running.delete(id)
  }

  #settleIfIdle(): void {
    const isListening = ({ method }: Request): boolean => method === 'subscriptions/listen'
    const busy = [...this.#running.values()].some(({ request }) => !isListening(request))
    if (!busy && this.#waiting.size === 0) this.#settled()
  }

  async #keepJoined(): Promise<void> {
    while (!this.#isOver()) {
      try {
        await this.#joinOnce()
      } catch (fault) {
        this.#notJoined(fault)
      }
      await sleep(this.#pause, undefined, { ref: false })
      this.#pause = Math.min(2 * this.#pause, this.#times.longestPause)
    }
  }

  // A method, because the value changes during an await.
  #isOver(): boolean {
    return this.#isClosed
  }

  /** Joins a gateway and waits for its end. */
  async #joinOnce(): Promise<void> {
    let ended = (): void => undefined
    const end = new Promise<void>((resolve) => (ended = resolve))
    this.#joined(await this.#options.join(this.#events(ended), this.#again, !this.#wasAnnounced))
    if (this.#isOver()) this.#link?.close()
    this.#pause = this.#times.pause
    await end
    this.#lost()
    if (!this.#isOver()) this.#options.say(`lost the gateway: ${this.#reason}; trying to connect again`)
  }

  #notJoined(fault: unknown): void {
    const { data } = this.#options
    const message = fault instanceof Error ? fault.message : 'unknown error'
    if (message !== this.#reason && !this.#isOver())
      this.#options.say(`no gateway: ${message}; start one with \`tollgate up --data ${word(data)}\``)
    this.#reason = message
    // Waiting would not help.
    if (fault instanceof StartFailed) this.#refuseWaiting()
  }

  #events(ended: () => void): LinkEvents {
    return {
      onLine: (line) => this.#takeLine(line),
      onStderr: (text) => this.#options.stderr(text),
      onEnd: (announced) => {
        this.#wasAnnounced = announced
        ended()
      },
    }
  }

  /** Takes a line of the gateway. Only valid messages are for the client. */
  #takeLine(line: Buffer): void {
    const message = parseMessage(line, 2 * MAX_MESSAGE)
    if (message.kind === 'unreadable') return
    if (message.kind === 'response' && message.id !== undefined) {
      const request = this.#running.get(message.id)?.request
      if (request?.method === 'initialize' && 'result' in message) this.#again = request
      this.#running.delete(message.id)
    }
    if (!this.#options.write(line.toString('utf8'))) this.#link?.pause()
    this.#settleIfIdle()
  }

  /** Sends the waiting requests. */
  #joined(to: WrapLink): void {
    if (this.#everJoined) this.#options.say('connected to the gateway again')
    this.#link = to
    this.#everJoined = true
    for (const { request, line, timer } of [...this.#waiting.values()]) {
      clearTimeout(timer)
      this.#waiting.delete(request.id)
      this.#send(to, request, line)
    }
  }

  /** The gateway has ended: the outcome of running requests is unknown. Only first requests are sent again. */
  #lost(): void {
    this.#link = undefined
    this.#reason = this.#wasAnnounced ? 'it was stopped' : 'it has ended'
    for (const { request, line } of [...this.#running.values()]) {
      this.#running.delete(request.id)
      if (FIRST_METHODS.includes(request.method) && !this.#isClosed) this.#wait(request, line)
      else this.#answer(request, refusalOf(request, unknownOutcome(this.#options.data)))
    }
  }
}
