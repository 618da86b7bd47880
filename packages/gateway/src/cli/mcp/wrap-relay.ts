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

interface Relay {
  take(line: Uint8Array): void
  /** The client reads again. */
  drained(): void
  /** The client has ended its input. Resolves when all requests are answered, or after a time limit. */
  finish(): Promise<void>
  close(): void
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

/** Creates a relay. It tries to join a gateway until it is closed. */
export function createRelay(options: RelayOptions): Relay {
  const times = { ...TIMES, ...options.times }
  const waiting = new Map<RequestId, HeldRequest>()
  const running = new Map<RequestId, { readonly request: Request; readonly line: Uint8Array }>()
  let link: WrapLink | undefined
  let again: Request | undefined
  let everJoined = false
  let wasAnnounced = false
  let isClosed = false
  let reason = 'it is being started'
  let settled = (): void => undefined

  /** Answers the client and removes the request. */
  function answer(request: Request, text: string): void {
    forget(request.id)
    options.write(text)
    settleIfIdle()
  }

  function forget(id: RequestId): void {
    clearTimeout(waiting.get(id)?.timer)
    waiting.delete(id)
    running.delete(id)
  }

  function settleIfIdle(): void {
    const busy = [...running.values()].some(({ request }) => request.method !== 'subscriptions/listen')
    if (!busy && waiting.size === 0) settled()
  }

  function take(line: Uint8Array): void {
    if (line.length === 0) return
    const message = parseMessage(line)
    if (message.kind === 'request') {
      takeRequest(message, line)
      return
    }
    if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
      const { requestId: id } = message.params
      // A cancelled request gets no answer, whether or not it was sent.
      if (typeof id === 'string' || typeof id === 'number') forget(id)
    }
    // The gateway records unreadable messages, if they are not too long.
    if (link && line.length <= MAX_MESSAGE) link.send(line)
    else if (message.kind === 'unreadable') options.write(formatError(message.id, message.error))
  }

  function takeRequest(request: Request, line: Uint8Array): void {
    const { id, method } = request
    if (running.has(id) || waiting.has(id)) {
      const message = 'a request with this id is already running'
      options.write(formatError(id, { code: CODE.invalidRequest, message }))
    } else if (link) send(link, request, line)
    else if ((everJoined && !FIRST_METHODS.includes(method)) || waiting.size >= MAX_WAITING) {
      answer(request, refusalOf(request, notRun(options.data, reason)))
    } else wait(request, line)
  }

  function send(to: WrapLink, request: Request, line: Uint8Array): void {
    running.set(request.id, { request, line })
    to.send(line)
  }

  function wait(request: Request, line: Uint8Array): void {
    const timer = setTimeout(() => {
      answer(request, refusalOf(request, notRun(options.data, reason)))
    }, times.patience)
    waiting.set(request.id, { request, line, timer })
  }

  const events = (ended: () => void): LinkEvents => ({
    onLine(line) {
      const message = parseMessage(line, 2 * MAX_MESSAGE)
      // Only valid messages are for the client.
      if (message.kind === 'unreadable') return
      if (message.kind === 'response' && message.id !== undefined) {
        const request = running.get(message.id)?.request
        if (request?.method === 'initialize' && 'result' in message) again = request
        running.delete(message.id)
      }
      if (!options.write(line.toString('utf8'))) link?.pause()
      settleIfIdle()
    },
    onStderr: (text) => options.stderr(text),
    onEnd(announced) {
      wasAnnounced = announced
      ended()
    },
  })

  /** Sends the waiting requests. */
  function joined(to: WrapLink): void {
    if (everJoined) options.say('connected to the gateway again')
    link = to
    everJoined = true
    for (const { request, line, timer } of [...waiting.values()]) {
      clearTimeout(timer)
      waiting.delete(request.id)
      send(to, request, line)
    }
  }

  /** The gateway has ended: the outcome of running requests is unknown. Only first requests are sent again. */
  function lost(): void {
    link = undefined
    reason = wasAnnounced ? 'it was stopped' : 'it has ended'
    for (const { request, line } of [...running.values()]) {
      running.delete(request.id)
      if (FIRST_METHODS.includes(request.method) && !isClosed) wait(request, line)
      else answer(request, refusalOf(request, unknownOutcome(options.data)))
    }
  }

  async function keepJoined(): Promise<void> {
    let pause = times.pause
    while (!isOver()) {
      try {
        let ended = (): void => undefined
        const end = new Promise<void>((resolve) => (ended = resolve))
        joined(await options.join(events(ended), again, !wasAnnounced))
        if (isOver()) link?.close()
        pause = times.pause
        await end
        lost()
        if (!isOver()) options.say(`lost the gateway: ${reason}; trying to connect again`)
      } catch (fault) {
        const message = fault instanceof Error ? fault.message : 'unknown error'
        if (message !== reason && !isOver())
          options.say(`no gateway: ${message}; start one with \`tollgate up --data ${word(options.data)}\``)
        reason = message
        // Waiting would not help.
        if (fault instanceof StartFailed) refuseWaiting()
      }
      await sleep(pause, undefined, { ref: false })
      pause = Math.min(2 * pause, times.longestPause)
    }
  }

  // A function, because the value changes during an await.
  const isOver = (): boolean => isClosed

  function refuseWaiting(): void {
    for (const { request } of [...waiting.values()]) {
      answer(request, refusalOf(request, notRun(options.data, reason)))
    }
  }

  function close(): void {
    isClosed = true
    refuseWaiting()
    link?.end()
    settled()
  }

  const kept = keepJoined()
  kept.catch(() => undefined)
  return {
    take,
    drained: () => link?.resume(),
    async finish() {
      await new Promise<void>((resolve) => {
        setTimeout(resolve, waiting.size > 0 ? times.patience + times.farewell : times.farewell).unref()
        settled = resolve
        settleIfIdle()
      })
      close()
    },
    close,
  }
}
