// Finds out whether a connection on loopback comes from a process of one browser. Linux lists each socket with its number, and each
// process with its sockets. A browser runs in a session of its own, which only its descendants are in. There is no secret that
// another process could read.

import { readdir, readFile, readlink } from 'node:fs/promises'
import type { Socket } from 'node:net'
import process from 'node:process'

/** Whether this system can tell. */
export function canTellOwners(): boolean {
  return process.platform === 'linux'
}

/**
 * Returns a test of connections for the browser whose first process has this id. It answers false if anything is unclear, and once
 * this process has exited: its id may then belong to another.
 */
export async function ownerTest(browser: number): Promise<(socket: Socket) => Promise<boolean>> {
  const born = await birthOf(browser)
  // One process of a browser makes all connections, so it is asked first.
  let last: string | undefined
  return async (socket) => {
    try {
      const link = await linkOf(socket)
      if (link === undefined || born === undefined || (await birthOf(browser)) !== born) return false
      if (last !== undefined && (await holds(last, browser, link))) return true
      last = await holderOf(browser, link)
      return last !== undefined
    } catch {
      return false
    }
  }
}

/** The start of the process that leads the session of a browser; undefined if there is no such process. */
async function birthOf(browser: number): Promise<string | undefined> {
  try {
    const [session, start] = await statusOf(String(browser))
    return session === String(browser) ? start : undefined
  } catch {
    return undefined
  }
}

/** The session and the start of a process. */
async function statusOf(id: string): Promise<readonly [string | undefined, string | undefined]> {
  const stat = await readFile(`/proc/${id}/stat`, 'latin1')
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
  const table = await readFile('/proc/net/tcp', 'latin1')
  for (const line of table.split('\n')) {
    const [, local, remote, state, , , , , , inode] = line.trim().split(/\s+/)
    const isThis = LOOPBACK.some((address) => local === `${address}:${from}` && remote === `${address}:${to}`)
    if (isThis && state === ESTABLISHED && inode !== undefined && inode !== '0') return `socket:[${inode}]`
  }
  return undefined
}

// 127.0.0.1 in the byte order of the machine.
const LOOPBACK = ['0100007F', '7F000001']
const ESTABLISHED = '01'

async function holderOf(browser: number, link: string): Promise<string | undefined> {
  const found = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name))
  for (const id of found) if (await holds(id, browser, link)) return id
  return undefined
}

/** Whether a process is in the session of the browser and has this socket. */
async function holds(id: string, browser: number, link: string): Promise<boolean> {
  try {
    const [session] = await statusOf(id)
    if (session !== String(browser)) return false
    const names = await readdir(`/proc/${id}/fd`)
    const links = await Promise.all(names.map((name) => readlink(`/proc/${id}/fd/${name}`).catch(() => '')))
    return links.includes(link)
  } catch {
    // It has exited, or belongs to another user.
    return false
  }
}
