// Opens the ledger file, defines its tables, and translates SQLite errors into messages for people.

import { accessSync, closeSync, constants, existsSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { syncPath } from '../../directory.ts'
import { GatewayError } from '../../error.ts'

/** A row of a table, by column. Values must be checked before use. */
export type TableRow = Readonly<Record<string, unknown>>

type Value = number | string | Uint8Array

/** A prepared statement. */
interface Statement {
  run(...values: readonly Value[]): { readonly changes: number | bigint }
  get(...values: readonly Value[]): TableRow | undefined
  all(...values: readonly Value[]): readonly TableRow[]
  iterate(...values: readonly Value[]): Iterable<TableRow>
}

/** An open database: the driver's object, with stricter types. */
export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

// 'TGLD' and the schema version, stored in the file header.
const APPLICATION = 0x54474c44
const VERSION = 1

// Triggers make entries, tiles and ids append-only for every program that opens the file. Do not edit: `fsck` compares this
// text.
const TABLES = `
CREATE TABLE entries (
  idx INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  payload BLOB NOT NULL,
  signature BLOB NOT NULL
) STRICT;
CREATE INDEX entries_by_kind ON entries (kind) WHERE kind NOT IN ('decision', 'effect');
CREATE TABLE tiles (place INTEGER PRIMARY KEY, root BLOB NOT NULL, hashes BLOB NOT NULL) STRICT;
CREATE TABLE ids (tile INTEGER PRIMARY KEY, prefixes BLOB NOT NULL) STRICT;
CREATE TABLE head (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  size INTEGER NOT NULL,
  peaks BLOB NOT NULL
) STRICT;
CREATE TABLE checkpoint (only INTEGER PRIMARY KEY CHECK (only = 1), note TEXT NOT NULL) STRICT;
CREATE TABLE anchors (name TEXT PRIMARY KEY, idx INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE records (
  name TEXT PRIMARY KEY,
  text BLOB NOT NULL,
  written INTEGER NOT NULL,
  digest BLOB NOT NULL
) STRICT, WITHOUT ROWID;
${['entries', 'tiles', 'ids'].map(onlyGrows).join('\n')}
CREATE TRIGGER head_stays BEFORE DELETE ON head BEGIN SELECT RAISE(ABORT, 'the head is never removed'); END;
CREATE TRIGGER head_grows BEFORE UPDATE ON head WHEN NEW.size < OLD.size
  BEGIN SELECT RAISE(ABORT, 'the ledger never gets shorter'); END;
INSERT INTO head VALUES (1, 0, x'');
PRAGMA application_id = ${APPLICATION};
PRAGMA user_version = ${VERSION};
`

function onlyGrows(table: string): string {
  return ['UPDATE', 'DELETE']
    .map(
      (change) =>
        `CREATE TRIGGER ${table}_refuse_${change.toLowerCase()} BEFORE ${change} ON ${table}
  BEGIN SELECT RAISE(ABORT, '${table} are never changed or removed'); END;`,
    )
    .join('\n')
}

/** The path of the ledger in a data directory. */
export function ledgerFile(data: string): string {
  return join(data, 'ledger.sqlite')
}

/** Creates a new, empty ledger file. @throws GatewayError `DATA_EXISTS`, or as `faultOf`. */
export function createDatabase(data: string): Database {
  const file = ledgerFile(data)
  if (existsSync(file)) {
    throw new GatewayError('DATA_EXISTS', `there is a ledger at \`${file}\` already`, {
      hints: ['use it, or choose another directory with `--data`'],
    })
  }
  return attempt(file, () => {
    createPrivately(file)
    const db = new DatabaseSync(file)
    prepare(db)
    db.exec(`BEGIN IMMEDIATE; ${TABLES} COMMIT`)
    return db
  })
}

/** Creates an empty file that only this user can read. SQLite gives the files next to it the same mode. */
export function createPrivately(file: string): void {
  // Only if it does not exist: closing a second descriptor would release all locks of this process on the file.
  if (!existsSync(file)) closeSync(openSync(file, 'wx', 0o600))
}

/** Opens a ledger file for writing. @throws GatewayError as `faultOf`, or `LEDGER_FOREIGN`. */
export function openDatabase(data: string): Database {
  const file = requireFile(data)
  return attempt(file, () => {
    const db = new DatabaseSync(file, { timeout: BUSY_MS })
    requireOurs(db, file)
    prepare(db)
    // SQLite silently opens a read-only file, so the system is asked.
    accessSync(file, constants.W_OK)
    // Makes the name of the log durable. SQLite syncs the directory too, but does not report a failure.
    syncPath(data)
    return db
  })
}

/** Opens a ledger file for reading, also next to a running gateway. @throws GatewayError as `openDatabase`. */
export function openForReading(data: string): Database {
  const file = requireFile(data)
  return attempt(file, () => {
    const db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS })
    requireOurs(db, file)
    db.exec('PRAGMA query_only = ON; PRAGMA cache_size = -8000')
    return db
  })
}

