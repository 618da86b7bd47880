// Sends requests with retries. Callers pass 0 retries for requests that must not be repeated.

import { requireSuccess, type Answer } from './answer.ts'
import { TollgateError } from './error.ts'
import { chance, sleep } from './host.ts'
import { send, type Connection, type Request } from './transport.ts'

const FIRST_DELAY = 100
const MAX_DELAY = 5_000
/** Longest `Retry-After` that is obeyed. A longer one is returned to the caller as an error. */
const MAX_RETRY_AFTER = 30_000

/** The outcome of one try. */
export type Sent = Answer | TollgateError

/**
 * Sends a request. Retries with growing pauses if it was lost or the gateway was busy.
 *
 * @throws TollgateError the last error; or the reason of the signal.
 */
export async function exchange(
  connection: Connection,
  request: Request,
  retries: number = connection.retries,
): Promise<Answer> {
  for (let tried = 0; ; tried++) {
    const outcome = await attempt(connection, request)
    const delay = tried < retries ? delayAfter(outcome, tried) : undefined
    if (delay === undefined) return accepted(outcome)
    await sleep(connection.host, delay, request.signal)
  }
}

/** Sends a request once. Returns errors as values, but throws if the caller aborted. */
export async function attempt(connection: Connection, request: Request): Promise<Sent> {
  try {
    return await send(connection, request)
  } catch (fault) {
    if (fault instanceof TollgateError && !request.signal?.aborted) return fault
    throw fault
  }
}

/** The delay before the next try; undefined if a retry is useless. */
export function delayAfter(outcome: Sent, tried: number): number | undefined {
  if (outcome instanceof TollgateError) return isLost(outcome) ? pause(tried) : undefined
  const { status, retryAfter } = outcome
  if (retryAfter !== undefined && retryAfter > MAX_RETRY_AFTER) return undefined
  if (status === 429) return retryAfter === undefined ? undefined : retryAfter + pause(0)
  if (status !== 502 && status !== 503 && status !== 504) return undefined
  return Math.max(retryAfter ?? 0, pause(tried))
}

/** Whether it is unknown if the gateway received the request. */
export function isLost({ code }: TollgateError): boolean {
  return code === 'gateway-unreachable' || code === 'gateway-timeout'
}

/** A delay that doubles with each try, with up to 50 % random reduction. */
export function pause(tried: number): number {
  return Math.min(MAX_DELAY, FIRST_DELAY * 2 ** tried) * (0.5 + chance() / 2)
}

function accepted(outcome: Sent): Answer {
  if (outcome instanceof TollgateError) throw outcome
  requireSuccess(outcome)
  return outcome
}
