// A request that was admitted at the door, its forwarding with the upstream's key, and its end if that fails.

import { sha256Hex } from '@tollgate/evidence'
import type { DoorRequest, Reply } from '../exchange.ts'
import type { Log } from '../log.ts'
import type { KnownCaller } from '../tokens.ts'
import { Refused } from './dialect.ts'
import { faultReply, upstreamFault } from './errors.ts'
import { faultOf, translated } from './fault.ts'
import { given, headersFrom, headersTo } from './headers.ts'
import { KEY_HEADERS, TRAITS, type Provider } from './providers.ts'
import type { LlmRoute } from './routes.ts'
import { errorIn, type LlmUpstream, type UpstreamAddress, type UpstreamReply } from './upstream.ts'

export interface Entered {
  readonly asked: DoorRequest
  readonly caller: KnownCaller
  readonly provider: Provider
  readonly route: LlmRoute
  readonly address: UpstreamAddress
  readonly upstream: LlmUpstream
  /** The key in the query of the request. */
  readonly queryKey: string | undefined
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
function keyHeaders({ address: { key }, provider, asked, queryKey }: Entered): Record<string, string> {
  const { key: header } = TRAITS[provider]
  if (key === undefined) {
    const own = queryKey !== undefined && header !== undefined ? { [header]: queryKey } : {}
    return { ...own, ...given(['authorization', ...KEY_HEADERS], (name) => asked.header(name)) }
  }
  return header === undefined ? { authorization: `Bearer ${key}` } : { [header]: key }
}

/** Ends a request that failed, and answers it. */
export function failureReply(
  entered: Entered,
  fault: unknown,
  log: Log,
  headers: Record<string, string>,
): Reply {
  entered.failed(fault)
  stop(entered)
  return faultReply(entered.provider, faultOf(causeOf(entered, fault), log), headers)
}

/** Ends a request that the upstream did not answer with 200, and answers it. */
export async function refusalReply(
  entered: Entered,
  reply: UpstreamReply,
  log: Log,
  summary: () => Record<string, string>,
): Promise<Reply> {
  const { provider, address } = entered
  const fault = upstreamFault(provider, reply.status, await errorIn(reply), address.key)
  const headers = { ...headersFrom(reply.headers), ...summary() }
  stop(entered)
  return faultReply(provider, translated(fault, address, log), headers)
}

/** Stops the upstream and releases the resources of the request. */
export function stop({ abort, over }: Entered): void {
  abort()
  over()
}

/** The cause of a failure: the freeze that aborted the request, if there was one. */
export function causeOf({ signal }: Entered, fault: unknown): unknown {
  return signal.reason instanceof Refused ? signal.reason : fault
}
