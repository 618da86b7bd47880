// Between a client and its gateway, which may come late, end and come back: every request is answered, none is sent twice.

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
import { notRun, refusalOf, unknownOutcome } from './wrap-refusal.ts'
import { StartFailed } from './wrap-start.ts'

/** What a relay is made of. */
interface RelayOptions {
  readonly data: string
  /** Joins a gateway; `again` is what the client began with, and `mayStart` whether one may be started. */
  join(events: LinkEvents, again: Request | undefined, mayStart: boolean): Promise<WrapLink>
  /** Writes a line for the client; false if it should read first. */
  write(line: string): boolean
  /** What the server wrote to its standard error. */
  stderr(text: string): void
  say(sentence: string): void
  readonly times?: Partial<RelayTimes>
}

/** In milliseconds. */
interface RelayTimes {
  /** A client that begins waits so long for a gateway. */
  readonly patience: number
  /** When the client has nothing more to say, what is under way has so long. */
  readonly farewell: number
  /** Before a gateway is looked for again: the first time, and at most. */
  readonly pause: number
  readonly longestPause: number
}

/** A client's side of it. */
interface Relay {
  /** A line of the client. */
  take(line: Uint8Array): void
  /** The client reads again. */
  drained(): void
  /** The client has nothing more to say; resolves when all is answered, or has taken too long. */
  finish(): Promise<void>
  close(): void
}

const TIMES: RelayTimes = { patience: 15_000, farewell: 10_000, pause: 100, longestPause: 5000 }
const MOST_WAITING = 256
// What a client begins with, in either era. It changes nothing, so it may be asked again.
const BEGINNINGS: readonly string[] = ['initialize', 'server/discover']

interface HeldRequest {
  readonly request: Request
  readonly line: Uint8Array
  readonly timer: NodeJS.Timeout
}

/** Begins to look for a gateway, and goes on until it is closed. */
export function createRelay(options: RelayOptions): Relay {
  const times = { ...TIMES, ...options.times }
  const waiting = new Map<RequestId, HeldRequest>()
  const underway = new Map<RequestId, { readonly request: Request; readonly line: Uint8Array }>()
  let link: WrapLink | undefined
  let again: Request | undefined
  let everJoined = false
  let wasTold = false
  let isClosed = false
  let reason = 'it is being started'
  let settled = (): void => undefined

  /** Answers the client, and lets go of the request. */
  function answer(request: Request, text: string): void {
    forget(request.id)
    options.write(text)
    settleIfIdle()
  }

  function forget(id: RequestId): void {
    clearTimeout(waiting.get(id)?.timer)
    waiting.delete(id)
    underway.delete(id)
  }

  function settleIfIdle(): void {
    const busy = [...underway.values()].some(({ request }) => request.method !== 'subscriptions/listen')
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
      // What is cancelled is not answered: nobody waits for it, whether or not it has been sent.
      if (typeof id === 'string' || typeof id === 'number') forget(id)
    }
    // What cannot be read is for the gateway to put on record, if it can take it at all.
    if (link && line.length <= MAX_MESSAGE) link.send(line)
    else if (message.kind === 'unreadable') options.write(formatError(message.id, message.error))
  }

  function takeRequest(request: Request, line: Uint8Array): void {
    const { id, method } = request
    if (underway.has(id) || waiting.has(id)) {
      const message = 'a request with this id is under way'
      options.write(formatError(id, { code: CODE.invalidRequest, message }))
    } else if (link) send(link, request, line)
    else if ((everJoined && !BEGINNINGS.includes(method)) || waiting.size >= MOST_WAITING) {
      answer(request, refusalOf(request, notRun(options.data, reason)))
    } else wait(request, line)
  }

  function send(to: WrapLink, request: Request, line: Uint8Array): void {
    underway.set(request.id, { request, line })
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
      // Nothing but messages is for the client.
      if (message.kind === 'unreadable') return
      if (message.kind === 'response' && message.id !== undefined) {
        const request = underway.get(message.id)?.request
        if (request?.method === 'initialize' && 'result' in message) again = request
        underway.delete(message.id)
      }
      if (!options.write(line.toString('utf8'))) link?.pause()
      settleIfIdle()
    },
    onStderr: (text) => options.stderr(text),
    onEnd(told) {
      wasTold = told
      ended()
    },
  })

  /** Sends what has waited. */
  function joined(to: WrapLink): void {
    if (everJoined) options.say('the gateway is back')
    link = to
    everJoined = true
    for (const { request, line, timer } of [...waiting.values()]) {
      clearTimeout(timer)
      waiting.delete(request.id)
      send(to, request, line)
    }
  }

  /** The gateway is gone: nobody knows what came of what it had, and nothing of it is sent again but beginnings. */
  function lost(): void {
    link = undefined
    reason = wasTold ? 'it was stopped' : 'it has ended'
    for (const { request, line } of [...underway.values()]) {
      underway.delete(request.id)
      if (BEGINNINGS.includes(request.method) && !isClosed) wait(request, line)
      else answer(request, refusalOf(request, unknownOutcome(options.data)))
    }
  }

  async function keepJoined(): Promise<void> {
    let pause = times.pause
    while (!isOver()) {
      try {
        let ended = (): void => undefined
        const end = new Promise<void>((resolve) => (ended = resolve))
        joined(await options.join(events(ended), again, !wasTold))
        if (isOver()) link?.close()
        pause = times.pause
        await end
        lost()
        if (!isOver()) options.say(`the gateway is gone: ${reason}; looking for it again`)
      } catch (fault) {
        const message = fault instanceof Error ? fault.message : 'no reason is known'
        if (message !== reason && !isOver()) options.say(`no gateway: ${message}`)
        reason = message
        // There is nothing to wait for.
        if (fault instanceof StartFailed) refuseWaiting()
      }
      await sleep(pause, undefined, { ref: false })
      pause = Math.min(2 * pause, times.longestPause)
    }
  }

  // Read anew each time: it changes while something is awaited.
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
