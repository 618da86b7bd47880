// Encrypts private records that contain agent data: kept calls and the arguments of approval requests. AES-256-GCM with a
// random nonce per record. The record's name is associated data, so a record cannot be moved to another name.

import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { Batch, Store, Stored } from '@tollgate/kernel'
import type { LedgerView } from './view.ts'

/** Encrypts and decrypts the texts of private records with one key. */
export interface Sealer {
  /** Identifies the key without revealing it. */
  readonly id: string
  seal(name: string, text: string): string
  /** The text; undefined if it was sealed with another key or name, or modified. */
  open(name: string, sealed: string): string | undefined
}

// Same values as in the kernel. Repeated here so that read-only commands need not load the kernel.
const KEPT = 'kept\n'
const INPUT = 'input\n'
const SEALED = 'sealed:'

export const KEY_BYTES = 32
const NONCE = 12
const TAG = 16
const VERSION = `${SEALED}1:`
const CIPHER = 'aes-256-gcm'

/** Whether a text is encrypted. Unencrypted records of earlier versions are JSON, which never begins with this prefix. */
export function isSealed(text: string): boolean {
  return text.startsWith(SEALED)
}

/** Whether a record of this name must be encrypted at rest. */
function isToBeSealed(name: string): boolean {
  return name.startsWith(KEPT) || name.startsWith(INPUT)
}

/** Creates a sealer. The key has 32 bytes. */
export function createSealer(key: Uint8Array): Sealer {
  const id = createHash('sha256').update('tollgate sealing key\n').update(key).digest('hex').slice(0, 8)
  const head = `${VERSION}${id}:`
  return {
    id,
    seal(name, text) {
      const nonce = randomBytes(NONCE)
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG })
      cipher.setAAD(Buffer.from(head + name))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return head + Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64')
    },
    open(name, sealed) {
      if (!sealed.startsWith(head)) return undefined
      const bytes = Buffer.from(sealed.slice(head.length), 'base64')
      if (bytes.length < NONCE + TAG) return undefined
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE), { authTagLength: TAG })
      decipher.setAAD(Buffer.from(head + name))
      decipher.setAuthTag(bytes.subarray(-TAG))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]).toString(
          'utf8',
        )
      } catch {
        // Modified, or moved from another record: treated as lost.
        return undefined
      }
    },
  }
}

/** The private record that contains the id of the key in use. */
export const SEALING = 'sealing'

/** Wraps a store: encrypts records before they are written and decrypts them when they are read. */
export function sealingStore<S extends Store>(store: S, sealer: Sealer): S {
  return {
    ...store,
    write: (batch: Batch) => store.write(sealedBatch(batch, sealer)),
    async load(names: readonly string[]): Promise<readonly Stored[]> {
      const found = await store.load(names)
      return found.map(({ record, anchor }, i) => ({
        record: openedBy(sealer, names[i] ?? '', record),
        anchor,
      }))
    },
  }
}

/** The decrypted record. A record that was never sealed or cannot be opened is returned as it is. */
function openedBy<T extends string | undefined>(
  sealer: Sealer | undefined,
  name: string,
  text: T,
): T | string {
  return text !== undefined && isSealed(text) ? (sealer?.open(name, text) ?? text) : text
}

function sealedBatch(batch: Batch, sealer: Sealer): Batch {
  if (![...batch.records.keys()].some(isToBeSealed)) return batch
  const records = [...batch.records].map(([name, text]): [string, string | undefined] =>
    text !== undefined && isToBeSealed(name) ? [name, sealer.seal(name, text)] : [name, text],
  )
  return { ...batch, records: new Map(records) }
}

/** Wraps a view to decrypt records. Records that cannot be opened stay sealed, see `isSealed`. Gets the key on first use. */
export function openingView(view: LedgerView, sealer: () => Sealer | undefined): LedgerView {
  const opened = (name: string, text: string): string =>
    isSealed(text) ? openedBy(sealer(), name, text) : text
  return {
    size: () => view.size(),
    page: (request) => view.page(request),
    find: (id) => view.find(id),
    begins: (digits) => view.begins(digits),
    envelopes: (start, end) => view.envelopes(start, end),
    async payloads(start, limit, beside) {
      const found = await view.payloads(start, limit, beside)
      if (beside === undefined) return found
      return found.map((each) =>
        each.beside === undefined ? each : { ...each, beside: opened(besideName(beside, each), each.beside) },
      )
    },
    indexesOf: (kinds) => view.indexesOf(kinds),
    node: (level, index) => view.node(level, index),
    rootAt: (size) => view.rootAt(size),
    async record(name) {
      const text = await view.record(name)
      return text === undefined ? undefined : opened(name, text)
    },
    async records(prefix, after, limit) {
      const found = await view.records(prefix, after, limit)
      return found.map(({ name, text }) => ({ name, text: opened(name, text) }))
    },
    recordNames: (prefix) => view.recordNames(prefix),
    checkpoint: () => view.checkpoint(),
  }
}

const CLOCK = /"lamport_clock":([0-9]{1,16})/

/** The name of the private record next to a receipt, see `LedgerView.payloads`. */
function besideName(prefix: string, { id, text }: { readonly id: string; readonly text: string }): string {
  const [, clock = ''] = CLOCK.exec(text) ?? []
  return `${prefix}${clock.padStart(16, '0')}\n${id}`
}
