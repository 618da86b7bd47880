// A real PostgreSQL server for tests: a cluster of its own in a temporary folder, run by a user without rights.

import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import pg from 'pg'
import { findPostgres } from '../../../../../tools/postgres.mjs'
import type { DatabasePlace } from '../../../src/store/postgres/session.ts'

/** A running server. */
export interface TestServer {
  readonly port: number
  /** A new, empty place for a ledger. `port` is that of a proxy, if there is one. */
  place(port?: number): DatabasePlace
  /** Runs a statement as the superuser. */
  query(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Runs a statement in a transaction that stays open. */
  hold(sql: string): Promise<HeldLock>
  /** Ends every process of the server at once, as a crash does. */
  kill(): Promise<void>
  /** Starts it again on the same cluster and port. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** An open transaction. */
export interface HeldLock {
  /** Resolves when this many other transactions wait for a lock. */
  untilWaiting(count: number): Promise<void>
  release(): Promise<void>
}

// No `-F`: these servers sync, as real ones do.
const SETTINGS = ['listen_addresses=127.0.0.1', 'max_connections=60', 'shared_buffers=16MB', 'autovacuum=off']

/** Starts a server with a new cluster. */
export async function startServer(): Promise<TestServer> {
  const programs = findPostgres()
  if (programs === undefined) {
    throw new Error(
      'PostgreSQL is missing: install 13 or newer, or set TOLLGATE_POSTGRES to the folder with its programs',
    )
  }
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-postgres-'))
  const user = unprivileged()
  if (user) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const set = ['-D', data, '-U', 'tollgate', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N']
  execFileSync(join(programs, 'initdb'), set, { stdio: 'ignore', cwd: folder, ...user })
  const port = await freePort()
  let child: ChildProcess | undefined
  let schemas = 0

  const query: TestServer['query'] = async (sql) => {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'tollgate', database: 'postgres' })
    client.on('error', () => undefined)
    await client.connect()
    try {
      const { rows } = await client.query<Readonly<Record<string, unknown>>>(sql)
      return rows
    } finally {
      await client.end().catch(() => undefined)
    }
  }
  const hold: TestServer['hold'] = async (sql) => {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'tollgate', database: 'postgres' })
    await client.connect()
    await client.query('BEGIN')
    await client.query(sql)
    return {
      async untilWaiting(count) {
        for (;;) {
          const [row] = await query(
            "SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
          )
          if (Number(row?.waiting) === count) return
        }
      },
      async release() {
        await client.query('ROLLBACK')
        await client.end()
      },
    }
  }
  const start = async (): Promise<void> => {
    const args = ['-D', data, '-k', folder, '-p', String(port), ...SETTINGS.flatMap((each) => ['-c', each])]
    // A group of its own, so that all its processes can be killed at once.
    child = spawn(join(programs, 'postgres'), args, { stdio: 'ignore', cwd: folder, detached: true, ...user })
    for (;;) {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}`)
      try {
        await query('SELECT 1')
        return
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
  }
  const end = async (signal: NodeJS.Signals, whole: boolean): Promise<void> => {
    const ending = child
    if (ending?.pid === undefined || ending.exitCode !== null || ending.signalCode !== null) return
    const ended = new Promise((resolve) => ending.once('exit', resolve))
    process.kill(whole ? -ending.pid : ending.pid, signal)
    await ended
  }
  // It is in a group of its own, so it would outlive a run that is interrupted.
  const orphan = (): void => {
    if (child?.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      process.kill(-child.pid, 'SIGKILL')
    }
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', orphan)
  await start()
  return {
    port,
    place: (at = port) => ({
      url: `postgres://tollgate@127.0.0.1:${at}/postgres`,
      schema: `ledger_${process.pid}_${schemas++}`,
    }),
    query,
    hold,
    start,
    kill: () => end('SIGKILL', true),
    async stop() {
      process.off('exit', orphan)
      await end('SIGQUIT', false)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (typeof address === 'object' && address) return address.port
  throw new Error('no free port')
}
