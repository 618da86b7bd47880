// The event stream of a legacy server for messages that belong to no request. A server may not have one.

import type { Dispatcher } from 'undici'
import { typeOf } from './http-answers.ts'

interface AsideOptions {
  /** Requests the stream. */
  readonly reach: () => Promise<Dispatcher.ResponseData>
  /** Reads it to its end and returns the number of messages. */
  readonly pump: (response: Dispatcher.ResponseData) => Promise<number>
  /** Whether the channel has ended. */
  readonly isOver: () => boolean
}

/** A stream that is opened again when it ends. */
interface Aside {
  open(): Promise<void>
  /** Does not open it again. */
  stop(): void
}

const FIRST_PAUSE = 1000
const MAX_PAUSE = 30_000

export function createAside({ reach, pump, isOver }: AsideOptions): Aside {
  let wake: () => void = () => undefined

  /** The number of messages; undefined if the server has no such stream. */
  async function once(): Promise<number | undefined> {
    try {
      const response = await reach()
      if (response.statusCode === 200 && typeOf(response) === 'text/event-stream') return await pump(response)
      response.body.destroy()
      return undefined
    } catch {
      return 0
    }
  }

  function idle(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      timer.unref()
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async function open(): Promise<void> {
    let pause = FIRST_PAUSE
    while (!isOver()) {
      const count = await once()
      if (count === undefined || isOver()) return
      pause = count > 0 ? FIRST_PAUSE : Math.min(2 * pause, MAX_PAUSE)
      await idle(pause)
    }
  }

  return { open, stop: () => wake() }
}
