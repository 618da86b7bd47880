// Encryption of private records that hold what agents wrote: kept calls, and the arguments that a person is to approve. AES-256-GCM,
// a random nonce for each record, and the record's name as associated data, so that no record passes for another.

import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { Batch, Store, Stored } from '@tollgate/kernel'
import type { LedgerView } from './view.ts'

/** Seals and opens the texts of private records with one key. */
export interface Sealer {
  /** Names the key without telling it. */
  readonly id: string
  seal(name: string, text: string): string
  /** The text; undefined if another key sealed it, it was changed, or it belongs to another name. */
  open(name: string, sealed: string): string | undefined
}

// As the kernel names them. Written out, so that commands that only read need not load it.
const KEPT = 'kept\n'
const INPUT = 'input\n'
const SEALED = 'sealed:'

export const KEY_BYTES = 32
const NONCE = 12
const TAG = 16
const VERSION = `${SEALED}1:`
const CIPHER = 'aes-256-gcm'

/** Whether a text is encrypted. Texts of earlier versions are JSON, which never begins so. */
export function isSealed(text: string): boolean {
  return text.startsWith(SEALED)
}

/** Whether a record of this name is encrypted at rest. */
function isToBeSealed(name: string): boolean {
  return name.startsWith(KEPT) || name.startsWith(INPUT)
}

/** Seals with a key of 32 bytes. */
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
        // Changed, or moved from another record: as good as lost.
        return undefined
      }
    },
  }
}

/** The name of the private record that says which key the newest records are sealed with. */
export const SEALING = 'sealing'

/** A store that encrypts what is to be encrypted before it is written, and opens it when it is read back. */
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

/** A record as it was before it was sealed; what cannot be opened, or never was sealed, as it is. */
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

/** A view that opens what is sealed. What it cannot open it shows as it is: see `isSealed`. The key is asked for when it is needed. */
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

/** The name of the record beside a receipt, see `LedgerView.payloads`. */
function besideName(prefix: string, { id, text }: { readonly id: string; readonly text: string }): string {
  const [, clock = ''] = CLOCK.exec(text) ?? []
  return `${prefix}${clock.padStart(16, '0')}\n${id}`
}
