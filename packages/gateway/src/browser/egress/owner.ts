// Finds out whether a connection on loopback comes from a process of one browser. Linux lists each socket with its number, and each
// process with its sockets. A browser runs in a session of its own, which only its descendants are in. There is no secret that
// another process could read.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import process from 'node:process'
import { fresh } from './fresh.ts'

/** Whether this system can tell. */
export function canTellOwners(): boolean {
  return process.platform === 'linux'
}

/**
 * Returns a test of connections for the browser whose first process has this id. It answers false if anything is unclear, and once
 * this process has exited: its id may then belong to another.
 */
export function ownerTest(browser: number): (socket: Socket) => Promise<boolean> {
  const born = birthOf(browser)
  // One process of a browser makes all its connections. While it lives, no other process is looked at.
  let maker: string | undefined
  return async (socket) => {
    try {
      const link = await linkOf(socket)
      if (link === undefined || born === undefined || birthOf(browser) !== born) return false
      if (maker !== undefined && isPart(maker, browser)) return holds(maker, link)
      maker = readdirSync('/proc').find((id) => /^[0-9]+$/.test(id) && isPart(id, browser) && holds(id, link))
      return maker !== undefined
    } catch {
      return false
    }
  }
}

/** The start of the process that leads the session of a browser; undefined if there is no such process. */
function birthOf(browser: number): string | undefined {
  try {
    const [session, start] = statusOf(String(browser))
    return session === String(browser) ? start : undefined
  } catch {
    return undefined
  }
}

/** The session and the start of a process. */
function statusOf(id: string): readonly [string | undefined, string | undefined] {
  const stat = readFileSync(`/proc/${id}/stat`, 'latin1')
  // The name of the program, in brackets, can contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return [fields[3], fields[19]]
}

/** The text by which `/proc` names the other end of a connection. */
async function linkOf({ remoteAddress, remotePort, localPort }: Socket): Promise<string | undefined> {
  if (remoteAddress !== '127.0.0.1') return undefined
  const [from, to] = [remotePort, localPort].map((port) =>
    (port ?? 0).toString(16).toUpperCase().padStart(4, '0'),
  )
  const table = await readTable()
  for (const line of table.split('\n')) {
    const [, local, remote, state, , , , user, , inode] = line.trim().split(/\s+/)
    const isThis = LOOPBACK.some((address) => local === `${address}:${from}` && remote === `${address}:${to}`)
    // Processes of other users are not even looked at.
    if (!isThis || state !== ESTABLISHED || user !== String(process.getuid?.())) continue
    if (inode !== undefined && inode !== '0') return `socket:[${inode}]`
  }
  return undefined
}

// Reading it takes milliseconds, and a browser opens many connections at once.
const readTable = fresh(() => readFile('/proc/net/tcp', 'latin1'))

// 127.0.0.1 in the byte order of the machine.
const LOOPBACK = ['0100007F', '7F000001']
const ESTABLISHED = '01'

/** Whether a process is in the session of the browser. */
function isPart(id: string, browser: number): boolean {
  try {
    return statusOf(id)[0] === String(browser)
  } catch {
    // It has exited.
    return false
  }
}

/** Whether a process has this socket. */
function holds(id: string, link: string): boolean {
  try {
    return readdirSync(`/proc/${id}/fd`).some((name) => linkIn(id, name) === link)
  } catch {
    // It has exited.
    return false
  }
}

function linkIn(id: string, name: string): string {
  try {
    return readlinkSync(`/proc/${id}/fd/${name}`)
  } catch {
    // It was closed meanwhile.
    return ''
  }
}
