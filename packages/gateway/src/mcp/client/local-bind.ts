// Binds a socket that only this user can open.

import { chmodSync, lstatSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { createConnection, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { GatewayError } from '../../error.ts'
import { checkSocket, HAS_PIPES, prepareFolder } from './local-path.ts'

/**
 * Binds a socket for this user only. It is created in a private folder and then moved into place, so that it never has wider
 * permissions. The socket of an earlier gateway is replaced.
 * @throws GatewayError `LISTEN_REFUSED` if another gateway listens there, or other users can access it.
 */
export async function bindSocket(server: Server, path: string): Promise<void> {
  prepareFolder(path)
  if (checkSocket(path) && (await answers(path))) {
    throw new GatewayError('LISTEN_REFUSED', `another gateway already listens on \`${path}\``, {
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
  return new GatewayError('LISTEN_REFUSED', `cannot listen on \`${path}\`: ${why}`, {
    hints: ['the data directory must belong to this user, on a file system that supports sockets'],
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
