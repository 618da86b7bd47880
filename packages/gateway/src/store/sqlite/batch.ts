// Packs a batch for the writer thread into one buffer for all bytes and one string for all texts. Copying many small values
// between threads costs more than signing them.

import type { Batch, Entry } from '@tollgate/kernel'

/** Entries in the form in which they cross threads. */
export interface PackedEntries {
  /** The messages to sign, concatenated. Each ends with its payload. */
  readonly messages: Uint8Array<ArrayBuffer>
  /** Per entry: length of the message, length of the payload, number of anchors. */
  readonly sizes: Uint32Array
  /** Per entry: its id, kind, key and anchors. */
  readonly texts: PackedTexts
}

/** A batch in the form in which it crosses threads. */
export interface PackedBatch extends PackedEntries {
  readonly after: string | undefined
  /** How many of the first entries the signer thread signs. */
  readonly shared: number
  /** Names and texts of the records, alternating. */
  readonly records: PackedTexts
}

/** Concatenated texts. */
interface PackedTexts {
  readonly joined: string
  /** The length of each text in code units; `MISSING` for undefined. */
  readonly lengths: Uint32Array
}

/** An unpacked entry. */
export interface PackedEntry {
  readonly message: Uint8Array
  readonly payload: Uint8Array
  readonly id: string
  readonly kind: string
  readonly key: string
  readonly anchors: readonly string[]
}

const MISSING = 0xffffffff

export function packBatch({ after, entries, records }: Batch, shared: number): PackedBatch {
  const texts: (string | undefined)[] = []
  for (const [name, text] of records) texts.push(name, text)
  return { ...packEntries(entries), after, shared, records: packTexts(texts) }
}

export function packEntries(entries: readonly Entry[]): PackedEntries {
  let total = 0
  for (const { encoded } of entries) total += encoded.message.length
  const messages = new Uint8Array(total)
  const sizes = new Uint32Array(3 * entries.length)
  const texts: string[] = []
  let at = 0
  entries.forEach(({ encoded, anchors }, i) => {
    messages.set(encoded.message, at)
    at += encoded.message.length
    sizes[3 * i] = encoded.message.length
    sizes[3 * i + 1] = encoded.payload.length
    sizes[3 * i + 2] = anchors.length
    texts.push(encoded.id, encoded.receipt.kind, encoded.receipt.key, ...anchors)
  })
  return { messages, sizes, texts: packTexts(texts) }
}

/** Unpacks the entries, in order. */
export function unpackEntries({ messages, sizes, texts }: PackedEntries): readonly PackedEntry[] {
  const all = unpackTexts(texts)
  const entries: PackedEntry[] = []
  let [at, textAt] = [0, 0]
  for (let i = 0; i < sizes.length; i += 3) {
    const [length = 0, payload = 0, anchors = 0] = sizes.subarray(i, i + 3)
    const message = messages.subarray(at, at + length)
    const [id = '', kind = '', key = '', ...names] = all.slice(textAt, textAt + 3 + anchors)
    // Sound: only the texts of records may be missing.
    entries.push({
      message,
      payload: message.subarray(length - payload),
      id,
      kind,
      key,
      anchors: names as string[],
    })
    at += length
    textAt += 3 + anchors
  }
  return entries
}

/** Unpacks the records: a name and a text each, or undefined for a removed record. */
export function unpackRecords({ records }: PackedBatch): readonly (readonly [string, string | undefined])[] {
  const all = unpackTexts(records)
  return Array.from({ length: all.length / 2 }, (_, i) => [all[2 * i] ?? '', all[2 * i + 1]] as const)
}

function packTexts(texts: readonly (string | undefined)[]): PackedTexts {
  const lengths = Uint32Array.from(texts, (text) => text?.length ?? MISSING)
  return { joined: texts.join(''), lengths }
}

function unpackTexts({ joined, lengths }: PackedTexts): (string | undefined)[] {
  let at = 0
  return Array.from(lengths, (length) => {
    if (length === MISSING) return undefined
    at += length
    return joined.slice(at - length, at)
  })
}
