// Opens a data directory: the ledger with its keys, the kernel and the tokens, or the ledger read-only.

import { randomBytes } from 'node:crypto'
import { importPublicKey, type PublicKey } from '@tollgate/evidence'
import { foundingBatch, openForLooking, openKernel, type Host, type Kernel } from '@tollgate/kernel'
import { REFUSAL_PAUSE_MS } from './budget.ts'
import type { Config } from './config/config.ts'
import { GatewayError } from './error.ts'
import type { Keyring, KeyRole, StoredKey } from './keyring.ts'
import type { Log } from './log.ts'
import { backupLedger as backupSqlite } from './store/sqlite/backup.ts'
import { foldLog, logBytes, openDatabase } from './store/sqlite/database.ts'
import { measureSyncs, type Durability } from './store/sqlite/durability.ts'
import { checkFrom } from './store/sqlite/tail-remembered.ts'
import type { FsckProblem, FsckProgress, FsckReport } from './store/fsck-report.ts'
import { fsckLedger as fsckSqlite } from './store/sqlite/fsck.ts'
import { isLocked, takeLock, type Lock } from './store/sqlite/lock.ts'
import { openSqliteLook } from './store/sqlite/look.ts'
import type { OpenedStore } from './store/opened.ts'
import type { ServerSettings } from './store/postgres/settings.ts'
import { createStore, databasePlace, markDatabase, openStore } from './ledger-store.ts'
import { trustText } from './open-view.ts'
import { createSealKey, readSealKey } from './seal-key.ts'
import { openingView, SEALING, sealingStore, type Sealer } from './sealing.ts'
import type { SignIn } from './sign-in/sign-in.ts'
import { openTokens, type Tokens } from './tokens.ts'
import { startUpkeep } from './upkeep.ts'
import type { LedgerView } from './view.ts'

export type { FsckProblem }
export { openView, type OpenView } from './open-view.ts'

/** An open gateway. It does not listen on any door yet. */
export interface Gateway {
  readonly config: Config
  readonly kernel: Kernel
  readonly view: LedgerView
  readonly tokens: Tokens
  /** Accepts access tokens of the configured issuer. */
  readonly signIn: SignIn | undefined
  /** The ledger keys in service, for trust files. */
  readonly ledgerKeys: readonly PublicKey[]
  /** The number of durable entries of the ledger. */
  size: () => number
  /** A signed checkpoint of the newest durable head. */
  checkpoint: () => Promise<string>
  /** Calls the listener after every commit with the number of entries. Returns a function that removes it. */
  watch: (listener: (size: number) => void) => () => void
  /** The text of the trust file. */
  trust: () => string
  /** Stops the upkeep, signs the last head and closes the ledger. */
  close: () => Promise<void>
}

/**
 * Creates the ledger of a data directory: the file, the genesis receipt and the writer's key. A keyring function runs under
 * the lock, so that two concurrent starts do not both create keys.
 *
 * @throws GatewayError `DATA_EXISTS` if there is a ledger, `KEY_UNUSABLE` if a key is missing, `LEDGER_LOCKED` if another
 * process has the lock.
 */
export async function foundLedger(
  config: Config,
  keyring: Keyring | (() => Promise<Keyring>),
): Promise<void> {
  const lock = takeLock(config.data)
  try {
    await foundLocked(config, typeof keyring === 'function' ? await keyring() : keyring, lock)
  } finally {
    lock.release()
  }
}

async function foundLocked(config: Config, keyring: Keyring, lock: Lock): Promise<void> {
  const [ledgerKey, writerKey] = [onlyKey(keyring, 'ledger'), onlyKey(keyring, 'writer')]
  await createStore(config)
  const store = await openStore(config, { seeds: seedsOf(keyring), lock, brief: true })
  const { ledger: origin, writer, tenant, commit } = config
  const keys = { ledgerKey: ledgerKey.publicKey, writerKey: writerKey.publicKey }
  try {
    await store.write(foundingBatch({ origin, tenant, writer, ...keys, commit, time: Date.now() }))
  } finally {
    await store.close()
  }
  markDatabase(config)
}

function seedsOf({ keys }: Keyring): readonly Uint8Array[] {
  return keys.map(({ seed }) => seed)
}

function onlyKey({ keys }: Keyring, role: KeyRole): StoredKey {
  const [key, ...more] = keys.filter((each) => each.role === role)
  if (key && more.length === 0) return key
  throw new GatewayError(
    'KEY_UNUSABLE',
    `a new ledger needs exactly one ${role} key, but there are ${more.length + (key ? 1 : 0)}`,
  )
}

