// The door for programs of the same user: a socket beside the ledger, by which `tollgate mcp -- COMMAND` brings a client and the
// server it wants. Who can open the socket can read the keys as well, so it asks for no token; it takes one if it is given.

import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { createBudget } from '../../budget.ts'
import { bindSocket } from './local-bind.ts'
import { formatWelcome } from './local-join.ts'
import { HAS_PIPES, socketPath } from './local-path.ts'
import {
  createLocalConnection,
  type LocalLimits,
  type LocalOptions,
  type LocalConnection,
} from './local-connection.ts'
import { MAX_MESSAGE } from '../message.ts'

export { socketPath, type LocalLimits }

/** A local door that is open. */
export interface LocalDoor {
  readonly path: string
  /** Lets requests under way finish, says goodbye, and removes the socket. */
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
 *
 * @throws GatewayError `LISTEN_REFUSED` if somebody listens there already, or it is not only this user's.
 */
export async function openLocal(data: string, options: LocalOptions): Promise<LocalDoor> {
  const limits = { ...LIMITS, ...options.limits }
  const path = socketPath(data)
  const visits = new Set<LocalConnection>()
  const { budget = createBudget() } = options
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    if (visits.size >= limits.connections) {
      const message = 'as many programs are with the gateway as there may be'
      socket.on('error', () => undefined)
      socket.end(`${formatWelcome({ ok: false, message, hints: ['end some of them'] })}\n`, () =>
        socket.destroy(),
      )
      return
    }
    const connection = createLocalConnection(socket, { ...options, budget }, limits, () =>
      visits.delete(connection),
    )
    visits.add(connection)
  })
  await bindSocket(server, path)
  server.on('error', ({ code }: NodeJS.ErrnoException) =>
    options.log('error', 'the local socket failed', { code }),
  )
  return {
    path,
    async close() {
      // No more from here on: whoever finds no socket waits for the next gateway.
      if (!HAS_PIPES) rmSync(path, { force: true })
      const closed = new Promise((resolve) => server.close(resolve))
      await Promise.all([...visits].map((connection) => connection.close()))
      await closed
    },
  }
}
