// Where the local socket of a gateway is, and whose it must be: who comes by it may do what the gateway's own user may, and who
// listens on it is told secrets.

import { createHash } from 'node:crypto'
import { lstatSync, type Stats } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { makeDirectory } from '../../directory.ts'
import { GatewayError } from '../../error.ts'

/** Whether sockets are pipes with names of their own, and not files. */
export const HAS_PIPES: boolean = process.platform === 'win32'

// The address of a socket has room for 104 bytes at least; some of them for a folder that it is made in.
const LONGEST = 100

/** Where the gateway of this data directory listens for programs of the same user. */
export function socketPath(data: string): string {
  return pathOf(data, 'gateway.sock')
}

/** Where it listens for operators. */
export function operatorsPath(data: string): string {
  return pathOf(data, 'operator.sock')
}

function pathOf(data: string, name: string): string {
  const path = join(resolve(data), name)
  const hash = createHash('sha256').update(path).digest('hex').slice(0, 24)
  if (HAS_PIPES) return `\\\\.\\pipe\\tollgate-${hash}`
  if (Buffer.byteLength(path) <= LONGEST) return path
  return join(tmpdir(), `tollgate-${process.getuid?.() ?? 0}`, `${hash}.sock`)
}

/** Makes the folder of a socket if it is one of ours, and refuses one that others may write to. @throws GatewayError. */
export function prepareFolder(path: string): void {
  if (HAS_PIPES) return
  makeDirectory(dirname(path))
  const folder = lstatSync(dirname(path))
  if (!isOwn(folder) || !folder.isDirectory()) throw foreign(dirname(path))
}

/**
 * Refuses a socket that another user made or could have made.
 *
 * @returns whether there is a socket at all.
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
  return new GatewayError('LISTEN_REFUSED', `\`${path}\` is not only this user’s`, {
    hints: [
      'run as the user whose gateway it is',
      `if it is yours, run \`chmod go-w ${path}\`, or remove it`,
    ],
  })
}
