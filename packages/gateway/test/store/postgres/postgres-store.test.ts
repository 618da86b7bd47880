import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { storeContract } from '../../../../kernel/test/ledger/store.contract.ts'
import { ORIGIN, seedOf, WRITER } from '../../../../kernel/test/rig.ts'
import type { OpenedStore } from '../../../src/store/opened.ts'
import { createPostgresTables, openPostgresStore } from '../../../src/store/postgres/store.ts'
import type { DatabasePlace } from '../../../src/store/postgres/session.ts'
import { startServer, type TestServer } from './server.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-postgres-store-'))
const open: OpenedStore[] = []
let server: TestServer

beforeAll(async () => {
  server = await startServer()
})

afterAll(async () => {
  for (const store of open) await store.close().catch(() => undefined)
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function openIn(place: DatabasePlace): Promise<OpenedStore> {
  const seeds = [seedOf('ledger'), seedOf('writer')]
  const guard = join(folder, place.schema)
  const store = await openPostgresStore({ place, origin: ORIGIN, writer: WRITER, seeds, guard })
  open.push(store)
  return store
}

storeContract({
  name: 'postgres',
  create: async () => {
    const place = server.place()
    await createPostgresTables(place)
    const store = await openIn(place)
    return {
      store,
      reopen: async () => {
        await store.close()
        return openIn(place)
      },
    }
  },
})
