// Looks at a ledger in PostgreSQL without writing to it: for read-only kernels, and for `doctor`.

import type { PublicKey } from '@tollgate/evidence'
import type { ReadableStore } from '@tollgate/kernel'
import { GatewayError } from '../../error.ts'
import { rememberedHead } from '../guard.ts'
import { openSession, readFromOneMoment, type DatabasePlace } from './session.ts'
import { readRing } from './records.ts'
import { readSettings, type ServerSettings } from './settings.ts'
import { openPostgresView } from './store.ts'
import { checkTail } from './tail-check.ts'

/** A ledger that a kernel reads. */
interface PostgresLook {
  readonly store: ReadableStore
  /** The writer key in service. */
  readonly key: PublicKey
  close: () => void
}

/** Opens a ledger for a read-only kernel. @throws GatewayError. */
export async function openPostgresLook(place: DatabasePlace, writer: string): Promise<PostgresLook> {
  const { records, ring, close } = await openPostgresView(place, writer)
  if (!ring.own) {
    await close()
    throw new GatewayError('KEY_UNUSABLE', `no key is in service for the writer \`${writer}\``, {
      hints: ['run `tollgate join` to add this gateway'],
    })
  }
  return {
    store: {
      head: () => records.headOf(writer),
      load: (names) => records.load(names),
      list: (prefix, of) => records.list(prefix, of),
    },
    key: ring.own,
    close: () => void close(),
  }
}

/** A ledger in a database, and where its remembered head is. */
export interface PostgresCheck {
  readonly place: DatabasePlace
  readonly origin: string
  readonly writer: string
  readonly guard: string | undefined
}

/** Checks the newest entries as a start does. @throws GatewayError. */
export async function checkPostgres({ place, origin, writer, guard }: PostgresCheck): Promise<void> {
  const remembered = await headRemembered({ place, writer, guard })
  await readFromOneMoment(place, async (ask) => {
    const { known } = await readRing(ask, writer)
    await checkTail({ ask, origin, keys: known, remembered })
  })
}

/** The remembered head. Read it before the ledger: a running gateway can sign heads of later entries. */
export async function headRemembered({
  place,
  writer,
  guard,
}: Omit<PostgresCheck, 'origin'>): Promise<string | undefined> {
  if (guard === undefined) return undefined
  return readFromOneMoment(place, async (ask) =>
    rememberedHead(guard, (await readRing(ask, writer)).first.id),
  )
}

/** The settings of the server that durability depends on. @throws GatewayError. */
export async function serverSettings(place: DatabasePlace): Promise<ServerSettings> {
  const session = await openSession(place, 'setup')
  try {
    return await readSettings((...query) => session.query(...query))
  } finally {
    await session.end()
  }
}

const COMMITS = 16

/** Measures commits on the server: each has a transaction number, so that the server must sync it. */
export async function measureCommits(place: DatabasePlace): Promise<{
  readonly millisPerSync: number
  readonly syncsPerSecond: number
  readonly mode: 'full' | 'less'
}> {
  const session = await openSession(place, 'setup')
  try {
    const { fsync, synchronousCommit } = await readSettings((...query) => session.query(...query))
    const began = performance.now()
    for (let i = 0; i < COMMITS; i++) {
      await session.query('INSERT INTO batches SELECT -1, $1, $2 WHERE txid_current() < 0', ['doctor', []])
    }
    const millisPerSync = (performance.now() - began) / COMMITS
    const mode = fsync === 'on' && synchronousCommit !== 'off' ? 'full' : 'less'
    return { millisPerSync, syncsPerSecond: 1000 / millisPerSync, mode }
  } finally {
    await session.end()
  }
}
