// Opens a read-only snapshot of the ledger for a kernel, also next to a running gateway.

import { parseJson, type ChainHead, type PublicKey } from '@tollgate/evidence'
import type { ReadableStore } from '@tollgate/kernel'
import { endTransaction, faultOf, ledgerFile, openForReading } from './database.ts'
import { LedgerReader } from './reader.ts'
import { serviceIn } from './service.ts'

/** A snapshot of a ledger file. */
interface SqliteLook {
  readonly store: ReadableStore
  /** The writer key in service. */
  readonly key: PublicKey
  close: () => void
}

/** Opens a snapshot of the ledger in a data directory. @throws GatewayError. */
export async function openSqliteLook(data: string, writer: string): Promise<SqliteLook> {
  const db = openForReading(data)
  const file = ledgerFile(data)
  const close = (): void => {
    endTransaction(db)
    db.close()
  }
  try {
    // One transaction, so that a record and the receipt about it belong together.
    db.exec('BEGIN')
    const { writer: key } = await serviceIn(db, writer)
    return { store: storeOn(new LedgerReader(db, writer), file), key, close }
  } catch (cause) {
    close()
    throw faultOf(cause, file)
  }
}

function storeOn(reader: LedgerReader, file: string): ReadableStore {
  const named = async <T>(ask: () => T | Promise<T>): Promise<T> => {
    try {
      return await ask()
    } catch (cause) {
      throw faultOf(cause, file)
    }
  }
  return {
    head: () => named(() => headOf(reader)),
    load: (names) => named(() => reader.load(names)),
    list: (prefix, of) => named(() => reader.list(prefix, of)),
  }
}

function headOf(reader: LedgerReader): ChainHead | undefined {
  const [newest] = reader.page({ filter: {}, direction: 'back', limit: 1 }).entries
  if (!newest) return undefined
  // Sound: a payload is a receipt, checked when it was appended.
  const { seq, lamport_clock, time } = parseJson(newest.payload) as unknown as ChainHead
  return { id: newest.id, seq, lamport_clock, time }
}
