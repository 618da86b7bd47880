// A receipt by the beginning of its id, as lists show it.

import { ask } from './ask.ts'
import type { Connection } from './connect.ts'
import type { ShownEntry } from './describe.ts'
import type { ShownPage } from './receipts.ts'
import { moment } from './table.ts'
import { CommandError, UsageError } from './terminal.ts'

/** The receipt of this id, or whose id begins so, with at least eight digits. @throws UsageError if there are more. */
export async function receiptNamed(connection: Connection, which: string): Promise<ShownEntry> {
  const { receipts } = await ask<ShownPage>(connection, `/v1/receipts?begins=${which}`)
  const [entry, ...more] = receipts
  if (!entry) throw new CommandError(`there is no receipt \`${which}\`, or it is not yours to see`)
  if (more.length === 0) return entry
  throw new UsageError(
    `more than one receipt begins with \`${which}\``,
    ...receipts.map(({ id, receipt }) => `${id.slice(0, 16)}: ${receipt.kind} of ${moment(receipt.time)}`),
  )
}
