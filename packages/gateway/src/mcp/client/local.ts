// The door for programs of the same user: a socket beside the ledger, by which `tollgate mcp -- COMMAND` brings a client and the
// server it wants. Who can open the socket can read the keys as well, so it asks for no token; it takes one if it is given.

import { chmodSync, lstatSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { createConnection, createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { createBudget } from '../../budget.ts'
import { GatewayError } from '../../error.ts'
import { formatWelcome } from './local-join.ts'
import { checkSocket, HAS_PIPES, prepareFolder, socketPath } from './local-path.ts'
import { createVisit, type LocalLimits, type LocalOptions, type Visit } from './local-visit.ts'
import { MAX_MESSAGE } from '../message.ts'

export { socketPath, type LocalLimits, type LocalOptions }

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
  const visits = new Set<Visit>()
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
    const visit = createVisit(socket, { ...options, budget }, limits, () => visits.delete(visit))
    visits.add(visit)
  })
  await bind(server, path)
  server.on('error', ({ code }: NodeJS.ErrnoException) =>
    options.log('error', 'the local socket failed', { code }),
  )
  return {
    path,
    async close() {
      // No more from here on: whoever finds no socket waits for the next gateway.
      if (!HAS_PIPES) rmSync(path, { force: true })
      const closed = new Promise((resolve) => server.close(resolve))
      await Promise.all([...visits].map((visit) => visit.close()))
      await closed
    },
  }
}

/**
 * Binds the socket. It is made in a folder that nobody else can enter and then put in its place, so that it is never there with
 * wider permissions; what an earlier gateway left is replaced.
 */
async function bind(server: Server, path: string): Promise<void> {
  prepareFolder(path)
  if (checkSocket(path) && (await answers(path))) {
    throw new GatewayError('LISTEN_REFUSED', `another gateway listens on \`${path}\``, {
      hints: ['stop it first, or choose another directory with `--data`'],
    })
  }
  if (HAS_PIPES) {
    await listen(server, path)
    return
  }
  const folder = mkdtempSync(join(dirname(path), '.s'))
  try {
    const made = join(folder, 's')
    await listen(server, made)
    chmodSync(made, 0o600)
    renameSync(made, path)
    if ((lstatSync(path).mode & 0o777) !== 0o600) throw refused(path, 'its permissions cannot be narrowed')
  } catch (fault) {
    server.close()
    throw fault
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = ({ code }: NodeJS.ErrnoException): void => reject(refused(path, code ?? 'no reason given'))
    server.once('error', fail)
    server.listen(path, () => {
      server.off('error', fail)
      resolve()
    })
  })
}

function refused(path: string, why: string): GatewayError {
  return new GatewayError('LISTEN_REFUSED', `\`${path}\` cannot be listened on: ${why}`, {
    hints: ['the data directory must be on a file system that has sockets, and be this user’s'],
  })
}

/** Whether somebody listens. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path)
    const end = (is: boolean) => (): void => {
      socket.destroy()
      resolve(is)
    }
    socket.once('connect', end(true))
    socket.once('error', end(false))
  })
}
