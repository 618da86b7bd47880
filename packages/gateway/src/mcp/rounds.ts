// Requests of modern clients that take several rounds: the client gets an interim answer that says what it is asked for, and
// brings that with the same request again. Meanwhile the call is under way, as one call, with one decision and one effect.

import { randomBytes } from 'node:crypto'
import { isObject, type JsonObject } from '@tollgate/evidence'
import { without } from './protocol.ts'
import { CODE, RpcFault, textOf, type Request } from './message.ts'
import { answer, type ProxyAnswer, type Reach, type Turn } from './proxy.ts'

/** What a round ends with: the answer, or what the client is asked for. */
type Round = { readonly done: ProxyAnswer } | { readonly wishes: JsonObject; readonly state: string }

/** A request over several rounds. */
interface Rounds {
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

const MAX_PARKED = 64

/** Requests of one conversation that may take several rounds, while they wait for the next one. */
export class ParkedRounds {
  readonly #parked = new Map<string, Rounds>()

  /** Starts a request, or continues one that waits. @throws RpcFault, or what the call threw. */
  async answer(reach: Reach, { method, params }: Request, turn: Turn): Promise<Round> {
    const { requestState, inputResponses = {} } = params
    const bare = without(params, 'requestState', 'inputResponses', '_meta')
    const key = textOf({ method, params: bare })
    if (requestState === undefined && params['inputResponses'] === undefined) {
      const start = (live: Turn): Promise<ProxyAnswer> =>
        answer(reach, method, { ...bare, _meta: turn.meta }, live)
      return this.#next(beginRounds(key, turn, reach, start), turn)
    }
    const known = typeof requestState === 'string' ? this.#parked.get(requestState) : undefined
    if (known?.key !== key || !isObject(inputResponses)) {
      throw new RpcFault(CODE.invalidParams, '`requestState` is not that of such a request, or is over')
    }
    known.bring(inputResponses)
    return this.#next(known, turn)
  }

  async #next(one: Rounds, turn: Turn): Promise<Round> {
    // Each round has a state of its own: what has been gone on with is not gone on with again.
    this.#parked.delete(one.state)
    const got = await one.next(turn)
    if (!('done' in got)) this.#parked.set(got.state, one)
    const [oldest] = this.#parked.values()
    if (this.#parked.size > MAX_PARKED && oldest) {
      this.#parked.delete(oldest.state)
      oldest.end()
    }
    return got
  }

  /** Whether one of them uses these servers. */
  uses(reached: object): boolean {
    return [...this.#parked.values()].some((each) => each.reached === reached)
  }

  /** Nobody will go on with any of them. */
  end(): void {
    for (const each of this.#parked.values()) each.end()
    this.#parked.clear()
  }
}

interface Wish {
  readonly method: string
  readonly params: JsonObject
  readonly resolve: (result: JsonObject) => void
  readonly reject: (fault: RpcFault) => void
}

/** Begins a request. Whichever round it is in, it speaks to the newest request of the client's. */
function beginRounds(
  key: string,
  first: Turn,
  reached: object,
  start: (live: Turn) => Promise<ProxyAnswer>,
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
