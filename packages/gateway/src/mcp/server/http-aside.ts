// The event stream of a legacy server for messages that belong to no request. A server may not have one.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { typeOf } from './http-answers.ts'

interface AsideOptions {
  /** Requests the stream. */
  readonly reach: (over: AbortSignal) => Promise<Dispatcher.ResponseData>
  /** Reads it to its end and returns the number of messages. */
  readonly pump: (response: Dispatcher.ResponseData) => Promise<number>
}

const FIRST_PAUSE = 1000
const MAX_PAUSE = 30_000

/** Opens the stream, and again when it ends, until `over` is aborted. */
export async function keepAside(options: AsideOptions, over: AbortSignal): Promise<void> {
  const isOver = (): boolean => over.aborted
  let pause = FIRST_PAUSE
  while (!isOver()) {
    const count = await once(options, over)
    if (count === undefined || isOver()) return
    pause = count > 0 ? FIRST_PAUSE : Math.min(2 * pause, MAX_PAUSE)
    await sleep(pause, undefined, { signal: over, ref: false }).catch(() => undefined)
  }
}

/** The number of messages; undefined if the server has no such stream. */
async function once({ reach, pump }: AsideOptions, over: AbortSignal): Promise<number | undefined> {
  try {
    const response = await reach(over)
    if (response.statusCode === 200 && typeOf(response) === 'text/event-stream') return await pump(response)
    response.body.destroy()
    return undefined
  } catch {
    return 0
  }
}
