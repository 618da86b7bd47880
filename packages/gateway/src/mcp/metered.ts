// Times requests to servers, and names the kind of each failure.

import type { UpstreamFaultKind } from '../telemetry/families.ts'
import type { Govern } from './govern.ts'
import { now } from './waiting.ts'
import { UpstreamFault, type UpstreamAnswer, type UpstreamFaultCode } from './server/upstream.ts'

const KINDS: Readonly<Record<UpstreamFaultCode, UpstreamFaultKind>> = {
  UNREACHABLE: 'unreachable',
  LOST: 'lost',
  GARBLED: 'garbled',
  CANCELLED: 'cancelled',
  SILENT: 'timeout',
}

/** Sends a request to a server and notes it. */
export async function metered(
  { note }: Pick<Govern, 'note'>,
  server: string,
  request: () => Promise<UpstreamAnswer>,
): Promise<UpstreamAnswer> {
  const start = now()
  try {
    const answer = await request()
    note(server, now() - start, answer.ok ? undefined : 'rpc-error')
    return answer
  } catch (fault) {
    note(server, now() - start, fault instanceof UpstreamFault ? KINDS[fault.code] : 'lost')
    throw fault
  }
}
