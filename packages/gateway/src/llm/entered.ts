// A request that was let in, and the key that goes on with it.

import { sha256Hex } from '@tollgate/evidence'
import type { DoorRequest } from '../exchange.ts'
import type { KnownCaller } from '../tokens.ts'
import { Refused, type Provider } from './dialect.ts'
import { headersTo } from './headers.ts'
import type { LlmRoute } from './routes.ts'
import type { LlmUpstream, UpstreamAddress, UpstreamReply } from './upstream.ts'

/** A request that was let in. */
export interface Entered {
  readonly asked: DoorRequest
  readonly caller: KnownCaller
  readonly provider: Provider
  readonly route: LlmRoute
  readonly address: UpstreamAddress
  readonly upstream: LlmUpstream
  readonly signal: AbortSignal
  /** Refuses a caller that has been frozen since it came in. @throws Refused */
  readonly requireThawed: (session?: unknown) => Promise<void>
  /** Gives up whatever is under way. */
  readonly abort: () => void
  /** Nothing of it is under way any more. */
  readonly over: () => void
  /** Its body turned out to be so large. @throws Refused */
  readonly weigh: (bytes: number) => void
  /** So many bytes are about to be parsed. @throws Refused if the caller has sent too much already. */
  readonly admit: (bytes: number) => void
  /** Charges the caller for what it sent, if that is what failed. */
  readonly failed: (fault: unknown) => void
}

/** Sends it on, unless its caller is frozen by now. Nothing else sends anything. @throws Refused, UpstreamFault, Garbled */
export async function sendOn(
  entered: Entered,
  stream: boolean,
  body?: readonly Uint8Array[],
): Promise<UpstreamReply> {
  const { asked, caller, provider, route, upstream, signal } = entered
  await entered.requireThawed()
  const key = asked.header('idempotency-key')
  const headers = {
    ...headersTo(provider, (name) => asked.header(name), stream),
    // All agents share one account there, and must not meet in each other's keys.
    ...(key !== undefined && { 'idempotency-key': sha256Hex(`${caller.owner}\n${key}`) }),
    ...keyHeaders(entered),
  }
  return upstream.send({ method: route.method, path: route.path, headers, signal, ...(body && { body }) })
}

/** The key for the upstream: the gateway's or, only where that is configured, the client's own. */
function keyHeaders({ address: { key }, provider, asked }: Entered): Record<string, string> {
  if (key !== undefined)
    return provider === 'openai' ? { authorization: `Bearer ${key}` } : { 'x-api-key': key }
  const headers: Record<string, string> = {}
  for (const name of ['authorization', 'x-api-key']) {
    const value = asked.header(name)
    if (value !== undefined) headers[name] = value
  }
  return headers
}

/** Why something came to no end: what it was ended for, if that was a freeze. */
export function causeOf({ signal }: Entered, fault: unknown): unknown {
  return signal.reason instanceof Refused ? signal.reason : fault
}
