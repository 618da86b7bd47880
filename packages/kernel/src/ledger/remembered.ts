// The private records that a ledger keeps in memory, with their sizes. The least recently used ones are evicted.

import { KernelError } from '../error.ts'
import type { Store, Stored } from './store.ts'

/** A record to read. `parse` runs once, when the record is loaded into memory. */
export interface Read {
  readonly name: string
  readonly parse: (stored: Stored) => unknown
}

export interface Remembered {
  readonly value: unknown
  /** The stored size in bytes. */
  readonly size: number
  /** Number of the batch that last changed it. The record stays in memory until that batch is durable. */
  readonly batch: number
}

/** Records by name, the least recently used one first. */
export class RememberedRecords extends Map<string, Remembered> {
  readonly #loading = new Map<string, Promise<void>>()

  hasAll(reads: readonly Read[] = []): boolean {
    return reads.every(({ name }) => this.has(name))
  }

  override set(name: string, remembered: Remembered): this {
    this.delete(name)
    return super.set(name, remembered)
  }

  /** Loads the missing records. One that is already being loaded is awaited. Rejects if the store fails. */
  async load(reads: readonly Read[], store: Store): Promise<void> {
    const missing = reads.filter(({ name }) => !this.has(name))
    const fresh = missing.filter(({ name }) => !this.#loading.has(name))
    const load = this.#loadAll(fresh, store)
    for (const { name } of fresh) this.#loading.set(name, load)
    await Promise.all(missing.flatMap(({ name }) => this.#loading.get(name) ?? []))
  }

  async #loadAll(reads: readonly Read[], store: Store): Promise<void> {
    if (reads.length === 0) return
    const stored = await store.load(reads.map(({ name }) => name))
    reads.forEach(({ name, parse }, i) => {
      const found = stored[i]
      if (!found) throw new KernelError('LEDGER_POISONED', 'the store returned fewer records than requested')
      if (!this.has(name)) this.set(name, { value: parse(found), size: bytesIn(found.record), batch: 0 })
      this.#loading.delete(name)
    })
  }

  /** Evicts records above the maximum. Those that are not durable yet stay, because later decisions depend on them. */
  evict(most: number, durable: number): void {
    if (this.size <= most) return
    for (const [name, { batch }] of this) {
      if (this.size <= most) return
      if (batch <= durable) this.delete(name)
    }
  }
}

/** Returns the length of a text in UTF-8 bytes. */
export function bytesIn(text: string | undefined): number {
  if (text === undefined) return 0
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    // Each half of a surrogate pair counts as two bytes: four for both.
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1
  }
  return bytes
}
