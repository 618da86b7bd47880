// The operators' own way in: a socket beside the ledger, for the gateway's user alone. Whatever is the matter with the port that
// agents come by, a person with an operator's token can still look, freeze and revoke.

import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { replyTo, SECURITY_HEADERS, type ApiOptions, type App } from './api/app.ts'
import { identityOf } from './api/auth.ts'
import { Problem } from './api/problem.ts'
import { GatewayError } from './error.ts'
import type { DoorRequest, Reply } from './exchange.ts'
import { close, limitsOf, prepare } from './http-server.ts'
import { bindSocket } from './mcp/client/local-bind.ts'
import { HAS_PIPES, operatorsPath } from './mcp/client/local-path.ts'

/** The socket, open. */
interface Operators {
  readonly path: string
  /** Takes no more requests, lets those under way finish for so many milliseconds, and removes the socket. */
  close(grace: number): Promise<void>
}

const CONNECTIONS = 64
// Nobody is asked under another name there: it has no address that a page could be made to point at.
const NAMES = { hosts: new Set(['localhost']), scheme: 'http' } as const

/** Opens the socket of a data directory. One that cannot be opened is told in the log: agents are governed without it. */
export async function openOperators(
  data: string | undefined,
  app: App,
  api: ApiOptions,
): Promise<Operators | undefined> {
  if (data === undefined) return undefined
  const path = operatorsPath(data)
  const server = createServer(limitsOf())
  const guarded = { answer: (asked: DoorRequest) => answerOperator(asked, app, api) }
  prepare(server, { app: guarded, names: NAMES, api, connections: CONNECTIONS })
  try {
    await bindSocket(server, path)
  } catch (fault) {
    // A code says enough, where the fault is the system's.
    const because = fault instanceof GatewayError ? fault.message : codeOf(fault)
    api.log('warn', 'operators have no local socket', { because })
    return undefined
  }
  server.on('error', ({ code }: NodeJS.ErrnoException) =>
    api.log('error', 'the socket of the operators failed', { code }),
  )
  return {
    path,
    async close(grace) {
      if (!HAS_PIPES) rmSync(path, { force: true })
      await close(server, grace)
    },
  }
}

function codeOf(fault: unknown): string {
  // Sound: the member is tested before use.
  return (fault as NodeJS.ErrnoException).code ?? 'no reason given'
}

/** The API, for operators and admins alone: not even a public route answers anyone else here. */
async function answerOperator(asked: DoorRequest, app: App, api: ApiOptions): Promise<Reply> {
  try {
    const { role } = identityOf(asked, api)
    if (role === 'operator' || role === 'admin') return await app.answer(asked)
    throw new Problem('role-forbidden', `the token has the role \`${role}\``, {
      remedy:
        'Use a token with the role `operator` or `admin`; others come by the address the gateway listens on.',
    })
  } catch (fault) {
    const reply = replyTo(fault, undefined, api)
    return { ...reply, headers: { ...SECURITY_HEADERS, ...reply.headers } }
  }
}