/**
 * Opens the gateway of a data directory: checks the newest entries of the ledger, closes calls that a crash left open and
 * loads the tokens. `brief` is for a single command: it starts sooner but writes slower. `meter` counts and times the calls.
 *
 * @throws GatewayError `LEDGER_LOCKED`, `LEDGER_FOREIGN`, `LEDGER_DAMAGED`, `LEDGER_ROLLED_BACK`, `KEY_UNUSABLE`,
 * `DATA_MISSING` or `STORE_FAILED`; KernelError if the private records are damaged.
 */
export async function openGateway(
  config: Config,
  keyring: Keyring,
  log: Log,
  { brief = false, meter }: { readonly brief?: boolean; readonly meter?: Host['meter'] } = {},
): Promise<Gateway> {
  const store = await openStore(config, { seeds: seedsOf(keyring), brief })
  try {
    const known = await store.view.record(SEALING)
    // A ledger without sealed records gets its key now. A ledger that has sealed records must have its key: only an operator
    // replaces it.
    if (known === undefined && createSealKey(config)) {
      log('info', 'created the key that encrypts kept calls; back it up separately from the data', {
        file: config.keep.keyFile,
      })
    }
    const sealer = readSealKey(config)
    const view = openingView(store.view, () => sealer)
    const kernel = await openKernelOn(store, config, sealer, meter)
    if (known !== undefined && known !== sealer.id) {
      if (config.database) throw otherSealKey(config)
      log('warn', RESEALED, { file: config.keep.keyFile })
    }
    if (known !== sealer.id) await kernel.ledger.append({ run: (turn) => turn.put(SEALING, sealer.id) })
    const signIn = await openSignIn(config, kernel, log)
    const tokens = await openTokens(kernel, signIn)
    const upkeep = startUpkeep({ kernel, store, config, log })
    const ledgerKeys = store.ledgerKeys.map((bytes) => importPublicKey(bytes))
    return {
      config,
      kernel,
      view,
      tokens,
      signIn,
      ledgerKeys,
      size: () => store.size(),
      checkpoint: () => store.checkpoint(),
      watch: (listener) => store.watch(listener),
      trust: () => trustText(config.ledger, store.keyPeriods),
      async close() {
        await upkeep.stop()
        // Tokens for this run end with it. After a crash, the next start revokes them.
        await tokens.endRun().catch(() => undefined)
        const { folded } = await store.close()
        if (!folded) log('warn', UNFOLDED)
      },
    }
  } catch (cause) {
    await store.close().catch(() => undefined)
    throw cause
  }
}

/** Loads the verification of access tokens only if it is configured: most commands do not need it. */
async function openSignIn({ signIn, tenant }: Config, kernel: Kernel, log: Log): Promise<SignIn | undefined> {
  if (!signIn) return undefined
  const room = await import('./sign-in/sign-in.ts')
  return new room.SignIn({ config: signIn, kernel, tenant, log })
}

function otherSealKey({ keep }: Config): GatewayError {
  return new GatewayError(
    'KEY_UNUSABLE',
    `\`${keep.keyFile}\` is not the key for kept calls of this ledger`,
    {
      hints: ['copy the key of another gateway of this ledger: all of them read the same kept calls'],
    },
  )
}

const RESEALED =
  'the key that encrypts kept calls has changed; calls sealed with the old key cannot be read until you restore that key'

const UNFOLDED =
  'the newest entries are still in `ledger.sqlite-wal`, because another process reads the ledger; after it ends, run `tollgate fsck --fold` to move them into `ledger.sqlite`'

async function openKernelOn(
  store: OpenedStore,
  config: Config,
  sealer: Sealer,
  meter: Host['meter'],
): Promise<Kernel> {
  const { ledger, writer, tenant, commit } = config
  if (store.key === undefined) {
    throw new GatewayError('DATA_MISSING', 'the ledger file is empty: its creation was interrupted', {
      hints: ['remove `ledger.sqlite` and `keys/`, then run `tollgate up` to create them again'],
    })
  }
  const keep = config.keep.calls !== undefined
  const sealing = sealingStore(store, sealer)
  const host = meter ? { ...HOST, meter } : HOST
  return openKernel({
    ...{ store: sealing, host, origin: ledger, writer, key: store.key },
    ...{ tenant, commit, keep, storage: config.limits.storage, floodPause: REFUSAL_PAUSE_MS },
  })
}