const BUSY_MS = 5000

/** Full durability: a commit that has returned survives a power loss, if the disk honours a sync. */
function prepare(db: Database): void {
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA fullfsync = ON;
    PRAGMA checkpoint_fullfsync = ON;
    PRAGMA cache_size = -16000;
    PRAGMA wal_autocheckpoint = 0;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA trusted_schema = OFF;
    PRAGMA secure_delete = ON;
  `)
}

/**
 * Moves the write-ahead log into the file, so that the file alone is the whole ledger. Waits a few seconds for readers.
 * Returns whether it succeeded.
 */
export function foldLog(db: Database): boolean {
  return db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0
}

/** The size of the write-ahead log in bytes. A copy of the ledger file alone may lack its entries. */
export function logBytes(data: string): number {
  return statSync(`${ledgerFile(data)}-wal`, { throwIfNoEntry: false })?.size ?? 0
}

/** The SQL of all tables and triggers in a file. */
export function schemaOf(db: Database): string {
  const rows = db.prepare("SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name").all()
  return rows.map((row) => String(row['sql'])).join('\n')
}

/** The expected result of `schemaOf` for this version. */
export function expectedSchema(): string {
  const db = new DatabaseSync(':memory:')
  db.exec(TABLES)
  const schema = schemaOf(db)
  db.close()
  return schema
}

/** Ends a read transaction. An open one would keep the log from being moved. */
export function endTransaction(db: Database): void {
  try {
    db.exec('ROLLBACK')
  } catch {
    // There was no transaction, or SQLite has already ended it.
  }
}

/** The durability settings in force, as reported by SQLite. */
export function durabilityOf(db: Database): { readonly journal: string; readonly synchronous: number } {
  return {
    journal: String(db.prepare('PRAGMA journal_mode').get()?.['journal_mode']),
    synchronous: Number(db.prepare('PRAGMA synchronous').get()?.['synchronous']),
  }
}

/** Throws unless the file is written with full durability. */
export function requireDurable(db: Database): void {
  const { journal, synchronous } = durabilityOf(db)
  if (journal === 'wal' && synchronous === 2) return
  throw new GatewayError(
    'STORE_FAILED',
    `the ledger file is not written durably (journal \`${journal}\`, synchronous ${synchronous})`,
    { hints: ['put the data directory on a local file system that supports shared memory and locks'] },
  )
}

function requireFile(data: string): string {
  const file = ledgerFile(data)
  if (existsSync(file)) return file
  throw new GatewayError('DATA_MISSING', `there is no ledger at \`${file}\``, {
    hints: [`run \`tollgate init --data ${data}\` to create one`],
  })
}

