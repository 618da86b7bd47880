// Requests of modern clients that take several rounds: the client gets an interim answer that says what it is asked for, and
// brings that with the same request again. Meanwhile the call is under way, as one call, with one decision and one effect.

import { randomBytes } from 'node:crypto'
import type { JsonObject } from '@tollgate/evidence'
import { CODE, isObject, RpcFault } from './message.ts'
import type { Answer, Turn } from './proxy.ts'

/** What a round ends with: the answer, or what the client is asked for. */
export type Round = { readonly done: Answer } | { readonly wishes: JsonObject; readonly state: string }

/** A request over several rounds. */
export interface Rounds {
  /** What a request must be the same as, to go on with this one. */
  readonly key: string
  /** What the client shows to go on with it; another in every round. */
  readonly state: string
  /** The servers that it uses. */
  readonly reached: object
  /** The next thing to tell the client, whose newest request is `turn`. @throws what the call threw. */
  next(turn: Turn): Promise<Round>
  /** What the client brought; what is missing is asked for again. */
  bring(responses: JsonObject): void
  /** Nobody will go on with it. */
  end(): void
}

interface Wish {
  readonly method: string
  readonly params: JsonObject
  readonly resolve: (result: JsonObject) => void
  readonly reject: (fault: RpcFault) => void
}

/** Begins a request. Whichever round it is in, it speaks to the newest request of the client's. */
export function beginRounds(
  key: string,
  first: Turn,
  reached: object,
  start: (live: Turn) => Promise<Answer>,
): Rounds {
  let state = newState()
  const wishes = new Map<string, Wish>()
  const abort = new AbortController()
  let newest = first
  let numbered = 0
  let wake = (): void => undefined

  const live: Turn = {
    ...first,
    signal: abort.signal,
    progress: first.progress && ((params) => newest.progress?.(params)),
    message: (params) => newest.message(params),
    ask: (method, params) =>
      new Promise((resolve, reject) => {
        wishes.set(`ask-${numbered++}`, { method, params, resolve, reject })
        wake()
      }),
  }
  const done = start(live).then((answer) => ({ done: answer }))
  // Whoever waits for the next thing is told; if nobody does, it is nobody's fault.
  done.catch(() => undefined)

  function end(): void {
    abort.abort()
    for (const { reject } of wishes.values()) reject(new RpcFault(CODE.internal, 'the client is gone'))
    wishes.clear()
  }

  return {
    key,
    reached,
    get state() {
      return state
    },
    async next(turn) {
      newest = turn
      turn.signal.addEventListener('abort', end, { once: true })
      const asked = new Promise<void>((resolve) => (wake = resolve))
      if (wishes.size === 0) await Promise.race([done, asked])
      // What is asked for at the same time goes with the same answer.
      await new Promise((resolve) => setImmediate(resolve))
      turn.signal.removeEventListener('abort', end)
      if (wishes.size === 0) return done
      state = newState()
      return { wishes: wishesOf(wishes), state }
    },
    bring(responses) {
      for (const [name, { resolve }] of [...wishes]) {
        const response = responses[name]
        if (!isObject(response)) continue
        wishes.delete(name)
        resolve(response)
      }
    },
    end,
  }
}

function newState(): string {
  return randomBytes(24).toString('base64url')
}

function wishesOf(wishes: ReadonlyMap<string, Wish>): JsonObject {
  return Object.fromEntries([...wishes].map(([name, { method, params }]) => [name, { method, params }]))
}
