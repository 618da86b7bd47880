// Starts servers and records the definitions of their tools, exactly as the gateway would. Calls no tool.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Catalogue } from '@tollgate/kernel/admin'
import { ServerLink } from '../../../mcp/link.ts'
import { NO_EVENTS, UpstreamFault, type Connect, type Server } from '../../../mcp/server/upstream.ts'
import { VERSION } from '../../program/version.ts'

/** Why a server could not be asked; undefined if it was. */
export interface Met {
  readonly name: string
  readonly why: string | undefined
}

const CONCURRENCY = 4
const TIMEOUT_MS = 60_000
// Claims the usual client capabilities, so that the server shows everything. Its requests are refused.
const CLIENT = {
  capabilities: { sampling: {}, elicitation: {}, roots: {} },
  info: { name: 'tollgate', version: VERSION },
}

/** Puts everything that the servers offer into the catalogue, a few servers at a time. Never rejects. */
export async function meetServers(
  connect: Connect,
  catalogue: Catalogue,
  servers: readonly Server[],
): Promise<readonly Met[]> {
  const met: Met[] = []
  const waiting = [...servers]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      met.push({ name: next.name, why: await meetOne(connect, catalogue, next) })
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return met
}

async function meetOne(connect: Connect, catalogue: Catalogue, server: Server): Promise<string | undefined> {
  const upstream = connect(server, CLIENT, NO_EVENTS)
  const abort = new AbortController()
  const late = sleep(TIMEOUT_MS, `it did not list its tools within ${TIMEOUT_MS / 1000} s`, {
    signal: abort.signal,
  }).catch(() => undefined)
  try {
    const meeting = new ServerLink(server, upstream, catalogue).meet()
    return await Promise.race([meeting.then(() => undefined), late])
  } catch (fault) {
    // Text of the server is not put into messages.
    return fault instanceof UpstreamFault ? fault.message : 'its lists cannot be read'
  } finally {
    abort.abort()
    await upstream.close().catch(() => undefined)
  }
}
