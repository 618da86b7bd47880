// The local door: a socket beside the ledger, used by `tollgate mcp -- COMMAND` to connect a client with its own server. A
// token is optional, because a user who can open the socket can also read the keys.

import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { createBudget } from '../../budget.ts'
import { bindSocket } from './local-bind.ts'
import { formatWelcome } from './local-join.ts'
import { HAS_PIPES, socketPath } from './local-path.ts'
import { LocalConnection, type LocalLimits, type LocalOptions } from './local-connection.ts'
import { MAX_MESSAGE } from '../message.ts'

export interface LocalDoor {
  readonly path: string
  /** Waits for active requests, says goodbye and removes the socket. */
  close(): Promise<void>
}

const LIMITS: LocalLimits = {
  connections: 128,
  requests: 256,
  unread: 4 * MAX_MESSAGE,
  deadline: 5000,
  grace: 5000,
}

/**
 * Listens on the socket of a data directory.
 * @throws GatewayError `LISTEN_REFUSED` if a gateway already listens there, or other users can access it.
 */
export async function openLocal(data: string, options: LocalOptions): Promise<LocalDoor> {
  const limits = { ...LIMITS, ...options.limits }
  const path = socketPath(data)
  const connections = new Set<LocalConnection>()
  const { budget = createBudget() } = options
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (connections.size >= limits.connections) {
      const message = 'too many local connections'
      socket.on('error', () => undefined)
      socket.end(`${formatWelcome({ ok: false, message, hints: ['close some of them'] })}\n`, () =>
        socket.destroy(),
      )
      return
    }
    const connection = new LocalConnection(socket, { ...options, budget }, limits, () =>
      connections.delete(connection),
    )
    connections.add(connection)
  })
  await bindSocket(server, path)
  server.on('error', ({ code }: NodeJS.ErrnoException) =>
    options.log('error', 'the local socket failed', { code }),
  )
  return {
    path,
    async close() {
      options.mcp.end()
      // Removed first, so that new clients wait for the next gateway.
      if (!HAS_PIPES) rmSync(path, { force: true })
      const closed = new Promise((resolve) => server.close(resolve))
      await Promise.all([...connections].map((connection) => connection.close()))
      await closed
    },
  }
}
