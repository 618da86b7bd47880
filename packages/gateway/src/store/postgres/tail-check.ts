// Checks the newest entries before a gateway writes to a ledger. `fsck` checks the whole ledger.

import { linkFaults, openReceipt, toHex, type ChainHead, type PublicKey } from '@tollgate/evidence'
import { checkGrown, damaged } from '../heads.ts'
import { bytes } from '../tiles.ts'
import { envelopeIn } from './records.ts'
import { rootAt, type SqlQuery } from './tree.ts'
import { problemWithAnchors } from './anchors.ts'
import { rootOf } from './head.ts'

interface SharedTailOptions {
  readonly ask: SqlQuery
  readonly origin: string
  /** All keys that may have signed the newest entries. */
  readonly keys: readonly PublicKey[]
  /** The head remembered outside of the database; undefined if there is none. */
  readonly remembered: string | undefined
}

/** The number of newest entries that are checked one by one. */
const CHECKED = 64

/**
 * Checks the newest entries of a ledger. The caller reads from one moment.
 *
 * @throws GatewayError `LEDGER_DAMAGED` if they are inconsistent, `LEDGER_ROLLED_BACK` if the ledger is older than, or
 * differs from, a head that was signed before.
 */
export async function checkTail({ ask, origin, keys, remembered }: SharedTailOptions): Promise<void> {
  const [row] = await ask(
    `SELECT size, peaks, (SELECT note FROM checkpoint) AS note, (SELECT min(idx) FROM entries) AS oldest,
       (SELECT max(idx) FROM entries) AS newest FROM head`,
  )
  const size = Number(row?.['size'] ?? NaN)
  const [oldest, newest] = [Number(row?.['oldest'] ?? 0), Number(row?.['newest'] ?? -1)]
  if (oldest !== 0 || newest !== size - 1)
    throw damaged(`its head states ${size} entries, but the table has entries ${oldest} to ${newest}`)
  if (toHex(await rootAt(ask, size)) !== rootOf(size, bytes(row?.['peaks'])))
    throw damaged('its tree does not match the root in its head')
  await checkNewest(ask, size, keys)
  const problem = await problemWithAnchors(ask)
  if (problem !== undefined) throw damaged(problem)
  for (const [note, where] of [
    [row?.['note'], 'the database itself'],
    [remembered, 'the head guard outside of the database'],
  ] as const) {
    if (typeof note === 'string')
      await checkGrown(note, where, { origin, keys, size, rootAt: (at) => rootAt(ask, at) })
  }
}

/** Checks the signatures of the newest entries, and the links of each writer. */
async function checkNewest(ask: SqlQuery, size: number, keys: readonly PublicKey[]): Promise<void> {
  const known = new Map(keys.map((key) => [key.id, key]))
  const start = Math.max(size - CHECKED, 0)
  const rows = await ask('SELECT idx, payload, signature FROM entries WHERE idx >= $1 ORDER BY idx', [start])
  const heads = new Map<string, ChainHead>()
  for (const row of rows) {
    const index = Number(row['idx'])
    const { receipt, id } = await openReceipt(envelopeIn(row), (key) => known.get(key)).catch(
      (cause: unknown) => {
        throw damaged(`the signature of entry ${index} is invalid`, cause)
      },
    )
    const head = heads.get(receipt.writer)
    const linked =
      !head || linkFaults(receipt, { head, causes: [], allCauses: false, gapless: true }).length === 0
    if (!linked) throw damaged(`entry ${index} does not link to the previous one of its writer`)
    heads.set(receipt.writer, {
      id,
      seq: receipt.seq,
      lamport_clock: receipt.lamport_clock,
      time: receipt.time,
    })
  }
}
