// Requests of modern clients that take several rounds. An interim answer asks the client something; the client repeats the
// request with its answers. The call stays one call with one decision and one effect.

import { randomBytes } from 'node:crypto'
import { isObject, type JsonObject } from '@tollgate/evidence'
import { without } from './protocol.ts'
import { CODE, RpcFault, textOf, type Request } from './message.ts'
import { answer, type ProxyAnswer, type Reach, type Turn } from './proxy.ts'

/** The end of a round: the answer, or questions to the client. */
type Round = { readonly done: ProxyAnswer } | { readonly questions: JsonObject; readonly state: string }

/** A request over several rounds. */
interface Rounds {
  /** Identifies the request. A continuation must have the same key. */
  readonly key: string
  /** The token for the next round. It changes with every round. */
  readonly state: string
  /** The servers that it uses. */
  readonly reached: object
  /** Waits for the answer or for questions to the client, whose newest request is `turn`. @throws the fault of the call. */
  next(turn: Turn): Promise<Round>
  /** Takes the client's answers. Unanswered questions are asked again. */
  bring(responses: JsonObject): void
  /** Aborts the call. */
  end(): void
}

const MAX_PARKED = 64

/** The requests of one conversation that wait for their next round. */
export class ParkedRounds {
  readonly #parked = new Map<string, Rounds>()

  /** Starts a request, or continues a waiting one. @throws RpcFault, or the fault of the call. */
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
      throw new RpcFault(
        CODE.invalidParams,
        'unknown or expired `requestState`: send the request again without it',
      )
    }
    known.bring(inputResponses)
    return this.#next(known, turn)
  }

  async #next(one: Rounds, turn: Turn): Promise<Round> {
    // Each round has its own state, so that no state is used twice.
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

  /** Whether a waiting request uses these servers. */
  uses(reached: object): boolean {
    return [...this.#parked.values()].some((each) => each.reached === reached)
  }

  /** Aborts every waiting request. */
  end(): void {
    for (const each of this.#parked.values()) each.end()
    this.#parked.clear()
  }
}

interface ParkedQuestion {
  readonly method: string
  readonly params: JsonObject
  readonly resolve: (result: JsonObject) => void
  readonly reject: (fault: RpcFault) => void
}

/** Begins a request. Every round reports to the newest request of the client. */
function beginRounds(
  key: string,
  first: Turn,
  reached: object,
  start: (live: Turn) => Promise<ProxyAnswer>,
): Rounds {
  let state = newState()
  const questions = new Map<string, ParkedQuestion>()
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
        questions.set(`ask-${numbered++}`, { method, params, resolve, reject })
        wake()
      }),
  }
  const done = start(live).then((answer) => ({ done: answer }))
  // `next` reports a failure. Without a reader it must not be unhandled.
  done.catch(() => undefined)

  function end(): void {
    abort.abort()
    for (const { reject } of questions.values()) reject(new RpcFault(CODE.internal, 'the client is gone'))
    questions.clear()
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
      if (questions.size === 0) await Promise.race([done, asked])
      // Questions that arrive together go into the same answer.
      await new Promise((resolve) => setImmediate(resolve))
      turn.signal.removeEventListener('abort', end)
      if (questions.size === 0) return done
      state = newState()
      return { questions: questionsOf(questions), state }
    },
    bring(responses) {
      for (const [name, { resolve }] of [...questions]) {
        const response = responses[name]
        if (!isObject(response)) continue
        questions.delete(name)
        resolve(response)
      }
    },
    end,
  }
}

function newState(): string {
  return randomBytes(24).toString('base64url')
}

function questionsOf(questions: ReadonlyMap<string, ParkedQuestion>): JsonObject {
  return Object.fromEntries([...questions].map(([name, { method, params }]) => [name, { method, params }]))
}
