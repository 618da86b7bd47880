// The writing connection of one gateway. It holds the lock of its writer, so that only one gateway writes under a name, and is
// opened again when it is lost.

import { GatewayError } from '../../error.ts'
import { isLost, openSession, type DatabasePlace, type SqlSession } from './session.ts'

/** How long a lost connection is opened again before the gateway gives up, in milliseconds. */
export const GIVE_UP_MS = 30_000
/** How long a start waits for the server to notice that an earlier gateway of the same writer has died. */
const TAKE_OVER_MS = 3000
const PAUSE_MS = 50
const CHANNEL = 'tollgate'

/** The connection that writes as one writer. */
export class Link {
  readonly #place: DatabasePlace
  readonly #writer: string
  readonly #onNotice: () => void
  readonly #giveUpMs: number
  #session: SqlSession
  #epoch: number
  #closed = false

  private constructor(options: LinkOptions, session: SqlSession, epoch: number) {
    this.#place = options.place
    this.#writer = options.writer
    this.#onNotice = options.onNotice
    this.#giveUpMs = options.giveUpMs ?? GIVE_UP_MS
    this.#session = session
    this.#epoch = epoch
  }

  /** Connects and becomes the writer. @throws GatewayError `LEDGER_LOCKED` if another gateway writes under this name. */
  static async open(options: LinkOptions): Promise<Link> {
    const session = await openSession(options.place, `writer ${options.writer}`)
    try {
      await lock(session, options, TAKE_OVER_MS, undefined)
      // From now on, the gateway that was this writer before can no longer commit.
      const [row] = await session.query(
        `INSERT INTO writers (name, epoch) VALUES ($1, 1)
         ON CONFLICT (name) DO UPDATE SET epoch = writers.epoch + 1 RETURNING epoch`,
        [options.writer],
      )
      await listen(session, options)
      return new Link(options, session, Number(row?.['epoch']))
    } catch (cause) {
      await session.end()
      throw cause
    }
  }

  /** Counts the gateways that were this writer. Each commit names it. */
  get epoch(): number {
    return this.#epoch
  }

  get isOpen(): boolean {
    return this.#session.isOpen && !this.#closed
  }

  get session(): SqlSession {
    return this.#session
  }

  /**
   * Opens the connection again, and ends the server process of the lost one.
   *
   * @throws GatewayError `LEDGER_LOCKED` if another gateway has become this writer, `STORE_FAILED` if the server stays away.
   */
  async reopen(patience: number = this.#giveUpMs): Promise<void> {
    const end = Date.now() + patience
    for (;;) {
      if (this.#closed) throw new GatewayError('STORE_FAILED', 'the connection to the ledger is closed')
      try {
        await this.#reopenOnce()
        return
      } catch (cause) {
        if (!isLost(cause) || Date.now() >= end) throw cause
        await pause(PAUSE_MS)
      }
    }
  }

  async #reopenOnce(): Promise<void> {
    const old = this.#session.process
    await this.#session.end()
    const session = await openSession(this.#place, `writer ${this.#writer}`)
    try {
      await lock(session, { place: this.#place, writer: this.#writer }, TAKE_OVER_MS, old)
      const [row] = await session.query('SELECT epoch FROM writers WHERE name = $1', [this.#writer])
      if (row?.['epoch'] !== this.#epoch) throw fenced(this.#writer)
      await listen(session, { onNotice: this.#onNotice })
      this.#session = session
    } catch (cause) {
      await session.end()
      throw cause
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#session.end()
  }
}

interface LinkOptions {
  readonly place: DatabasePlace
  readonly writer: string
  /** Called when another gateway has written. */
  readonly onNotice: () => void
  readonly giveUpMs?: number
}

/** Announces a commit to the other gateways. Part of the transaction. */
export const ANNOUNCE: string = `pg_notify('${CHANNEL}', current_schema())`

async function listen(session: SqlSession, { onNotice }: Pick<LinkOptions, 'onNotice'>): Promise<void> {
  session.onNotice(onNotice)
  await session.query(`LISTEN ${CHANNEL}`)
}

/** Takes the lock of a writer. It belongs to the connection: the server releases it when the connection ends. */
async function lock(
  session: SqlSession,
  { place, writer }: Pick<LinkOptions, 'place' | 'writer'>,
  patience: number,
  old: number | undefined,
): Promise<void> {
  const end = Date.now() + patience
  for (;;) {
    const [row] = await session.query('SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken', [
      `tollgate/writer ${place.schema} ${writer}`,
    ])
    if (row?.['taken'] === true) return
    if (old !== undefined) await endProcess(session, old, writer)
    if (Date.now() > end) throw fenced(writer)
    await pause(PAUSE_MS)
  }
}

/** Ends the server process of the lost connection, which may still hold the lock and an open transaction. */
async function endProcess(session: SqlSession, old: number, writer: string): Promise<void> {
  await session.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND application_name = $2',
    [old, `tollgate/writer ${writer}`],
  )
}

function fenced(writer: string): GatewayError {
  return new GatewayError('LEDGER_LOCKED', `another gateway writes to this ledger as \`${writer}\``, {
    hints: [
      'stop that gateway, or give this one a writer of its own with `tollgate join`',
      'never run two gateways with copies of one data directory',
    ],
  })
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
