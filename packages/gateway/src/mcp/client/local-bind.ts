// Listening on a socket that is this user's alone.

import { chmodSync, lstatSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { createConnection, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { GatewayError } from '../../error.ts'
import { checkSocket, HAS_PIPES, prepareFolder } from './local-path.ts'

/**
 * Binds a socket for this user alone. It is made in a folder that nobody else can enter and then put in its place, so that it is never there with
 * wider permissions; what an earlier gateway left is replaced.
 *
 * @throws GatewayError `LISTEN_REFUSED` if another gateway listens there, or it is not only this user's.
 */
export async function bindSocket(server: Server, path: string): Promise<void> {
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

/** Whether a gateway listens on a socket. */
export function answers(path: string): Promise<boolean> {
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
