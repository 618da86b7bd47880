// Signs heads, as the one gateway that holds the lock of the signer, and remembers every signed head outside of the database.

import type { PublicKey } from '@tollgate/evidence'
import { openOwn } from '../heads.ts'
import type { openHeadGuard } from '../guard.ts'
import type { Link } from './link.ts'
import { isLost } from './session.ts'
import type { SqlQuery } from './tree.ts'
import type { PostgresWriter } from './writer.ts'

const EVERY_MS = 1000

interface SignerOptions {
  readonly writer: PostgresWriter
  readonly link: Link
  readonly ask: SqlQuery
  readonly schema: string
  readonly origin: string
  readonly known: readonly PublicKey[]
  /** Ids of the keys in service that sign checkpoints and that this gateway has; empty if it has none. */
  readonly ledger: readonly string[]
  readonly guard: ReturnType<typeof openHeadGuard> | undefined
}

/** Signs and remembers heads while a gateway runs. */
export interface Signer {
  /** A signed head of everything that this gateway knows to be durable, or the newest one of another gateway. */
  now(): Promise<string>
  /** Why the last head could not be signed or remembered. */
  readonly fault: unknown
  stop(): Promise<void>
}

export function startSigner(options: SignerOptions): Signer {
  const { writer, ask, guard, ledger } = options
  let kept = ''
  let fault: unknown
  const remember = (note: string): void => {
    if (note === '' || note === kept) return
    // A head that others may have seen must be known when a backup is restored.
    guard?.remember(note)
    kept = note
  }
  const newest = async (): Promise<string> => {
    const [row] = await ask('SELECT note FROM checkpoint')
    const note = row?.['note']
    if (typeof note !== 'string') return ''
    await openOwn(note, 'the database', { origin: options.origin, keys: options.known })
    return note
  }
  const sign = async (): Promise<string> => {
    const { size, note } = await writer.checkpoint(ledger)
    if (size === 0) return ''
    remember(note)
    await ask(
      `INSERT INTO checkpoint VALUES (1, $1, $2) ON CONFLICT (only_row) DO UPDATE SET size = excluded.size, note = excluded.note
       WHERE checkpoint.size < excluded.size`,
      [size, note],
    )
    return note
  }
  const round = async (): Promise<void> => {
    if (ledger.length > 0 && (await holdsLease(options))) await sign()
    else remember(await newest())
  }
  let running: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    running = running.then(round).catch((cause: unknown) => {
      // A lost connection is opened again. A head that cannot be remembered must stop the gateway.
      if (!isLost(cause)) fault = cause
    })
  }, EVERY_MS)
  timer.unref()
  return {
    now: () => (ledger.length > 0 ? sign() : newest()),
    get fault() {
      return fault
    },
    async stop() {
      clearInterval(timer)
      await running
      if (ledger.length > 0) await sign()
    },
  }
}

/** Whether this gateway signs. The lease is a lock of its connection: another gateway gets it when the connection ends. */
async function holdsLease({ link, schema }: SignerOptions): Promise<boolean> {
  if (!link.isOpen) return false
  const lock = `tollgate/signer ${schema}`
  // Counted per connection, so that taking it again and again needs no release.
  const [row] = await link.session.query(
    `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted
       AND ((classid::bigint << 32) | objid::bigint) = hashtextextended($1, 0) AND objsubid = 1)
     OR pg_try_advisory_lock(hashtextextended($1, 0)) AS held`,
    [lock],
  )
  return row?.['held'] === true
}
