// The tables of a ledger in PostgreSQL, as migrations that only go forward.

import { GatewayError } from '../../error.ts'
import type { SqlSession } from './session.ts'

// Triggers and revoked rights make entries, tiles and heads append-only for every client of the database.
const FIRST = `
CREATE TABLE head (
  only_row integer PRIMARY KEY CHECK (only_row = 1),
  size bigint NOT NULL,
  peaks bytea NOT NULL,
  batch bigint NOT NULL,
  newest_time bigint NOT NULL
);
CREATE TABLE entries (
  idx bigint PRIMARY KEY,
  writer text NOT NULL,
  seq bigint NOT NULL,
  kind text NOT NULL,
  id_prefix bigint NOT NULL,
  leaf bytea NOT NULL,
  payload bytea NOT NULL,
  signature bytea NOT NULL,
  newest_time bigint NOT NULL,
  UNIQUE (writer, seq)
);
CREATE INDEX entries_by_id ON entries (id_prefix);
CREATE INDEX entries_by_kind ON entries (kind, idx) WHERE kind NOT IN ('decision', 'effect');
CREATE TABLE tiles (place bigint PRIMARY KEY, root bytea NOT NULL, hashes bytea NOT NULL);
CREATE TABLE checkpoint (only_row integer PRIMARY KEY CHECK (only_row = 1), size bigint NOT NULL, note text NOT NULL);
CREATE TABLE anchors (name text COLLATE "C" PRIMARY KEY, idx bigint NOT NULL);
CREATE TABLE records (
  name text COLLATE "C" PRIMARY KEY,
  body bytea NOT NULL,
  written bigint NOT NULL,
  digest bytea NOT NULL
);
CREATE TABLE batches (number bigint PRIMARY KEY, writer text NOT NULL, names text[] NOT NULL);
CREATE TABLE writers (
  name text PRIMARY KEY,
  epoch bigint NOT NULL,
  newest text,
  seq bigint,
  clock bigint,
  newest_time text,
  token text
);
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN RAISE EXCEPTION '% are never changed or removed', TG_TABLE_NAME; END $$;
CREATE FUNCTION refuse_shrinking() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF NEW.size < OLD.size THEN RAISE EXCEPTION 'the ledger never gets shorter'; END IF;
    RETURN NEW;
  END $$;
${['entries', 'tiles'].map((table) => onlyGrows(table, 'UPDATE OR DELETE')).join('\n')}
${['head', 'writers', 'checkpoint'].map((table) => onlyGrows(table, 'DELETE')).join('\n')}
CREATE TRIGGER grows BEFORE UPDATE ON head FOR EACH ROW EXECUTE FUNCTION refuse_shrinking();
CREATE TRIGGER grows BEFORE UPDATE ON checkpoint FOR EACH ROW EXECUTE FUNCTION refuse_shrinking();
INSERT INTO head VALUES (1, 0, '', 0, 0);
`

function onlyGrows(table: string, change: string): string {
  return `CREATE TRIGGER stays BEFORE ${change} ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER is_kept BEFORE TRUNCATE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
REVOKE ${change === 'DELETE' ? 'DELETE' : 'UPDATE, DELETE'}, TRUNCATE ON ${table} FROM CURRENT_USER;`
}

/** Each is applied once, in this order. Never change one that was released: add another. */
const MIGRATIONS: readonly string[] = [FIRST]

// Any number that other programs in the database do not use.
const MIGRATING = 0x7467_6c64

/** Creates the tables of a new ledger. @throws GatewayError `DATA_EXISTS` if the schema has a ledger already. */
export async function createTables(session: SqlSession, schema: string): Promise<void> {
  await session.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`)
  if ((await versionIn(session, schema)) !== undefined) {
    const [head] = await session.query('SELECT size FROM head')
    // An interrupted setup left it empty.
    if (head?.['size'] === 0) return
    throw new GatewayError('DATA_EXISTS', `the schema \`${schema}\` of the database has a ledger already`, {
      hints: ['use it with `tollgate join`, or set another `schema` in tollgate.yaml'],
    })
  }
  await session.query(
    'CREATE TABLE migrations (number integer PRIMARY KEY, applied timestamptz NOT NULL DEFAULT now())',
  )
  await migrate(session, 0)
}

/**
 * Applies the migrations that are missing. @throws GatewayError `DATA_MISSING` if there is no ledger, `LEDGER_FOREIGN` if a newer
 * version of Tollgate has changed the tables.
 */
export async function requireTables(session: SqlSession, schema: string): Promise<void> {
  const version = await versionIn(session, schema)
  if (version === undefined) {
    throw new GatewayError('DATA_MISSING', `the schema \`${schema}\` of the database has no ledger`, {
      hints: ['run `tollgate init` to create one'],
    })
  }
  if (version > MIGRATIONS.length) {
    throw new GatewayError(
      'LEDGER_FOREIGN',
      `the tables have version ${version}; this Tollgate supports version ${MIGRATIONS.length}`,
      { hints: ['use the version of Tollgate that changed them'] },
    )
  }
  if (version < MIGRATIONS.length) await migrate(session, version)
}

/** The number of applied migrations; undefined without tables. */
async function versionIn(session: SqlSession, schema: string): Promise<number | undefined> {
  const [found] = await session.query('SELECT to_regclass($1) IS NOT NULL AS has', [`"${schema}".migrations`])
  if (found?.['has'] !== true) return undefined
  const [row] = await session.query('SELECT coalesce(max(number), 0) AS version FROM migrations')
  return Number(row?.['version'])
}

/** Applies each migration in a transaction of its own. Two gateways that start together wait for each other. */
async function migrate(session: SqlSession, applied: number): Promise<void> {
  for (const [i, sql] of MIGRATIONS.entries()) {
    if (i < applied) continue
    await session.query('BEGIN')
    try {
      await session.query('SELECT pg_advisory_xact_lock($1)', [MIGRATING])
      const [row] = await session.query('SELECT count(*) AS done FROM migrations WHERE number = $1', [i + 1])
      if (row?.['done'] === 0) {
        await session.query(sql)
        await session.query('INSERT INTO migrations (number) VALUES ($1)', [i + 1])
      }
      await session.query('COMMIT')
    } catch (cause) {
      await session.query('ROLLBACK').catch(() => undefined)
      throw cause
    }
  }
}
