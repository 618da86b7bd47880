import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { storeContract } from '../../../kernel/test/ledger/store.contract.ts'
import { ORIGIN, seedOf, WRITER } from '../../../kernel/test/rig.ts'
import { createDatabase, faultOf, ledgerFile, openForReading } from '../../src/store/sqlite/database.ts'
import { createSqliteFile, openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-sqlite-'))
const open: SqliteStore[] = []

afterAll(async () => {
  for (const store of open) await store.close().catch(() => undefined)
  rmSync(folder, { recursive: true, force: true })
})

async function openIn(data: string, brief: boolean): Promise<SqliteStore> {
  const seeds = [seedOf('ledger'), seedOf('writer')]
  const store = await openSqliteStore({
    data,
    origin: ORIGIN,
    writer: WRITER,
    seeds,
    guard: `${data}-heads`,
    brief,
  })
  open.push(store)
  return store
}

for (const brief of [false, true]) {
  storeContract({
    name: brief ? 'sqlite for one command' : 'sqlite',
    create: async () => {
      const data = mkdtempSync(join(folder, 'data-'))
      createSqliteFile(data)
      const store = await openIn(data, brief)
      return {
        store,
        reopen: async () => {
          await store.close().catch(() => undefined)
          return openIn(data, brief)
        },
      }
    },
  })
}

test('a damaged page is reported as damage, also when many rows are read at once', () => {
  const data = mkdtempSync(join(folder, 'damaged-'))
  const db = createDatabase(data)
  db.exec('CREATE TABLE many (id INTEGER PRIMARY KEY, text TEXT)')
  const insert = db.prepare('INSERT INTO many (text) VALUES (?)')
  for (let row = 0; row < 500; row++) insert.run('x'.repeat(200))
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  const size = statSync(ledgerFile(data)).size
  const file = openSync(ledgerFile(data), 'r+')
  // The last page is a leaf of the table; 7 is not a valid page type.
  writeSync(file, Buffer.alloc(64, 7), 0, 64, size - 4096)
  closeSync(file)
  const reading = openForReading(data)
  let fault: unknown
  try {
    reading.prepare('SELECT * FROM many').all()
  } catch (cause) {
    fault = faultOf(cause, ledgerFile(data))
  }
  expect(fault).toHaveProperty('code', 'LEDGER_DAMAGED')
  expect(fault).toHaveProperty('message', `\`${ledgerFile(data)}\` is damaged`)
  reading.close()
})
