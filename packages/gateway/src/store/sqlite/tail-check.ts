// What is checked before a ledger is written to again: that its right edge is whole, and that nothing is missing which was
// signed before. The whole ledger is checked by `fsck`; a start must not take longer the more there is.

import {
  linkFaults,
  openCheckpoint,
  openReceipt,
  toHex,
  noteKey,
  type ChainHead,
  type PublicKey,
} from '@tollgate/evidence'
import { GatewayError } from '../../error.ts'
import type { Database } from './database.ts'
import { problemsWithAnchors } from './anchors.ts'
import { bytes, envelopeOf, openNodes } from './tree.ts'
import { headIn, headRoot } from './writer.ts'

/** What the edge is checked against. */
interface TailOptions {
  readonly db: Database
  readonly origin: string
  /** Every key that may have signed lately. */
  readonly keys: readonly PublicKey[]
  /** The head that is remembered outside of the data directory; undefined if none is. */
  readonly remembered: string | undefined
}

/** Entries at the end that are checked one by one. */
const CHECKED = 64

/**
 * Checks the right edge of a ledger file.
 *
 * @throws GatewayError `LEDGER_DAMAGED` if it does not hold together, `LEDGER_ROLLED_BACK` if it is older than, or another
 * than, what was signed before.
 */
export async function checkTail({ db, origin, keys, remembered }: TailOptions): Promise<void> {
  const head = headIn(db)
  checkCount(db, head.size)
  const nodes = openNodes(db)
  if (toHex(nodes.rootAt(head.size)) !== toHex(headRoot(head)))
    throw damaged('its tree does not lead to its head')
  await checkNewest(db, head.size, keys)
  const wrong = problemsWithAnchors(db)
  if (wrong[0]) throw damaged(wrong[0].message)
  const kept = db.prepare('SELECT note FROM checkpoint').get()?.['note']
  for (const [note, where] of [
    [kept, 'the ledger file itself'],
    [remembered, 'the head kept outside of the data directory'],
  ] as const) {
    if (typeof note === 'string') await checkGrown(note, where)
  }

  async function checkGrown(note: string, where: string): Promise<void> {
    const { size, root } = await openOwn(note, where)
    if (size <= head.size && toHex(nodes.rootAt(size)) === toHex(root)) return
    throw rolledBack(head.size, size, where)
  }

  async function openOwn(note: string, where: string): Promise<{ size: number; root: Uint8Array }> {
    try {
      const ledger = keys.map((key) => noteKey(origin, key, 1))
      return await openCheckpoint(note, { ledger })
    } catch (cause) {
      throw new GatewayError('LEDGER_DAMAGED', `the checkpoint in ${where} is not signed by this ledger`, {
        cause,
        hints: ['find out who has changed it before you go on'],
      })
    }
  }
}

function checkCount(db: Database, size: number): void {
  const ends = db
    .prepare('SELECT (SELECT min(idx) FROM entries) AS oldest, (SELECT max(idx) FROM entries) AS newest')
    .get()
  const [oldest, newest] = [ends?.['oldest'] ?? 0, ends?.['newest'] ?? -1]
  if (oldest !== 0 || newest !== size - 1)
    throw damaged(`its head says ${size} entries, and they go from ${Number(oldest)} to ${Number(newest)}`)
}

/** Signatures and links of the newest entries. */
async function checkNewest(db: Database, size: number, keys: readonly PublicKey[]): Promise<void> {
  const known = new Map(keys.map((key) => [key.id, key]))
  const start = Math.max(size - CHECKED, 0)
  const rows = db.prepare('SELECT payload, signature FROM entries WHERE idx >= ? ORDER BY idx').all(start)
  let before: ChainHead | undefined
  for (const [i, row] of rows.entries()) {
    const envelope = envelopeOf(bytes(row['payload']), bytes(row['signature']))
    const { receipt, id } = await openReceipt(envelope, (key) => known.get(key)).catch((cause: unknown) => {
      throw damaged(`the signature of entry ${start + i} does not hold`, cause)
    })
    const context = { head: before, causes: [], allCauses: false, gapless: true }
    const linked = i === 0 || linkFaults(receipt, context).length === 0
    if (!linked) throw damaged(`entry ${start + i} does not follow the one before it`)
    before = { id, seq: receipt.seq, lamport_clock: receipt.lamport_clock, time: receipt.time }
  }
}

function damaged(what: string, cause?: unknown): GatewayError {
  return new GatewayError('LEDGER_DAMAGED', `the ledger is damaged: ${what}`, {
    cause,
    hints: [
      'run `tollgate fsck` to see all of it',
      'restore the newest backup if that agrees with what was signed',
    ],
  })
}

function rolledBack(size: number, signed: number, where: string): GatewayError {
  const found =
    size < signed
      ? `the ledger has ${size} entries, but a head of ${signed} was signed before`
      : `the ledger is not the one whose head of ${signed} entries was signed before`
  return new GatewayError('LEDGER_ROLLED_BACK', `${found} (${where})`, {
    hints: [
      'this is an old copy, or another one: going on with it would show two histories, so nothing is signed',
      'put the newest copy of the data directory back; if it is lost, make a new ledger with `tollgate init`',
    ],
  })
}
