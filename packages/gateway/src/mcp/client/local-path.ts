// The path of a gateway's local socket, and checks of its owner. A client on it has the rights of the gateway's user, and a
// listener on it receives secrets.

import { createHash } from 'node:crypto'
import { lstatSync, type Stats } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { makeDirectory } from '../../directory.ts'
import { GatewayError } from '../../error.ts'

/** Whether sockets are named pipes instead of files. */
export const HAS_PIPES: boolean = process.platform === 'win32'

// A socket address holds at least 104 bytes. Some are needed for a temporary folder.
const MAX_PATH_BYTES = 100

/** The socket for programs of the same user. */
export function socketPath(data: string): string {
  return pathOf(data, 'gateway.sock')
}

/** The socket for operators. */
export function operatorsPath(data: string): string {
  return pathOf(data, 'operator.sock')
}

/** The socket for the hooks of coding agents. */
export function hooksPath(data: string): string {
  return pathOf(data, 'hooks.sock')
}

function pathOf(data: string, name: string): string {
  const path = join(resolve(data), name)
  const hash = createHash('sha256').update(path).digest('hex').slice(0, 24)
  if (HAS_PIPES) return `\\\\.\\pipe\\tollgate-${hash}`
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return path
  return join(tmpdir(), `tollgate-${process.getuid?.() ?? 0}`, `${hash}.sock`)
}

/** Creates the folder of a socket, and refuses one that others may write to. @throws GatewayError. */
export function prepareFolder(path: string): void {
  if (HAS_PIPES) return
  makeDirectory(dirname(path))
  const folder = lstatSync(dirname(path))
  if (!isOwn(folder) || !folder.isDirectory()) throw foreign(dirname(path))
}

/**
 * Refuses a socket that another user created or could have created.
 * @returns whether there is a socket.
 * @throws GatewayError `LISTEN_REFUSED`.
 */
export function checkSocket(path: string): boolean {
  if (HAS_PIPES) return true
  const folder = lstatSync(dirname(path), { throwIfNoEntry: false })
  const socket = lstatSync(path, { throwIfNoEntry: false })
  if (!folder || !socket) return false
  if (!isOwn(folder) || !folder.isDirectory()) throw foreign(dirname(path))
  if (!isOwn(socket) || !socket.isSocket()) throw foreign(path)
  return true
}

function isOwn({ uid, mode }: Stats): boolean {
  return uid === process.getuid?.() && (mode & 0o022) === 0
}

function foreign(path: string): GatewayError {
  return new GatewayError('LISTEN_REFUSED', `other users can access \`${path}\``, {
    hints: [
      'run as the user that runs the gateway',
      `if it is yours, run \`chmod go-w ${path}\`, or remove it`,
    ],
  })
}
