// Sending a request until it is answered. Only what may safely be sent twice comes through here more than once.

import { requireSuccess, type Answer } from './answer.ts'
import { TollgateError } from './error.ts'
import { chance, sleep } from './host.ts'
import { send, type Connection, type Request } from './transport.ts'

const FIRST_DELAY = 100
const MAX_DELAY = 5_000
/** The gateway may ask for more patience than this; then the caller hears of it instead. */
const MAX_ASKED = 30_000

/** What came of sending a request once. */
export type Sent = Answer | TollgateError

/**
 * Sends a request, and again if it got lost or the gateway could not take it; a few times at most, with growing pauses.
 *
 * @throws TollgateError what went wrong last; or the reason of the signal.
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

/** Sends a request once. What went wrong on the way is a value, except that the caller has given up. */
export async function attempt(connection: Connection, request: Request): Promise<Sent> {
  try {
    return await send(connection, request)
  } catch (fault) {
    if (fault instanceof TollgateError && !request.signal?.aborted) return fault
    throw fault
  }
}

/** How long to wait before the same is sent again; undefined if that is of no use. */
export function delayAfter(outcome: Sent, tried: number): number | undefined {
  if (outcome instanceof TollgateError) return isLost(outcome) ? pause(tried) : undefined
  const { status, retryAfter } = outcome
  if (retryAfter !== undefined && retryAfter > MAX_ASKED) return undefined
  if (status === 429) return retryAfter === undefined ? undefined : retryAfter + pause(0)
  if (status !== 502 && status !== 503 && status !== 504) return undefined
  return Math.max(retryAfter ?? 0, pause(tried))
}

/** Whether nobody knows what became of a request. */
export function isLost({ code }: TollgateError): boolean {
  return code === 'gateway-unreachable' || code === 'gateway-timeout'
}

/** Between half and all of a time that doubles each time. */
export function pause(tried: number): number {
  return Math.min(MAX_DELAY, FIRST_DELAY * 2 ** tried) * (0.5 + chance() / 2)
}

function accepted(outcome: Sent): Answer {
  if (outcome instanceof TollgateError) throw outcome
  requireSuccess(outcome)
  return outcome
}
