// Serves the API on local sockets next to the ledger, which only the gateway's user can open. Operators can look, freeze and revoke
// on one even if the port for agents does not work. The hooks of coding agents use the other: no other program can listen there.

import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { replyTo, SECURITY_HEADERS, type ApiOptions, type App } from './api/app.ts'
import { identityOf } from './api/auth.ts'
import { Problem } from './api/problem.ts'
import { configHome } from './config/place.ts'
import { GatewayError } from './error.ts'
import type { DoorRequest, Reply } from './exchange.ts'
import { close, limitsOf, prepare } from './http-server.ts'
import { bindSocket } from './mcp/client/local-bind.ts'
import { HAS_PIPES, hooksPath, operatorsPath } from './mcp/client/local-path.ts'
import { withSignIn } from './sign-in/entry.ts'
import { createMetrics } from './telemetry/metrics.ts'

/** An open socket. */
interface LocalSocket {
  readonly path: string
  /** Accepts no new requests, waits up to `grace` milliseconds for running ones and removes the socket. */
  close(grace: number): Promise<void>
}

const CONNECTIONS = 64
// A web page cannot address the socket, so one name is enough.
const NAMES = { hosts: new Set(['localhost']), scheme: 'http', origins: new Set<string>() } as const

/** Opens the sockets of a data directory. A failure is logged, because agents are governed without the sockets. */
export async function openLocalApi(
  data: string | undefined,
  app: App,
  api: ApiOptions,
): Promise<readonly LocalSocket[]> {
  if (data === undefined) return []
  const local = { home: homedir(), gate: [resolve(data), configHome()] }
  const opened = await Promise.all([
    open('operators', operatorsPath(data), (asked) => answerOperator(asked, app, api), api),
    open('hooks', hooksPath(data), (asked) => answerHooks({ ...asked, local }, app, api), api),
  ])
  return opened.filter((each) => each !== undefined)
}

async function open(
  whose: string,
  path: string,
  answer: App['answer'],
  api: ApiOptions,
): Promise<LocalSocket | undefined> {
  const server = createServer(limitsOf())
  // Each socket has connections of its own, so that agents cannot use up those of operators.
  prepare(server, { app: { answer }, names: NAMES, api, metrics: createMetrics(), connections: CONNECTIONS })
  try {
    await bindSocket(server, path)
  } catch (fault) {
    // For a system error the code is enough.
    const because = fault instanceof GatewayError ? fault.message : codeOf(fault)
    api.log('warn', `the local socket for ${whose} could not be opened`, { because })
    return undefined
  }
  server.on('error', ({ code }: NodeJS.ErrnoException) =>
    api.log('error', `the local socket for ${whose} failed`, { code }),
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
function answerOperator(asked: DoorRequest, app: App, api: ApiOptions): Promise<Reply> {
  return guarded(api, async () => {
    const known = await withSignIn(asked, api.signIn, 'http://localhost')
    const { role } = identityOf(known, api)
    if (role === 'operator' || role === 'admin') return app.answer(known)
    throw new Problem('role-forbidden', `the token has the role \`${role}\``, {
      remedy:
        'Use a token with the role `operator` or `admin`. For other roles, use the address that the gateway listens on.',
    })
  })
}

/** Answers the hook door only. Its route checks the role. */
function answerHooks(asked: DoorRequest, app: App, api: ApiOptions): Promise<Reply> {
  return guarded(api, async () => {
    if (/^\/v1\/hooks\/[a-z-]+$/.test(asked.path)) return app.answer(asked)
    throw new Problem('not-found')
  })
}

async function guarded(api: ApiOptions, answer: () => Promise<Reply>): Promise<Reply> {
  try {
    return await answer()
  } catch (fault) {
    const reply = replyTo(fault, undefined, api)
    return { ...reply, headers: { ...SECURITY_HEADERS, ...reply.headers } }
  }
}
