// Checks the newest entries against the remembered head, without opening the ledger for writing. `doctor` and `fsck` use it
// to report what a start would refuse.

import { endTransaction, faultOf, ledgerFile, openForReading, type Database } from './database.ts'
import { checkTail } from './tail-check.ts'
import { rememberedHead } from '../guard.ts'
import { serviceIn } from './service.ts'

/** The ledger of a data directory, and where its remembered head is. */
export interface RememberedOptions {
  readonly data: string
  readonly origin: string
  readonly writer: string
  readonly guard: string | undefined
}

/** The remembered head, or the error that prevented reading it. */
type Memory = { readonly head: string | undefined } | { readonly fault: unknown }

/** Reads the remembered head. Call it before a read transaction begins: a running gateway can sign heads of later entries. */
export async function remember(db: Database, { writer, guard }: RememberedOptions): Promise<Memory> {
  try {
    const { first } = await serviceIn(db, writer)
    return { head: guard === undefined ? undefined : rememberedHead(guard, first.id) }
  } catch (fault) {
    return { fault }
  }
}

/** Checks the newest entries against the remembered head. @throws GatewayError as `checkTail`, or the error in `memory`. */
export async function checkRemembered(
  db: Database,
  { origin, writer }: RememberedOptions,
  memory: Memory,
): Promise<void> {
  if ('fault' in memory) throw memory.fault
  const { known } = await serviceIn(db, writer)
  await checkTail({ db, origin, keys: known, remembered: memory.head })
}

/** Does both for the ledger of a data directory. @throws GatewayError. */
export async function checkFrom(options: RememberedOptions): Promise<void> {
  const db = openForReading(options.data)
  try {
    const memory = await remember(db, options)
    db.exec('BEGIN')
    await checkRemembered(db, options, memory)
  } catch (cause) {
    throw faultOf(cause, ledgerFile(options.data))
  } finally {
    endTransaction(db)
    db.close()
  }
}