const HOST: Host = {
  now: () => Date.now(),
  salt: () => randomBytes(32),
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds)
    return () => clearTimeout(timer)
  },
}

/** A read-only kernel on a snapshot of the ledger. */
interface LedgerLook {
  readonly kernel: Kernel
  close: () => Promise<void>
}

/**
 * Opens a read-only kernel, also next to a running gateway. `at` is its current time in milliseconds; the kernel never uses a
 * time before the newest receipt.
 *
 * @throws GatewayError as `openGateway`; KernelError if the private records are damaged.
 */
export async function openLook(config: Config, at?: number): Promise<LedgerLook> {
  const { ledger: origin, writer, tenant, commit } = config
  const { store, key, close } = await lookAt(config)
  try {
    const host = at === undefined ? HOST : { ...HOST, now: () => at }
    const kernel = await openForLooking({ store, host, origin, writer, key: key.id, tenant, commit })
    return { kernel, close: () => Promise.resolve().then(close) }
  } catch (cause) {
    close()
    throw cause
  }
}

async function lookAt({ data, writer, database }: Config): ReturnType<typeof openSqliteLook> {
  if (!database) return openSqliteLook(data, writer)
  const { openPostgresLook } = await import('./store/postgres/look.ts')
  return openPostgresLook(databasePlace(database), writer)
}

/** The settings of the database server that durability depends on; undefined for a ledger in a file. @throws GatewayError. */
export async function databaseSettings({
  database,
}: Pick<Config, 'database'>): Promise<ServerSettings | undefined> {
  if (!database) return undefined
  const { serverSettings } = await import('./store/postgres/look.ts')
  return serverSettings(databasePlace(database))
}

/** Whether a gateway is running on this data directory. */
export async function isRunning({ data }: Pick<Config, 'data'>): Promise<boolean> {
  return Promise.resolve(isLocked(data))
}

/** Checks the whole ledger. Can run next to a gateway; the report then covers the ledger as it was at the start. */
export async function fsckLedger(
  config: Config,
  onProgress: (progress: FsckProgress) => void,
): Promise<FsckReport> {
  const { data, ledger, writer, headGuard, database } = config
  if (database) {
    const { fsckPostgres } = await import('./store/postgres/fsck.ts')
    return fsckPostgres(
      { place: databasePlace(database), origin: ledger, writer, guard: headGuard },
      onProgress,
    )
  }
  return fsckSqlite({ data, origin: ledger, writer, guard: headGuard }, onProgress)
}

/**
 * Checks the newest entries as a start does, and compares them with the remembered head. Changes nothing.
 *
 * @throws GatewayError `LEDGER_DAMAGED` or `LEDGER_ROLLED_BACK`, as `openGateway`.
 */
export async function checkLedger({ data, ledger, writer, headGuard, database }: Config): Promise<void> {
  if (database) {
    const { checkPostgres } = await import('./store/postgres/look.ts')
    return checkPostgres({ place: databasePlace(database), origin: ledger, writer, guard: headGuard })
  }
  await checkFrom({ data, origin: ledger, writer, guard: headGuard })
}

/** The size in bytes of the write-ahead log next to the ledger file. */
export function unfolded({ data, database }: Config): number {
  return database ? 0 : logBytes(data)
}

/**
 * Moves the write-ahead log into the ledger file. The gateway must be stopped. Returns whether it succeeded. @throws
 * GatewayError.
 */
export function foldLedger({ data, database }: Config): boolean {
  if (database) return true
  const lock = takeLock(data)
  try {
    const db = openDatabase(data)
    const folded = foldLog(db)
    db.close()
    return folded
  } finally {
    lock.release()
  }
}

/** Copies the ledger to a new file, also while a gateway runs. Does not copy keys. @throws GatewayError. */
export async function backupLedger(
  { data, database }: Config,
  target: string,
  onProgress: (done: number, total: number) => void,
): Promise<{ readonly size: number }> {
  if (database) {
    throw new GatewayError(
      'REQUEST_INVALID',
      'the ledger is in a database, which this command does not copy',
      {
        hints: ['back it up with `pg_basebackup` or `pg_dump`, see docs/operating.md'],
      },
    )
  }
  return backupSqlite(data, target, onProgress)
}

/** Measures the cost of a durable write in the data directory, or in the database. */
export async function measureDurability({ data, database }: Config): Promise<Durability> {
  if (database) {
    const { measureCommits } = await import('./store/postgres/look.ts')
    return measureCommits(databasePlace(database))
  }
  return Promise.resolve(measureSyncs(data))
}
