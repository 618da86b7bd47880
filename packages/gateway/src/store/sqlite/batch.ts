// A batch on its way to the thread that writes it: one piece of memory for all bytes, and few values to copy.

import type { Batch, Entry } from '@tollgate/kernel'

/** Entries as they cross threads. */
export interface PackedEntries {
  /** What is to be signed of each entry, one behind the other. Each ends with its payload. */
  readonly messages: Uint8Array<ArrayBuffer>
  /** For each entry: length of the message, length of the payload, how many anchors. */
  readonly sizes: Uint32Array
  readonly ids: readonly string[]
  readonly kinds: readonly string[]
  readonly keys: readonly string[]
  readonly anchors: readonly string[]
}

/** A batch as it crosses threads. */
export interface PackedBatch extends PackedEntries {
  readonly after: string | undefined
  readonly names: readonly string[]
  readonly texts: readonly (string | undefined)[]
}

/** One entry of a batch, on the other side. */
export interface PackedEntry {
  readonly message: Uint8Array
  readonly payload: Uint8Array
  readonly id: string
  readonly kind: string
  readonly key: string
  readonly anchors: readonly string[]
}

/** Packs a batch. */
export function packBatch({ after, entries, records }: Batch): PackedBatch {
  return { ...packEntries(entries), after, names: [...records.keys()], texts: [...records.values()] }
}

/** Packs entries. */
export function packEntries(entries: readonly Entry[]): PackedEntries {
  let total = 0
  for (const { encoded } of entries) total += encoded.message.length
  const messages = new Uint8Array(total)
  const sizes = new Uint32Array(3 * entries.length)
  let at = 0
  entries.forEach(({ encoded, anchors }, i) => {
    messages.set(encoded.message, at)
    at += encoded.message.length
    sizes[3 * i] = encoded.message.length
    sizes[3 * i + 1] = encoded.payload.length
    sizes[3 * i + 2] = anchors.length
  })
  return {
    messages,
    sizes,
    ids: entries.map(({ encoded }) => encoded.id),
    kinds: entries.map(({ encoded }) => encoded.receipt.kind),
    keys: entries.map(({ encoded }) => encoded.receipt.key),
    anchors: entries.flatMap(({ anchors }) => anchors),
  }
}

/** The entries again, in order. */
export function* unpackEntries(batch: PackedEntries): Generator<PackedEntry> {
  let [at, anchorsAt] = [0, 0]
  for (const [i, id] of batch.ids.entries()) {
    const [length = 0, payload = 0, anchors = 0] = batch.sizes.subarray(3 * i, 3 * i + 3)
    const message = batch.messages.subarray(at, at + length)
    yield {
      message,
      payload: message.subarray(length - payload),
      id,
      kind: batch.kinds[i] ?? '',
      key: batch.keys[i] ?? '',
      anchors: batch.anchors.slice(anchorsAt, anchorsAt + anchors),
    }
    at += length
    anchorsAt += anchors
  }
}
