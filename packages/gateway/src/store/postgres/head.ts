// The head row: what all writers of a ledger agree on.

import { createTree, toHex } from '@tollgate/evidence'
import { KernelError } from '@tollgate/kernel'
import { GatewayError } from '../../error.ts'
import { damaged } from '../heads.ts'
import { bytes, split, type TiledTree } from '../tiles.ts'
import type { SqlRow } from './session.ts'

/** The head row. */
export interface Head {
  readonly size: number
  readonly peaks: Uint8Array
  /** The number of batches, of all writers. */
  readonly batch: number
  readonly newestTime: number
}

export const HEAD: string = 'SELECT size, peaks, batch, newest_time FROM head'

/** The head in a row. @throws GatewayError `LEDGER_DAMAGED`. */
export function headOf(row: SqlRow | undefined): Head {
  const size = row?.['size']
  if (typeof size !== 'number') throw damaged('it has no head')
  return {
    size,
    peaks: bytes(row?.['peaks']),
    batch: Number(row?.['batch']),
    newestTime: Number(row?.['newest_time']),
  }
}

/** Throws unless a tree has the size and root of a head. */
export function requireSame({ tree }: TiledTree, { size, peaks }: Head): void {
  const same = tree.size === size && Buffer.concat(tree.frontier().peaks).equals(peaks)
  if (!same) throw damaged('its tree does not match the root in its head')
}

/** The root that a head commits to, in hexadecimal. */
export function rootOf(size: number, peaks: Uint8Array): string {
  return toHex(createTree({ size, peaks: split(peaks) }).root())
}

/** The names that a batch has changed. */
export function namesIn(row: SqlRow): readonly string[] {
  const names = row['names']
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names
  throw damaged('a batch has no list of names')
}

/** Another writer was faster. */
export function stale(): KernelError {
  return new KernelError('BATCH_STALE', 'another writer has changed what the batch was decided on')
}

/** Another process has the key and the name of this writer. */
export function displaced(): GatewayError {
  return new GatewayError('LEDGER_LOCKED', 'another gateway has taken over this writer', {
    hints: [
      'never run two gateways with copies of one data directory; give each its own writer with `tollgate join`',
    ],
  })
}

/** The names of old batches are no longer kept. */
export function behind(): GatewayError {
  return new GatewayError('STORE_FAILED', 'this gateway is too far behind the others to follow them', {
    hints: ['start it again'],
  })
}
