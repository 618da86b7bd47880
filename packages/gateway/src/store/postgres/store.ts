// The PostgreSQL store: one connection writes and listens, a few others read. Several gateways share one ledger; each is a writer
// of its own.

import type { PublicKey, SigningKey } from '@tollgate/evidence'
import type { Batch } from '@tollgate/kernel'
import { GatewayError } from '../../error.ts'
import type { LedgerView } from '../../view.ts'
import { openHeadGuard } from '../guard.ts'
import type { OpenedStore } from '../opened.ts'
import { importSeeds } from '../seal.ts'
import type { KeyPeriod, KeyRing } from '../service.ts'
import { startFollowing, type Following } from './following.ts'
import { Link } from './link.ts'
import { openPool, type ReadPool } from './pool.ts'
import { EntryReader, viewOf } from './reader.ts'
import { readRing, RecordReader } from './records.ts'
import { createTables, requireTables } from './schema.ts'
import { openSession, readFromOneMoment, type DatabasePlace } from './session.ts'
import { readSettings, requireSafe } from './settings.ts'
import { startSigner, type Signer } from './signer.ts'
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
  const { place, writer: name } = options
  const keys = await importSeeds(options.seeds.map((seed) => Uint8Array.from(seed)))
  await prepare(place)
  const pool = openPool(place)
  let following: Following | undefined
  let link: Link | undefined
  try {
    link = await Link.open({ place, writer: name, onNotice: () => following?.look(), ...give(options) })
    const { ring, guard } = await checkAll(options, keys)
    const writer = await PostgresWriter.open({ link, writer: name, origin: options.origin, keys })
    const signer = startSigner({
      ...{ writer, link, ask: pool.ask, guard, origin: options.origin, schema: place.schema },
      known: ring?.known ?? [],
      ledger: options.quiet === true ? [] : idsHeld(ring?.ledger ?? [], keys),
    })
    following = startFollowing(writer)
    return storeOn({ name, pool, link, ring, writer, signer, following })
  } catch (cause) {
    await link?.close()
    await pool.close()
    throw cause
  }
}

/** Checks the keys and the newest entries, as of one moment: other gateways may be writing. */
async function checkAll(
  { place, origin, writer, guard: directory, joining = false }: PostgresOptions,
  keys: readonly SigningKey[],
): Promise<{
  readonly ring: KeyRing | undefined
  readonly guard: ReturnType<typeof openHeadGuard> | undefined
}> {
  return readFromOneMoment(place, async (ask) => {
    const ring = (await new EntryReader(ask).size()) === 0 ? undefined : await readRing(ask, writer)
    if (ring && !joining) requireWriter(ring, keys, writer)
    const guard = ring && directory !== undefined ? openHeadGuard(directory, ring.first.id) : undefined
    await checkTail({ ask, origin, keys: ring?.known ?? [], remembered: guard?.remembered })
    return { ring, guard }
  })
}

interface StoreParts {
  readonly name: string
  readonly pool: ReadPool
  readonly link: Link
  readonly ring: KeyRing | undefined
  readonly writer: PostgresWriter
  readonly signer: Signer
  readonly following: Following
}

function storeOn({ name, pool, link, ring, writer, signer, following }: StoreParts): OpenedStore {
  const entries = new EntryReader(pool.ask)
  const records = new RecordReader(pool.askPatiently, name)
  let closing: ReturnType<OpenedStore['close']> | undefined
  const close = async (): Promise<{ readonly folded: boolean }> => {
    following.stop()
    await writer.settled()
    await signer.stop().catch(() => undefined)
    await link.close()
    await pool.close()
    return { folded: true }
  }
  return {
    key: ring?.own?.id,
    ledgerKeys: ring?.ledger.map((key) => key.bytes) ?? [],
    keyPeriods: ring?.periods ?? [],
    view: viewOf(pool.ask, entries, records),
    size: () => writer.size,
    head: () => records.headOf(name),
    async write(batch: Batch) {
      if (signer.fault instanceof GatewayError) throw signer.fault
      await writer.write(batch)
      following.tell()
    },
    load: (names) => records.load(names),
    list: (prefix, of) => records.list(prefix, of),
    others: {
      changes: () => writer.changes(),
      hold: () => writer.hold(),
      release: () => writer.release(),
      watch: (listener) => following.watchOthers(listener),
    },
    checkpoint: () => signer.now(),
    present: () => Promise.resolve().then(() => writer.present()),
    idle: async (prefix, time, limit, after = prefix) =>
      records.writtenBefore(prefix, await entries.indexAt(time), limit, after),
    namesBefore: async (prefix, time) =>
      (await records.writtenBefore(prefix, await entries.indexAt(time), MAX_NAMES, prefix)).map(
        (each) => each.name,
      ),
    watch: (listener) => following.watch(listener),
    close: () => (closing ??= close()),
  }
}

const MAX_NAMES = 1000

function idsHeld(wanted: readonly PublicKey[], keys: readonly SigningKey[]): readonly string[] {
  const held = keys.map(({ publicKey }) => publicKey.id)
  return wanted.map(({ id }) => id).filter((id) => held.includes(id))
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

function requireWriter({ own }: KeyRing, keys: readonly SigningKey[], writer: string): void {
  if (!own) {
    throw new GatewayError('KEY_UNUSABLE', `the ledger has no writer \`${writer}\``, {
      hints: ['run `tollgate join` to add this gateway'],
    })
  }
  if (idsHeld([own], keys).length > 0) return
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
