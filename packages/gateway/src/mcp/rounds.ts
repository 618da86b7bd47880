// Requests of modern clients that take several rounds. An interim answer asks the client something; the client repeats the
// request with its answers. The call stays one call with one decision and one effect.

import { randomBytes } from 'node:crypto'
import { isObject, type JsonObject } from '@tollgate/evidence'
import { without } from './protocol.ts'
import { CODE, RpcFault, textOf, type Request } from './message.ts'
import { answer, type ProxyAnswer, type Reach, type Turn } from './proxy.ts'

/** The end of a round: the answer, or questions to the client. */
type Round = { readonly done: ProxyAnswer } | { readonly questions: JsonObject; readonly state: string }

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
      return this.#next(new Rounds(key, turn, reach, start), turn)
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

/** A request over several rounds. Every round reports to the newest request of the client. */
class Rounds {
  /** Identifies the request. A continuation must have the same key. */
  readonly key: string
  /** The servers that it uses. */
  readonly reached: object
  /** The token for the next round. It changes with every round. */
  state: string = newState()
  readonly #questions = new Map<string, ParkedQuestion>()
  readonly #abort = new AbortController()
  readonly #done: Promise<Round>
  #newest: Turn
  #numbered = 0
  #wake = (): void => undefined

  constructor(key: string, first: Turn, reached: object, start: (live: Turn) => Promise<ProxyAnswer>) {
    this.key = key
    this.reached = reached
    this.#newest = first
    this.#done = start(this.#liveTurn(first)).then((done) => ({ done }))
    // `next` reports a failure. Without a reader it must not be unhandled.
    this.#done.catch(() => undefined)
  }

  #liveTurn(first: Turn): Turn {
    return {
      ...first,
      signal: this.#abort.signal,
      progress: first.progress && ((params) => this.#newest.progress?.(params)),
      message: (params) => this.#newest.message(params),
      ask: (method, params) =>
        new Promise((resolve, reject) => {
          this.#questions.set(`ask-${this.#numbered++}`, { method, params, resolve, reject })
          this.#wake()
        }),
    }
  }

  /** Waits for the answer or for questions to the client, whose newest request is `turn`. @throws the fault of the call. */
  async next(turn: Turn): Promise<Round> {
    const end = (): void => this.end()
    this.#newest = turn
    turn.signal.addEventListener('abort', end, { once: true })
    const asked = new Promise<void>((resolve) => (this.#wake = resolve))
    if (this.#questions.size === 0) await Promise.race([this.#done, asked])
    // Questions that arrive together go into the same answer.
    await new Promise((resolve) => setImmediate(resolve))
    turn.signal.removeEventListener('abort', end)
    if (this.#questions.size === 0) return this.#done
    this.state = newState()
    return { questions: questionsOf(this.#questions), state: this.state }
  }

  /** Takes the client's answers. Unanswered questions are asked again. */
  bring(responses: JsonObject): void {
    for (const [name, { resolve }] of [...this.#questions]) {
      const response = responses[name]
      if (!isObject(response)) continue
      this.#questions.delete(name)
      resolve(response)
    }
  }

  /** Aborts the call. */
  end(): void {
    this.#abort.abort()
    for (const { reject } of this.#questions.values())
      reject(new RpcFault(CODE.internal, 'the client is gone'))
    this.#questions.clear()
  }
}

function newState(): string {
  return randomBytes(24).toString('base64url')
}

function questionsOf(questions: ReadonlyMap<string, ParkedQuestion>): JsonObject {
  return Object.fromEntries([...questions].map(([name, { method, params }]) => [name, { method, params }]))
}
