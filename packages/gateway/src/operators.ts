// Serves the API to operators on a local socket next to the ledger, which only the gateway's user can open. Operators can
// look, freeze and revoke there even if the port for agents does not work.

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
import { withSignIn } from './sign-in/entry.ts'
import { createMetrics } from './telemetry/metrics.ts'

/** The open socket. */
interface Operators {
  readonly path: string
  /** Accepts no new requests, waits up to `grace` milliseconds for running ones and removes the socket. */
  close(grace: number): Promise<void>
}

const CONNECTIONS = 64
// A web page cannot address the socket, so one name is enough.
const NAMES = { hosts: new Set(['localhost']), scheme: 'http', origins: new Set<string>() } as const

/**
 * Opens the socket of a data directory. A failure is logged and returns undefined, because agents are governed without the
 * socket.
 */
export async function openOperators(
  data: string | undefined,
  app: App,
  api: ApiOptions,
): Promise<Operators | undefined> {
  if (data === undefined) return undefined
  const path = operatorsPath(data)
  const server = createServer(limitsOf())
  const guarded = { answer: (asked: DoorRequest) => answerOperator(asked, app, api) }
  // Its connections are not those that agents use up.
  prepare(server, { app: guarded, names: NAMES, api, metrics: createMetrics(), connections: CONNECTIONS })
  try {
    await bindSocket(server, path)
  } catch (fault) {
    // For a system error the code is enough.
    const because = fault instanceof GatewayError ? fault.message : codeOf(fault)
    api.log('warn', 'the local socket for operators could not be opened', { because })
    return undefined
  }
  server.on('error', ({ code }: NodeJS.ErrnoException) =>
    api.log('error', 'the local socket for operators failed', { code }),
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

/** Answers operators and admins only. Other callers are refused even on public routes. */
async function answerOperator(asked: DoorRequest, app: App, api: ApiOptions): Promise<Reply> {
  try {
    const known = await withSignIn(asked, api.signIn, 'http://localhost')
    const { role } = identityOf(known, api)
    if (role === 'operator' || role === 'admin') return await app.answer(known)
    throw new Problem('role-forbidden', `the token has the role \`${role}\``, {
      remedy:
        'Use a token with the role `operator` or `admin`. For other roles, use the address that the gateway listens on.',
    })
  } catch (fault) {
    const reply = replyTo(fault, undefined, api)
    return { ...reply, headers: { ...SECURITY_HEADERS, ...reply.headers } }
  }
}
