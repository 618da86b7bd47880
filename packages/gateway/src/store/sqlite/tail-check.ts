// Checks the newest entries before a ledger is opened for writing: they must be intact, and no signed entry may be missing.
// `fsck` checks the whole ledger; the cost of a start must not grow with it.

import { linkFaults, openReceipt, toHex, type ChainHead, type PublicKey } from '@tollgate/evidence'
import { checkGrown, damaged } from '../heads.ts'
import type { Database } from './database.ts'
import { problemsWithAnchors } from './anchors.ts'
import { bytes, envelopeOf } from '../tiles.ts'
import { openNodes } from './tree.ts'
import { headIn, headRoot } from './writer.ts'

interface TailOptions {
  readonly db: Database
  readonly origin: string
  /** All keys that may have signed the newest entries. */
  readonly keys: readonly PublicKey[]
  /** The head remembered outside of the data directory; undefined if there is none. */
  readonly remembered: string | undefined
}

/** The number of newest entries that are checked one by one. */
const CHECKED = 64

/**
 * Checks the newest entries of a ledger file.
 *
 * @throws GatewayError `LEDGER_DAMAGED` if they are inconsistent, `LEDGER_ROLLED_BACK` if the ledger is older than, or
 * differs from, a head that was signed before.
 */
export async function checkTail({ db, origin, keys, remembered }: TailOptions): Promise<void> {
  const head = headIn(db)
  checkCount(db, head.size)
  const nodes = openNodes(db)
  const rootAt = (size: number): Uint8Array => nodes.rootAt(size)
  if (toHex(nodes.rootAt(head.size)) !== toHex(headRoot(head)))
    throw damaged('its tree does not match the root in its head')
  await checkNewest(db, head.size, keys)
  const wrong = problemsWithAnchors(db)
  if (wrong[0]) throw damaged(wrong[0].message)
  const kept = db.prepare('SELECT note FROM checkpoint').get()?.['note']
  for (const [note, where] of [
    [kept, 'the ledger file itself'],
    [remembered, 'the head guard outside of the data directory'],
  ] as const) {
    if (typeof note === 'string') await checkGrown(note, where, { origin, keys, size: head.size, rootAt })
  }
}

function checkCount(db: Database, size: number): void {
  const ends = db
    .prepare('SELECT (SELECT min(idx) FROM entries) AS oldest, (SELECT max(idx) FROM entries) AS newest')
    .get()
  const [oldest, newest] = [ends?.['oldest'] ?? 0, ends?.['newest'] ?? -1]
  if (oldest !== 0 || newest !== size - 1)
    throw damaged(
      `its head states ${size} entries, but the file has entries ${Number(oldest)} to ${Number(newest)}`,
    )
}

/** Checks the signatures and links of the newest entries. */
async function checkNewest(db: Database, size: number, keys: readonly PublicKey[]): Promise<void> {
  const known = new Map(keys.map((key) => [key.id, key]))
  const start = Math.max(size - CHECKED, 0)
  const rows = db.prepare('SELECT payload, signature FROM entries WHERE idx >= ? ORDER BY idx').all(start)
  let before: ChainHead | undefined
  for (const [i, row] of rows.entries()) {
    const envelope = envelopeOf(bytes(row['payload']), bytes(row['signature']))
    const { receipt, id } = await openReceipt(envelope, (key) => known.get(key)).catch((cause: unknown) => {
      throw damaged(`the signature of entry ${start + i} is invalid`, cause)
    })
    const context = { head: before, causes: [], allCauses: false, gapless: true }
    const linked = i === 0 || linkFaults(receipt, context).length === 0
    if (!linked) throw damaged(`entry ${start + i} does not link to the previous one`)
    before = { id, seq: receipt.seq, lamport_clock: receipt.lamport_clock, time: receipt.time }
  }
}
