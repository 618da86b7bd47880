// Creates the first batch of a ledger: the genesis receipt with the ledger key, and a key receipt for the first writer.

import {
  encodeReceipt,
  chainHead,
  nextPlace,
  toBase64,
  type ChainHead,
  type Encoded,
  type Genesis,
  type KeyChange,
  type PublicKey,
  type Receipt,
} from '@tollgate/evidence'
import type { Batch } from './store.ts'

/** The name that only the genesis receipt anchors. */
export const GENESIS = 'genesis'

/** The parameters of a new ledger. */
interface Founding {
  readonly origin: string
  readonly tenant?: string
  readonly writer: string
  readonly ledgerKey: PublicKey
  readonly writerKey: PublicKey
  readonly commit?: 'plain' | 'salted'
  /** Milliseconds since 1970. */
  readonly time: number
}

/** Returns the first batch of a new ledger, for the store to sign with the ledger key and write. */
export function foundingBatch(founding: Founding): Batch {
  const { origin, writer, ledgerKey, writerKey, commit = 'plain', tenant = 'default', time } = founding
  const entries: { encoded: Encoded; anchors: readonly string[] }[] = []
  let head: ChainHead | undefined
  const add = (receipt: Receipt): void => {
    const encoded = encodeReceipt(receipt)
    head = chainHead(encoded)
    entries.push({ encoded, anchors: receipt.kind === 'genesis' ? [GENESIS] : [] })
  }
  const common = {
    v: 1,
    ledger: origin,
    tenant,
    writer,
    causes: [],
    time: new Date(time).toISOString(),
    key: ledgerKey.id,
  } as const
  const genesis: Genesis = {
    ...common,
    ...nextPlace(head, []),
    kind: 'genesis',
    public_key: toBase64(ledgerKey.bytes),
    commit,
  }
  add(genesis)
  const key: KeyChange = {
    ...common,
    ...nextPlace(head, []),
    kind: 'key',
    op: 'add',
    role: 'writer',
    of: writer,
    public_key: toBase64(writerKey.bytes),
  }
  add(key)
  return { after: undefined, entries, records: new Map() }
}
