// The PostgreSQL store: one connection writes and listens, a few others read. Several gateways share one ledger; each is a writer
// of its own.

import type { Batch } from '@tollgate/kernel'
import { GatewayError } from '../../error.ts'
import type { LedgerView } from '../../view.ts'
import { openHeadGuard } from '../guard.ts'
import type { OpenedStore } from '../opened.ts'
import { importSeeds } from '../seal.ts'
import type { KeyPeriod, KeyRing } from '../service.ts'
import { Link } from './link.ts'
import { openPool } from './pool.ts'
import { EntryReader, viewOf } from './reader.ts'
import { readRing, RecordReader } from './records.ts'
import { createTables, requireTables } from './schema.ts'
import { openSession, type DatabasePlace } from './session.ts'
import { readSettings, requireSafe } from './settings.ts'
import { startSigner } from './signer.ts'
import { checkTail } from './tail-check.ts'
import { PostgresWriter } from './writer.ts'

/** The options of a store. */
interface PostgresOptions {
  readonly place: DatabasePlace
  readonly origin: string
  readonly writer: string
  /** Seeds of the private keys. They are wiped after the import. */
  readonly seeds: readonly Uint8Array[]
  /** The directory of the head guard; undefined if it is switched off. */
  readonly guard: string | undefined
  /** Signs no checkpoints. */
  readonly quiet?: boolean
  /** The writer has no key yet, because it joins the ledger now. */
  readonly joining?: boolean
  /** How long a lost connection is opened again, in milliseconds; 30 seconds by default. */
  readonly giveUpMs?: number
}

/** How often a gateway asks whether others have written, in case a notification was lost. */
const POLL_MS = 250

/** Creates the tables of an empty ledger. @throws GatewayError `DATA_EXISTS`. */
export async function createPostgresTables(place: DatabasePlace): Promise<void> {
  const session = await openSession(place, 'setup')
  try {
    requireSafe(await readSettings((...query) => session.query(...query)))
    await createTables(session, place.schema)
  } finally {
    await session.end()
  }
}

/** Opens the ledger for writing as one of its writers. @throws GatewayError. */
export async function openPostgresStore(options: PostgresOptions): Promise<OpenedStore> {
  const { place, origin, writer: name, seeds, guard: directory, quiet = false, joining = false } = options
  const keys = await importSeeds(seeds.map((seed) => Uint8Array.from(seed)))
  await prepare(place)
  const pool = openPool(place)
  const { ask } = pool
  let link: Link | undefined
  try {
    let notice = (): void => undefined
    link = await Link.open({ place, writer: name, onNotice: () => notice(), ...give(options) })
    const entries = new EntryReader(ask)
    const ring = (await entries.size()) === 0 ? undefined : await readRing(ask, name)
    if (ring && !joining)
      requireWriter(
        ring,
        keys.map(({ publicKey }) => publicKey.id),
        name,
      )
    const guard = ring && directory !== undefined ? openHeadGuard(directory, ring.first.id) : undefined
    await checkTail({ ask, origin, keys: ring?.known ?? [], remembered: guard?.remembered })
    const writer = await PostgresWriter.open({ link, writer: name, origin, keys })
    const held = keys.map(({ publicKey }) => publicKey.id)
    const ledger = quiet ? [] : (ring?.ledger ?? []).map(({ id }) => id).filter((id) => held.includes(id))
    const signer = startSigner({
      ...{ writer, link, ask, origin, ledger, guard, schema: place.schema },
      known: ring?.known ?? [],
    })
    const records = new RecordReader(pool.askPatiently, name)
    const view = viewOf(ask, entries, records)
    const listeners = new Set<(size: number) => void>()
    const others = new Set<() => void>()
    const tell = (): void => {
      for (const listener of listeners) queueMicrotask(() => listener(writer.size))
    }
    let following = false
    const follow = async (): Promise<void> => {
      if (following) return
      following = true
      try {
        if (!(await writer.follow())) return
        tell()
        for (const listener of others) listener()
      } catch {
        // The next write reports why.
      } finally {
        following = false
      }
    }
    notice = () => void follow()
    const timer = setInterval(() => void follow(), POLL_MS)
    timer.unref()
    const opened: Link = link
    let closing: Promise<{ readonly folded: boolean }> | undefined
    return {
      key: ring?.own?.id,
      ledgerKeys: ring?.ledger.map((key) => key.bytes) ?? [],
      keyPeriods: ring?.periods ?? [],
      view,
      size: () => writer.size,
      head: () => records.headOf(name),
      async write(batch: Batch) {
        if (signer.fault instanceof GatewayError) throw signer.fault
        await writer.write(batch)
        tell()
      },
      load: (names) => records.load(names),
      list: (prefix, of) => records.list(prefix, of),
      others: {
        changes: () => writer.changes(),
        hold: () => writer.hold(),
        release: () => writer.release(),
        watch(listener) {
          others.add(listener)
          return () => void others.delete(listener)
        },
      },
      checkpoint: () => signer.now(),
      present: () => Promise.resolve().then(() => writer.present()),
      idle: async (prefix, time, limit, after = prefix) =>
        records.writtenBefore(prefix, await entries.indexAt(time), limit, after),
      namesBefore: async (prefix, time) =>
        (await records.writtenBefore(prefix, await entries.indexAt(time), 1000, prefix)).map(
          (each) => each.name,
        ),
      watch(listener) {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
      close: () =>
        (closing ??= (async () => {
          clearInterval(timer)
          await writer.settled()
          await signer.stop().catch(() => undefined)
          await opened.close()
          await pool.close()
          return { folded: true }
        })()),
    }
  } catch (cause) {
    await link?.close()
    await pool.close()
    throw cause
  }
}

function give({ giveUpMs }: PostgresOptions): { readonly giveUpMs?: number } {
  return giveUpMs === undefined ? {} : { giveUpMs }
}

/** Checks the server and the tables before anything is written. */
async function prepare(place: DatabasePlace): Promise<void> {
  const session = await openSession(place, 'setup')
  try {
    requireSafe(await readSettings((...query) => session.query(...query)))
    await requireTables(session, place.schema)
  } finally {
    await session.end()
  }
}

function requireWriter({ own }: KeyRing, held: readonly string[], writer: string): void {
  if (!own) {
    throw new GatewayError('KEY_UNUSABLE', `the ledger has no writer \`${writer}\``, {
      hints: ['run `tollgate join` to add this gateway'],
    })
  }
  if (held.includes(own.id)) return
  throw new GatewayError(
    'KEY_UNUSABLE',
    `the key \`${own.id.slice(0, 8)}\` of the writer \`${writer}\` is missing from \`keys/\``,
    { hints: ['restore the key file, or join the ledger as another writer'] },
  )
}

/** A ledger in PostgreSQL that is open for reading only. */
interface PostgresView {
  readonly view: LedgerView
  readonly records: RecordReader
  readonly ring: KeyRing
  /** Every key of the ledger that ever was in service. */
  readonly keyPeriods: readonly KeyPeriod[]
  close: () => Promise<void>
}

/** Opens a ledger read-only, also next to gateways. @throws GatewayError. */
export async function openPostgresView(place: DatabasePlace, writer: string): Promise<PostgresView> {
  const pool = openPool(place)
  try {
    await prepare(place)
    const ring = await readRing(pool.ask, writer)
    const records = new RecordReader(pool.ask, writer)
    const view = viewOf(pool.ask, new EntryReader(pool.ask), records)
    return { view, records, ring, keyPeriods: ring.periods, close: () => pool.close() }
  } catch (cause) {
    await pool.close()
    throw cause
  }
}
