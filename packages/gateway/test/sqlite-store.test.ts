import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { storeContract } from '../../kernel/test/store.contract.ts'
import { ORIGIN, seedOf, WRITER } from '../../kernel/test/rig.ts'
import { createSqliteFile, openSqliteStore, type SqliteStore } from '../src/store/sqlite/store.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-sqlite-'))
const open: SqliteStore[] = []

afterAll(async () => {
  for (const store of open) await store.close().catch(() => undefined)
  rmSync(folder, { recursive: true, force: true })
})

async function openIn(data: string): Promise<SqliteStore> {
  const seeds = [seedOf('ledger'), seedOf('writer')]
  const store = await openSqliteStore({
    data,
    origin: ORIGIN,
    writer: WRITER,
    seeds,
    guard: `${data}-heads`,
  })
  open.push(store)
  return store
}

storeContract({
  name: 'sqlite',
  create: async () => {
    const data = mkdtempSync(join(folder, 'data-'))
    createSqliteFile(data)
    const store = await openIn(data)
    return {
      store,
      reopen: async () => {
        await store.close().catch(() => undefined)
        return openIn(data)
      },
    }
  },
})
