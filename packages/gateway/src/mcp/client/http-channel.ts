// The way from a conversation back to one HTTP request: a single object if the answer comes first, else a stream of events.

import { clearTimeout, setTimeout } from 'node:timers'
import type { Out } from '../conversation.ts'
import type { RpcError } from '../message.ts'

/** How the answer begins. */
type Opening =
  /** The answer itself, and nothing before it. */
  | { readonly kind: 'answer'; readonly text: string; readonly error: RpcError | undefined }
  /** Something else came first, or nothing for a while: it is a stream from here on. */
  | { readonly kind: 'stream' }
  /** There will be no answer. */
  | { readonly kind: 'ended' }

/** Why nothing more is sent. */
export type Ending =
  /** The answer has been sent. */
  | 'answered'
  /** The client is gone. */
  | 'gone'
  /** There will be no answer: the client has cancelled. */
  | 'cancelled'
  /** The client does not read. */
  | 'flooded'
  /** It was ended from here: the token is revoked, or the gateway stops. */
  | 'ended'

/** The way back to one HTTP request. */
export interface HttpChannel {
  readonly out: Out
  /** Waits for how the answer begins, at most so many milliseconds; asked once. */
  opening(patience: number): Promise<Opening>
  /** The events of the stream, for one reader. */
  pieces(): AsyncIterable<string>
  /** Says that the stream lives. */
  beat(): void
  end(why: Ending): void
}

/** A channel that holds at most so many characters for a reader; `over` is told once why it ended. */
export function createChannel(most: number, over: (why: Ending) => void): HttpChannel {
  const queue: string[] = []
  let held = 0
  let isStream = false
  let ending: Ending | undefined
  let only: Opening | undefined
  let wake = (): void => undefined

  function end(why: Ending): void {
    if (ending !== undefined) return
    ending = why
    // What is left is for somebody who will not read it.
    if (why !== 'answered' && why !== 'cancelled') queue.length = 0
    wake()
    over(why)
  }

  function push(piece: string): void {
    held += piece.length
    queue.push(piece)
    if (held > most) end('flooded')
    wake()
  }

  function send(text: string, last: boolean, error?: RpcError): void {
    if (ending !== undefined) return
    if (last && !isStream && queue.length === 0) only = { kind: 'answer', text, error }
    else push(`data: ${text}\n\n`)
    if (last) end('answered')
  }

  function isQuiet(): boolean {
    return queue.length === 0 && ending === undefined
  }

  async function* pieces(): AsyncGenerator<string> {
    // Something at once: the headers leave with it.
    if (queue.length === 0) yield OPENED
    while (true) {
      const next = queue.shift()
      if (next !== undefined) {
        held -= next.length
        yield next
      } else if (ending !== undefined) return
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  }

  return {
    out: { send, end: () => end('cancelled') },
    async opening(patience) {
      if (isQuiet()) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, patience)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      if (only) return only
      // What was cancelled is a stream that holds no answer.
      isStream = queue.length > 0 || ending === undefined || ending === 'cancelled'
      return { kind: isStream ? 'stream' : 'ended' }
    },
    pieces,
    beat() {
      // One that does not even read these has the last of them waiting.
      if (isStream && isQuiet()) push(BEAT)
    },
    end,
  }
}

const OPENED = ': tollgate\n\n'
const BEAT = ': \n\n'
