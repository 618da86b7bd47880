// Reads the new receipts that some filters select, shortly after they are durable.

import { parseReceipt, type Receipt } from '@tollgate/evidence'
import type { EntryFilter, LedgerView } from '../view.ts'

/** Calls the listener after every commit. Returns a function that removes it. */
export type Watch = (listener: () => void) => () => void

interface FollowOptions {
  readonly view: LedgerView
  readonly watch: Watch
  readonly filters: readonly EntryFilter[]
  readonly onReceipt: (id: string, receipt: Receipt) => void
  readonly onFault: (fault: unknown) => void
}

const PAGE = 100
const GATHER_MS = 50

/** Follows the ledger from its present end. Returns a function that ends this. */
export async function followLedger(options: FollowOptions): Promise<() => Promise<void>> {
  const { view, watch, filters, onFault } = options
  let next = await view.size()
  let timer: ReturnType<typeof setTimeout> | undefined
  let reading = Promise.resolve()
  let ended = false

  async function readOn(): Promise<void> {
    const size = await view.size()
    for (const filter of filters) await readBetween(options, filter, next, size)
    next = size
  }

  // Not after every commit: there can be thousands in a second.
  const unwatch = watch(() => {
    timer ??= setTimeout(() => {
      timer = undefined
      reading = reading.then(() => (ended ? undefined : readOn())).catch(onFault)
    }, GATHER_MS)
  })
  return async () => {
    ended = true
    unwatch()
    clearTimeout(timer)
    await reading
  }
}

async function readBetween(
  { view, onReceipt }: FollowOptions,
  filter: EntryFilter,
  start: number,
  end: number,
): Promise<void> {
  for (let from: number | undefined = start; from !== undefined && from < end;) {
    const page = await view.page({ filter, direction: 'on', from, limit: PAGE })
    for (const { index, id, envelope } of page.entries)
      if (index < end) onReceipt(id, parseReceipt(envelope).receipt)
    from = page.next
  }
}
