// The answer to one HTTP request: a single JSON object if the answer comes first, else an event stream.

import { clearTimeout, setTimeout } from 'node:timers'
import type { Out } from '../conversation.ts'
import type { RpcError } from '../message.ts'

type Opening =
  /** The answer, with nothing before it. */
  | { readonly kind: 'answer'; readonly text: string; readonly error: RpcError | undefined }
  /** Another message came first, or none for a while: from now on it is a stream. */
  | { readonly kind: 'stream' }
  /** There will be no answer. */
  | { readonly kind: 'ended' }

export type Ending =
  /** The answer has been sent. */
  | 'answered'
  /** The client disconnected. */
  | 'gone'
  /** There will be no answer: the client has cancelled. */
  | 'cancelled'
  /** The client does not read. */
  | 'flooded'
  /** The gateway ended it: the token is revoked, or the gateway stops. */
  | 'ended'

export interface HttpChannel {
  readonly out: Out
  /** Waits at most `patience` milliseconds for the beginning of the answer. Called once. */
  opening(patience: number): Promise<Opening>
  /** The events of the stream, for one reader. */
  pieces(): AsyncIterable<string>
  /** Sends a heartbeat. */
  beat(): void
  end(why: Ending): void
}

/** A channel that buffers at most `most` characters. `over` is called once, with the reason for the end. */
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
    // The reader is gone.
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
    // Sends something at once, so that the headers leave.
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
      // A cancelled request becomes a stream without an answer.
      isStream = queue.length > 0 || ending === undefined || ending === 'cancelled'
      return { kind: isStream ? 'stream' : 'ended' }
    },
    pieces,
    beat() {
      // A client that does not read gets only one heartbeat.
      if (isStream && isQuiet()) push(BEAT)
    },
    end,
  }
}

const OPENED = ': tollgate\n\n'
const BEAT = ': \n\n'
