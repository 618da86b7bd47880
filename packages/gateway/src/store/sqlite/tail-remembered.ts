// The right edge of a ledger against the head that is remembered outside of its directory, for those who only read: `doctor` and
// `fsck` find what a start would refuse.

import { endTransaction, faultOf, ledgerFile, openForReading, type Database } from './database.ts'
import { checkTail } from './tail-check.ts'
import { rememberedHead } from './guard.ts'
import { serviceIn } from './service.ts'

/** Which ledger is checked, and where its heads are remembered. */
interface RememberedOptions {
  readonly data: string
  readonly origin: string
  readonly writer: string
  readonly guard: string | undefined
}

/** What is remembered of a ledger, or why that cannot be told. */
type Memory = { readonly head: string | undefined } | { readonly fault: unknown }

/** The head that is remembered. Asked before a moment of the file is held: a running gateway signs heads of later entries. */
export async function remember(db: Database, { writer, guard }: RememberedOptions): Promise<Memory> {
  try {
    const { first } = await serviceIn(db, writer)
    return { head: guard === undefined ? undefined : rememberedHead(guard, first.id) }
  } catch (fault) {
    return { fault }
  }
}

/** Checks the edge against it. @throws GatewayError as `checkTail`, or what kept it from being remembered. */
export async function checkRemembered(
  db: Database,
  { origin, writer }: RememberedOptions,
  memory: Memory,
): Promise<void> {
  if ('fault' in memory) throw memory.fault
  const { known } = await serviceIn(db, writer)
  await checkTail({ db, origin, keys: known, remembered: memory.head })
}

/** Both, on a ledger of a data directory, as it is now. @throws GatewayError. */
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