function requireOurs(db: Database, file: string): void {
  const application = db.prepare('PRAGMA application_id').get()?.['application_id']
  const version = db.prepare('PRAGMA user_version').get()?.['user_version']
  if (application !== APPLICATION) {
    throw new GatewayError('LEDGER_FOREIGN', `\`${file}\` is a SQLite database, but not a Tollgate ledger`, {
      hints: ['choose another directory with `--data`'],
    })
  }
  if (version === VERSION) return
  throw new GatewayError(
    'LEDGER_FOREIGN',
    `\`${file}\` has schema version ${String(version)}; this Tollgate supports version ${VERSION}`,
    { hints: ['use the version of Tollgate that wrote it'] },
  )
}

function attempt<T>(file: string, run: () => T): T {
  try {
    return run()
  } catch (cause) {
    throw faultOf(cause, file)
  }
}

interface Meaning {
  readonly code: GatewayError['code']
  readonly says: string
  readonly hint: string
}

// By primary result code of SQLite.
const MEANINGS: Readonly<Record<number, Meaning>> = {
  5: {
    code: 'LEDGER_LOCKED',
    says: 'is locked by another process',
    hint: 'stop the other process, then start again',
  },
  8: {
    code: 'STORE_FAILED',
    says: 'is read-only',
    hint: 'make the file and its directory writable for this user',
  },
  10: {
    code: 'STORE_FAILED',
    says: 'could not be read or written (I/O error)',
    hint: 'check the disk, then start again',
  },
  11: {
    code: 'LEDGER_DAMAGED',
    says: 'is damaged',
    hint: 'run `tollgate fsck`; if it confirms the damage, restore the newest backup',
  },
  13: {
    code: 'STORE_FAILED',
    says: 'could not be written: the disk is full',
    hint: 'free some space, then start again',
  },
  14: {
    code: 'STORE_FAILED',
    says: 'cannot be opened',
    hint: 'check that the directory exists and belongs to this user',
  },
  26: { code: 'LEDGER_FOREIGN', says: 'is not a database', hint: 'choose another directory with `--data`' },
}

/** Translates a database error into a message with the file, the problem and a hint. */
export function faultOf(cause: unknown, file: string): GatewayError {
  if (cause instanceof GatewayError) return cause
  const known = MEANINGS[resultCode(cause) & 0xff] ?? SYSTEM_MEANINGS[systemCode(cause)]
  if (known) return new GatewayError(known.code, `\`${file}\` ${known.says}`, { cause, hints: [known.hint] })
  return new GatewayError('STORE_FAILED', `\`${file}\` cannot be used (${errorText(cause)})`, { cause })
}

/** The error text of SQLite or the system, shortened. It never contains ledger content. */
function errorText(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : 'no reason was given'
  return text.replaceAll(/\s+/g, ' ').slice(0, 200)
}

const [READ_ONLY, INPUT, FULL, CLOSED] = [8, 10, 13, 14].map((code) => MEANINGS[code])

// By error code of the operating system.
const SYSTEM_MEANINGS: Readonly<Record<string, Meaning | undefined>> = {
  EROFS: READ_ONLY,
  EACCES: READ_ONLY,
  EPERM: READ_ONLY,
  EIO: INPUT,
  ENOSPC: FULL,
  EDQUOT: FULL,
  ENOENT: CLOSED,
}

function systemCode(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? code : ''
}

// The driver omits the result code when it reads many rows, so it is derived from SQLite's message.
const SPELLED: Readonly<Record<string, number | undefined>> = {
  'database is locked': 5,
  'attempt to write a readonly database': 8,
  'disk I/O error': 10,
  'database disk image is malformed': 11,
  'database or disk is full': 13,
  'unable to open database file': 14,
  'file is not a database': 26,
}

function resultCode(cause: unknown): number {
  if (!(cause instanceof Error)) return 0
  const code = 'errcode' in cause ? cause.errcode : SPELLED[cause.message]
  return typeof code === 'number' ? code : 0
}
