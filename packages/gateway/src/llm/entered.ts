// A request that was admitted at the door, and its forwarding with the upstream's key.

import { sha256Hex } from '@tollgate/evidence'
import type { DoorRequest } from '../exchange.ts'
import type { KnownCaller } from '../tokens.ts'
import { Refused, type Provider } from './dialect.ts'
import { headersTo } from './headers.ts'
import type { LlmRoute } from './routes.ts'
import type { LlmUpstream, UpstreamAddress, UpstreamReply } from './upstream.ts'

export interface Entered {
  readonly asked: DoorRequest
  readonly caller: KnownCaller
  readonly provider: Provider
  readonly route: LlmRoute
  readonly address: UpstreamAddress
  readonly upstream: LlmUpstream
  readonly signal: AbortSignal
  /** Refuses a caller that was frozen meanwhile. @throws Refused */
  readonly requireNotFrozen: (session?: unknown) => Promise<void>
  /** Aborts the request. */
  readonly abort: () => void
  /** Releases the resources of the request. Call it when everything is sent. */
  readonly over: () => void
  /** Corrects the size of its body. @throws Refused */
  readonly resize: (bytes: number) => void
  /** Charges the bytes that are about to be parsed. @throws Refused if the caller has already sent too much. */
  readonly admit: (bytes: number) => void
  /** Charges the caller for an unreadable request. */
  readonly failed: (fault: unknown) => void
}

/**
 * Sends the request to the upstream, unless its caller is frozen now. The only place that sends. @throws Refused,
 * UpstreamFault, Garbled
 */
export async function forward(
  entered: Entered,
  stream: boolean,
  body?: readonly Uint8Array[],
): Promise<UpstreamReply> {
  const { asked, caller, provider, route, upstream, signal } = entered
  await entered.requireNotFrozen()
  const key = asked.header('idempotency-key')
  const headers = {
    ...headersTo(provider, (name) => asked.header(name), stream),
    // All agents share one upstream account, so their keys must not collide.
    ...(key !== undefined && { 'idempotency-key': sha256Hex(`${caller.owner}\n${key}`) }),
    ...keyHeaders(entered),
  }
  return upstream.send({ method: route.method, path: route.path, headers, signal, ...(body && { body }) })
}

/** The key for the upstream: the gateway's or, if configured, the client's own. */
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

/** The cause of a failure: the freeze that aborted the request, if there was one. */
export function causeOf({ signal }: Entered, fault: unknown): unknown {
  return signal.reason instanceof Refused ? signal.reason : fault
}
