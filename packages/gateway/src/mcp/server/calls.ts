// The active requests to a server. Each has its own id, one answer and a deadline.

import { CODE, type RpcError } from '../message.ts'
import { isSent } from '../methods.ts'
import { withoutClaims } from './claims.ts'
import { UpstreamFault, type Exchange, type UpstreamAnswer, type UpstreamFaultCode } from './upstream.ts'
import type { JsonObject } from '@tollgate/evidence'

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
export interface ServerCalls {
  open(method: string, exchange: Exchange, onChange?: OnChange): ServerCall
  find(id: unknown): ServerCall | undefined
  all(): readonly ServerCall[]
  failAll(fault: UpstreamFault): void
}

export function createCalls(): ServerCalls {
  const under = new Map<number, ServerCall>()
  let last = 0
  return {
    open(method, exchange, onChange) {
      // The last check before the server. The type alone proves nothing at run time.
      if (!isSent(method)) throw new TypeError('this request must not be sent to servers')
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
  // A rejection without a reader must not be unhandled.
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

/** Milliseconds of a monotonic clock. */
export function now(): number {
  return performance.now()
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

// Node's timers fire at once beyond this.
const MAX_TIMER = 0x7fffffff

/** Calls back at a time of `now()`; never for infinity. */
export function startTimer(deadline: number, onTime: () => void): NodeJS.Timeout | undefined {
  const wait = deadline - now()
  return wait > MAX_TIMER ? undefined : setTimeout(onTime, Math.max(0, wait))
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
