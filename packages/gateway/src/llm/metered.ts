// Times requests to a model server, and names the kind of each failure.

import { performance } from 'node:perf_hooks'
import type { UpstreamFaultKind } from '../telemetry/families.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { Garbled } from './dialect.ts'
import { LlmUpstreamFault, type LlmUpstream } from './upstream.ts'

/** Notes a request to an upstream, as `Metrics.upstream`. */
type NoteUpstream = Metrics['upstream']

/** The same upstream, with each request noted under a name when its answer begins. */
export function meteredUpstream(upstream: LlmUpstream, name: string, note: NoteUpstream): LlmUpstream {
  return {
    async send(request) {
      const start = performance.now()
      const took = (): number => performance.now() - start
      try {
        const reply = await upstream.send(request)
        const begun = took()
        const refused = kindOfStatus(reply.status)
        if (refused) {
          note(name, begun, refused)
          return reply
        }
        return { ...reply, body: watched(reply.body, request.signal, (fault) => note(name, begun, fault)) }
      } catch (fault) {
        note(name, took(), kindOf(fault, request.signal))
        throw fault
      }
    },
    close: () => upstream.close(),
  }
}

/** The same body. Calls `end` once, when it is read, has failed or is left. */
async function* watched(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  end: (fault: UpstreamFaultKind | undefined) => void,
): AsyncGenerator<Uint8Array> {
  let fault: UpstreamFaultKind | undefined = 'cancelled'
  try {
    yield* body
    fault = undefined
  } catch (cause) {
    fault = kindOf(cause, signal)
    throw cause
  } finally {
    end(fault)
  }
}

function kindOfStatus(status: number): UpstreamFaultKind | undefined {
  if (status === 429) return 'rate-limited'
  return status >= 500 ? 'server-error' : status >= 400 ? 'client-error' : undefined
}

// Nothing was sent after these.
const UNREACHED: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

function kindOf(fault: unknown, signal: AbortSignal): UpstreamFaultKind {
  if (signal.aborted) return 'cancelled'
  if (fault instanceof Garbled) return 'garbled'
  if (!(fault instanceof LlmUpstreamFault)) return 'lost'
  if (UNREACHED.has(fault.code)) return 'unreachable'
  return fault.status === 504 ? 'timeout' : 'lost'
}
