// Requests under way to a server: each has an id of ours, one answer, and an end in time.

import { CODE, type RpcError } from '../message.ts'
import { isSent } from '../methods.ts'
import { withoutClaims } from './claims.ts'
import { UpstreamFault, type Exchange, type UpstreamAnswer, type UpstreamFaultCode } from './upstream.ts'
import type { JsonObject } from '@tollgate/evidence'

/** A request under way. */
export interface ServerCall {
  /** Ours, used once. It is the progress token too. */
  readonly id: number
  readonly method: string
  readonly exchange: Exchange
  /** For a request that stays open to be told of changes. */
  readonly onChange: OnChange | undefined
  /** Rejects with an UpstreamFault. */
  readonly answer: Promise<UpstreamAnswer>
  /** Whether it has its answer, or never will. */
  readonly over: boolean
  settle(answer: UpstreamAnswer): void
  fail(fault: UpstreamFault): void
}

/** Takes `notifications/…/list_changed` and `notifications/resources/updated`. */
export type OnChange = (method: string, params: JsonObject) => void

/** All requests under way on one channel, the oldest first. */
export interface ServerCalls {
  open(method: string, exchange: Exchange, onChange?: OnChange): ServerCall
  find(id: unknown): ServerCall | undefined
  all(): readonly ServerCall[]
  failAll(fault: UpstreamFault): void
}

/** No requests yet. */
export function createCalls(): ServerCalls {
  const under = new Map<number, ServerCall>()
  let last = 0
  return {
    open(method, exchange, onChange) {
      // The last place before the server: the type alone is only the compiler's word.
      if (!isSent(method)) throw new TypeError('no such request is sent to servers')
      const id = ++last
      const call = createCall({ id, method, exchange, onChange }, () => under.delete(id))
      under.set(id, call)
      return call
    },
    find: (id) => (typeof id === 'number' ? under.get(id) : undefined),
    all: () => [...under.values()],
    failAll(fault) {
      for (const call of [...under.values()]) call.fail(fault)
    },
  }
}

function createCall(
  asked: Pick<ServerCall, 'id' | 'method' | 'exchange' | 'onChange'>,
  onOver: () => void,
): ServerCall {
  const { promise, resolve, reject } = withResolvers<UpstreamAnswer>()
  // Whoever waits hears of it; that nobody does yet is no fault of its own.
  promise.catch(() => undefined)
  let over = false
  const once = (settle: () => void): void => {
    if (over) return
    over = true
    onOver()
    settle()
  }
  return {
    ...asked,
    answer: promise,
    get over() {
      return over
    },
    settle: (answer) => once(() => resolve(withoutClaims(answer))),
    fail: (fault) => once(() => reject(fault)),
  }
}

/** A promise, and what settles it. */
export function withResolvers<T>(): {
  promise: Promise<T>
  resolve: (value: T) => void
  reject: (fault: Error) => void
} {
  let resolve: (value: T) => void = () => undefined
  let reject: (fault: Error) => void = () => undefined
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve: (value) => resolve(value), reject: (fault) => reject(fault) }
}

/** Milliseconds of a clock that never goes back. */
export function now(): number {
  return performance.now()
}

/** Waits for a promise until the client gives up or the time is over; then rejects, and lets it be. */
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

// Longer than this, Node's timers fire at once.
const MAX_TIMER = 0x7fffffff

/** Calls back at a time of `now()`; never if that is infinitely far. */
export function startTimer(deadline: number, onTime: () => void): NodeJS.Timeout | undefined {
  const wait = deadline - now()
  return wait > MAX_TIMER ? undefined : setTimeout(onTime, Math.max(0, wait))
}

/** The client cancelled. */
export function cancelled(name: string): UpstreamFault {
  return new UpstreamFault('CANCELLED', `the request to \`${name}\` was cancelled`)
}

/** The server did not answer in time. */
export function silent(name: string): UpstreamFault {
  return faultOf('SILENT', name)
}

const WORDS: Readonly<Record<UpstreamFaultCode, string>> = {
  UNREACHABLE: 'cannot be reached',
  LOST: 'was lost before it answered',
  GARBLED: 'answered with something that cannot be read',
  CANCELLED: 'was told that the request is cancelled',
  SILENT: 'did not answer in time',
}

/** A fault of a server: its code in words, and more of it if there is more to say. */
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

/** A server that answered, but not with anything that tells what became of the request. */
export function strayed(name: string, how: string): UpstreamFault {
  return new UpstreamFault('GARBLED', `\`${name}\` ${how}`, { because: `it ${how}` })
}

/** An answer that says why there is none. */
function refusal(error: RpcError): UpstreamAnswer {
  return { ok: false, error }
}

/** The answer where a server wants something of a client that cannot be asked. */
export function notAskable(more?: RpcError): UpstreamAnswer {
  const because = more === undefined ? '' : `: ${more.message}`
  return refusal({ code: more?.code ?? CODE.internal, message: `the client cannot be asked${because}` })
}
