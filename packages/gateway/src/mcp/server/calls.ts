// The active requests to a server. Each has its own id, one answer and a deadline.

import { isObject, type JsonObject } from '@tollgate/evidence'
import { CODE, type RpcError } from '../message.ts'
import { isSent } from '../methods.ts'
import { startTimer, withResolvers } from '../waiting.ts'
import { UpstreamFault, type Exchange, type UpstreamAnswer, type UpstreamFaultCode } from './upstream.ts'

export interface ServerCall {
  /** Used once. Also the progress token. */
  readonly id: number
  readonly method: string
  readonly exchange: Exchange
  /** For a request that stays open to report changes. */
  readonly onChange: OnChange | undefined
  /** Rejects with an UpstreamFault. */
  readonly answer: Promise<UpstreamAnswer>
  /** Whether it is settled. */
  readonly over: boolean
  settle(answer: UpstreamAnswer): void
  fail(fault: UpstreamFault): void
}

/** Takes `notifications/…/list_changed` and `notifications/resources/updated`. */
export type OnChange = (method: string, params: JsonObject) => void

/** The active requests on one channel, oldest first. */
export class ServerCalls {
  readonly #under = new Map<number, ServerCall>()
  #last = 0

  open(method: string, exchange: Exchange, onChange?: OnChange): ServerCall {
    // The last check before the server. The type alone proves nothing at run time.
    if (!isSent(method)) throw new TypeError('this request must not be sent to servers')
    const { promise, resolve, reject } = withResolvers<UpstreamAnswer>()
    // A rejection without a reader must not be unhandled.
    promise.catch(() => undefined)
    const id = ++this.#last
    const under = this.#under
    const call: ServerCall = {
      ...{ id, method, exchange, onChange, answer: promise },
      get over() {
        return !under.has(id)
      },
      settle(answer) {
        if (under.delete(id)) resolve(withoutClaims(answer))
      },
      fail(fault) {
        if (under.delete(id)) reject(fault)
      },
    }
    under.set(id, call)
    return call
  }

  find(id: unknown): ServerCall | undefined {
    return typeof id === 'number' ? this.#under.get(id) : undefined
  }

  all(): readonly ServerCall[] {
    return [...this.#under.values()]
  }

  failAll(fault: UpstreamFault): void {
    for (const call of this.all()) call.fail(fault)
  }
}

// The prefix of all keys of Tollgate.
const OURS = 'dev.tollgate/'

/** An answer without the keys of Tollgate. Only the gateway may state decisions and approvals. */
function withoutClaims(answer: UpstreamAnswer): UpstreamAnswer {
  if (answer.ok) return { ok: true, result: metaWithout(answer.result) }
  const { data } = answer.error
  return isObject(data)
    ? { ok: false, error: { ...answer.error, data: metaWithout(unclaimed(data)) } }
    : answer
}

function metaWithout(value: JsonObject): JsonObject {
  const { _meta } = value
  return isObject(_meta) ? { ...value, _meta: unclaimed(_meta) } : value
}

function unclaimed(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !name.startsWith(OURS)))
}

/** Waits for a promise until the client cancels or the deadline passes; then rejects. */
export async function within<T>(
  promise: Promise<T>,
  limits: { signal?: AbortSignal | undefined; deadline: number; late: () => UpstreamFault; name: string },
): Promise<T> {
  const { signal, deadline, late, name } = limits
  const { promise: given, resolve, reject } = withResolvers<T>()
  promise.then(resolve, reject)
  if (signal?.aborted === true) reject(cancelled(name))
  const onAbort = (): void => reject(cancelled(name))
  signal?.addEventListener('abort', onAbort, { once: true })
  const timer = startTimer(deadline, () => reject(late()))
  try {
    return await given
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

export function cancelled(name: string): UpstreamFault {
  return new UpstreamFault('CANCELLED', `the request to \`${name}\` was cancelled`)
}

export function silent(name: string): UpstreamFault {
  return faultOf('SILENT', name)
}

const WORDS: Readonly<Record<UpstreamFaultCode, string>> = {
  UNREACHABLE: 'cannot be reached',
  LOST: 'was lost before it answered',
  GARBLED: 'sent an unreadable answer',
  CANCELLED: 'was sent a cancellation',
  SILENT: 'did not answer in time',
}

/** A fault of a server: its code in words, with more detail if given. */
export function faultOf(
  code: UpstreamFaultCode,
  name: string,
  more?: string,
  options: { cause?: unknown; bytes?: Uint8Array } = {},
): UpstreamFault {
  const message = `\`${name}\` ${WORDS[code]}${more === undefined ? '' : `: ${more}`}`
  const because = more ?? (code === 'UNREACHABLE' ? undefined : `it ${WORDS[code]}`)
  return new UpstreamFault(code, message, { ...options, ...(because !== undefined && { because }) })
}

/** A server that answered, but not in a way that tells the outcome of the request. */
export function violation(name: string, how: string): UpstreamFault {
  return new UpstreamFault('GARBLED', `\`${name}\` ${how}`, { because: `it ${how}` })
}

function refusal(error: RpcError): UpstreamAnswer {
  return { ok: false, error }
}

/** The answer if a server asks something of a client that cannot be asked. */
export function notAskable(more?: RpcError): UpstreamAnswer {
  const because = more === undefined ? '' : `: ${more.message}`
  return refusal({ code: more?.code ?? CODE.internal, message: `the client cannot be asked${because}` })
}
