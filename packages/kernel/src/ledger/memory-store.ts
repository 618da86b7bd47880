// A store in memory for tests, benchmarks and replay. It implements `Store` for the lifetime of the process.

import {
  chainHead,
  createTree,
  leafHash,
  parseReceipt,
  sealEncoded,
  type ChainHead,
  type Encoded,
  type LedgerReader,
  type Parsed,
  type Sealed,
  type SigningKey,
} from '@tollgate/evidence'
import { KernelError } from '../error.ts'
import type { Batch, Store } from './store.ts'

/** A store in memory that can also export EvidencePacks. */
export interface MemoryStore extends Store {
  /** Every receipt, in order. */
  readonly entries: readonly Parsed[]
  readonly envelopes: readonly Uint8Array[]
  readonly records: ReadonlyMap<string, string>
  /** Size and root of the tree. */
  tree(): { readonly size: number; readonly root: Uint8Array }
  /** Returns the source for a pack. The caller provides the texts of policies. */
  reader(checkpoint: string, policy: LedgerReader['policy']): LedgerReader
}

/** Returns an empty store that signs with the given keys. */
export function createMemoryStore(keys: readonly SigningKey[]): MemoryStore {
  const signers = new Map(keys.map((key) => [key.publicKey.id, key]))
  const tree = createTree()
  const envelopes: Uint8Array[] = []
  const parsed: Parsed[] = []
  const levels: NodeRow[] = []
  const records = new Map<string, string>()
  const anchors = new Map<string, Uint8Array>()
  let newest: ChainHead | undefined
  let turn: Promise<unknown> = Promise.resolve()

  async function writeOne(batch: Batch): Promise<void> {
    if (batch.after !== newest?.id) {
      throw new KernelError('REQUEST_INVALID', 'the batch does not follow the newest receipt')
    }
    // All receipts are signed before any is stored: a batch is written completely or not at all.
    const sealed: Sealed[] = []
    for (const { encoded } of batch.entries) sealed.push(await sealWith(signers, encoded))
    sealed.forEach((each, i) => {
      for (const { level, index, hash } of tree.append(leafHash(each.envelope))) {
        ;(levels[level] ??= new NodeRow()).set(index, hash)
      }
      envelopes.push(each.envelope)
      for (const name of batch.entries[i]?.anchors ?? []) anchors.set(name, each.payload)
      newest = chainHead(each)
    })
    for (const [name, text] of batch.records) {
      if (text === undefined) records.delete(name)
      else records.set(name, text)
    }
  }

  return {
    get entries() {
      for (const envelope of envelopes.slice(parsed.length)) parsed.push(parseReceipt(envelope))
      return parsed
    },
    envelopes,
    records,
    head: () => Promise.resolve(newest),
    write(batch) {
      const written = turn.then(() => writeOne(batch))
      // A batch after a failed one does not follow the newest receipt, so it fails as well.
      turn = written.catch(() => undefined)
      return written
    },
    load: (names) =>
      Promise.resolve(names.map((name) => ({ record: records.get(name), anchor: anchors.get(name) }))),
    list(prefix, of) {
      const names = of === 'records' ? records.keys() : anchors.keys()
      return Promise.resolve([...names].filter((name) => name.startsWith(prefix)).sort())
    },
    tree: () => ({ size: tree.size, root: tree.root() }),
    reader: (checkpoint, policy) => ({
      checkpoint,
      receipts: (start, end) => envelopes.slice(start, end),
      node(level, index) {
        const hash = levels[level]?.get(index)
        if (!hash) throw new KernelError('REQUEST_INVALID', `the tree has no node ${level}/${index}`)
        return hash
      },
      policy,
    }),
  }
}

function sealWith(keys: ReadonlyMap<string, SigningKey>, encoded: Encoded): Promise<Sealed> {
  const key = keys.get(encoded.receipt.key)
  if (!key) throw new KernelError('REQUEST_INVALID', 'the receipt names a key that the store does not have')
  return sealEncoded(encoded, key)
}

/** The hashes of one tree level in one buffer. A million small arrays would take eight times as much memory. */
class NodeRow {
  #bytes = new Uint8Array(32 * 64)
  #length = 0

  set(index: number, hash: Uint8Array): void {
    if (32 * (index + 1) > this.#bytes.length) {
      const grown = new Uint8Array(2 * this.#bytes.length)
      grown.set(this.#bytes)
      this.#bytes = grown
    }
    this.#bytes.set(hash, 32 * index)
    this.#length = Math.max(this.#length, index + 1)
  }

  get(index: number): Uint8Array | undefined {
    return index < this.#length ? this.#bytes.slice(32 * index, 32 * (index + 1)) : undefined
  }
}
