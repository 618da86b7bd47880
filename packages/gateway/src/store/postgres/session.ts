// One connection to the database: its settings, its queries, and what its errors mean.

import pg from 'pg'
import { GatewayError } from '../../error.ts'

/** Where the ledger is. */
export interface DatabasePlace {
  /** A connection URL. It may contain a password: never log or print it. */
  readonly url: string
  readonly schema: string
}

/** Opens one transaction that reads from one moment, and closes the connection afterwards. @throws GatewayError. */
export async function readFromOneMoment<T>(
  place: DatabasePlace,
  read: (ask: SqlSession['query']) => Promise<T>,
): Promise<T> {
  const session = await openSession(place, 'reader')
  try {
    await session.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    return await read((...query) => session.query(...query))
  } finally {
    await session.end()
  }
}

/** A row, by column. Values must be checked before use. */
export type SqlRow = Readonly<Record<string, unknown>>

/** One connection. */
export interface SqlSession {
  /** Id of the server process behind it. */
  readonly process: number
  /** @throws GatewayError; `isLost` tells whether the connection is gone. */
  query(sql: string, values?: readonly unknown[], name?: string): Promise<readonly SqlRow[]>
  /** Calls the listener for each notification on the channels that the session listens on. */
  onNotice(listener: () => void): void
  /** Calls the listener once, when the connection is lost. */
  onLost(listener: () => void): void
  readonly isOpen: boolean
  end(): Promise<void>
}

const CONNECT_MS = 5000
const EIGHT_BYTE_INTEGER = 20

/** Integers of eight bytes are numbers here: no ledger has more than 2^53 entries. */
const NUMBERS = {
  getTypeParser: (oid: number, format?: 'text' | 'binary'): unknown =>
    oid === EIGHT_BYTE_INTEGER ? Number : (pg.types.getTypeParser(oid, format) as unknown),
}

// A gateway that hangs while it holds the head must not stop the others, and a dead client must not keep its locks.
const SETTINGS = [
  'idle_in_transaction_session_timeout=15s',
  'lock_timeout=15s',
  'statement_timeout=60s',
  'tcp_keepalives_idle=5',
  'tcp_keepalives_interval=2',
  'tcp_keepalives_count=3',
]

/** The settings of a connection, for the driver. */
export function clientOptions({ url, schema }: DatabasePlace, purpose: string): pg.ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: `tollgate/${purpose}`,
    keepAlive: true,
    options: [`search_path="${schema}"`, ...SETTINGS].map((setting) => `-c ${setting}`).join(' '),
    types: NUMBERS,
  }
}

/** Connects. @throws GatewayError. */
export async function openSession(place: DatabasePlace, purpose: string): Promise<SqlSession> {
  const client = new pg.Client(clientOptions(place, purpose))
  const lost: (() => void)[] = []
  let isOpen = true
  const lose = (): void => {
    if (!isOpen) return
    isOpen = false
    for (const each of lost) each()
  }
  client.on('error', lose)
  client.on('end', lose)
  try {
    await client.connect()
    const { rows } = await client.query<SqlRow>('SELECT pg_backend_pid() AS process')
    return {
      process: Number(rows[0]?.['process']),
      query: async (sql, values = [], name) => rowsOf(client, { sql, values, name }),
      onNotice: (listener) => void client.on('notification', listener),
      onLost: (listener) => void lost.push(listener),
      get isOpen() {
        return isOpen
      },
      end: async () => {
        isOpen = false
        await client.end().catch(() => undefined)
      },
    }
  } catch (cause) {
    await client.end().catch(() => undefined)
    throw faultOf(cause)
  }
}

interface Query {
  readonly sql: string
  readonly values: readonly unknown[]
  readonly name: string | undefined
}

async function rowsOf(client: pg.Client, { sql, values, name }: Query): Promise<readonly SqlRow[]> {
  try {
    const given = values.length === 0 ? undefined : [...values]
    const result: unknown = await client.query({
      text: sql,
      ...(given && { values: given }),
      ...(name !== undefined && { name }),
    })
    // Several statements in one text have several results; the last one counts.
    const last: unknown = Array.isArray(result) ? result.at(-1) : result
    // Sound: a result of the driver has its rows.
    return (last as { readonly rows: readonly SqlRow[] }).rows
  } catch (cause) {
    throw faultOf(cause)
  }
}

// By SQLSTATE, or its first two characters.
const MEANINGS: Readonly<Record<string, readonly [GatewayError['code'], string, string]>> = {
  '28': ['STORE_FAILED', 'refuses the user or the password', 'check the URL of the database'],
  '3D': ['DATA_MISSING', 'does not have this database', 'create it with `createdb`, or correct the URL'],
  '42501': [
    'STORE_FAILED',
    'denies a right to this user',
    'see docs/operating.md for the rights of the user',
  ],
  '53100': ['STORE_FAILED', 'has a full disk', 'free some space on the server, then start again'],
  XX: ['LEDGER_DAMAGED', 'reports damaged data', 'see the log of the server, and restore its newest backup'],
}

// The server is going away, refuses work for now, or has ended this session.
const LOST = ['08', '57P', '53300', '25P03', '40001', '40P01', '55P03', '57014']

const lost = new WeakSet<GatewayError>()

/** Whether an error leaves the fate of a transaction open, so that the database must be asked again. */
export function isLost(fault: unknown): boolean {
  return fault instanceof GatewayError && lost.has(fault)
}

/** Translates an error of the driver. The message never contains a value of the ledger, or the URL. */
export function faultOf(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause
  const code = codeOf(cause)
  // Errors of the server have a code of five characters. All others are errors of the connection.
  const isAnswer = /^[0-9A-Z]{5}$/.test(code)
  const fault = isAnswer ? answerFault(code, cause) : unreachable(code, cause)
  if (!isAnswer || LOST.some((each) => code.startsWith(each))) lost.add(fault)
  return fault
}

function answerFault(code: string, cause: unknown): GatewayError {
  const known = MEANINGS[code] ?? MEANINGS[code.slice(0, 2)]
  if (!known)
    return new GatewayError('STORE_FAILED', `the PostgreSQL server refused a statement (SQLSTATE ${code})`, {
      cause,
    })
  return new GatewayError(known[0], `the PostgreSQL server ${known[1]}`, { cause, hints: [known[2]] })
}

function unreachable(code: string, cause: unknown): GatewayError {
  const why = code === '' ? 'the connection was lost' : code
  return new GatewayError('STORE_FAILED', `the PostgreSQL server cannot be reached (${why})`, {
    cause,
    hints: ['check that the server runs and that the URL is correct'],
  })
}

function codeOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? code : ''
}
