// A hash table of receipt ids with a clock and marks, in typed arrays: about 50 bytes per receipt instead of 260 for objects.

import { randomWord } from './host.ts'

const CHUNK = 1 << 14
const WORDS = 8

/** The position of a receipt in the table. */
export type Slot = number

interface Chunk {
  readonly words: Uint32Array
  readonly clocks: Float64Array
  readonly marks: Uint8Array
}

/** A table of receipt ids. It only grows. */
export class IdTable {
  readonly #chunks: Chunk[] = []
  // Open addressing. Entries are slot + 1; at most half of them are used.
  #table: Int32Array = new Int32Array(2 * CHUNK)
  #size = 0
  readonly #seed = randomWord()

  /** Adds an id with its clock and marks. Returns undefined if it is already in the table. */
  add(id: string, clock: number, marks: number): Slot | undefined {
    const words = wordsOf(id)
    const at = this.#probe(words)
    if (this.#table[at] !== 0) return undefined
    const slot = this.#size++
    const chunk = this.#chunkFor(slot)
    const row = slot % CHUNK
    chunk.words.set(words, row * WORDS)
    chunk.clocks[row] = clock
    chunk.marks[row] = marks
    this.#table[at] = this.#size
    if (2 * this.#size > this.#table.length) this.#grow()
    return slot
  }

  get size(): number {
    return this.#size
  }

  find(id: string): Slot | undefined {
    const found = this.#table[this.#probe(wordsOf(id))] ?? 0
    return found === 0 ? undefined : found - 1
  }

  clock(slot: Slot): number {
    return this.#chunkFor(slot).clocks[slot % CHUNK] ?? 0
  }

  marks(slot: Slot): number {
    return this.#chunkFor(slot).marks[slot % CHUNK] ?? 0
  }

  mark(slot: Slot, marks: number): void {
    this.#chunkFor(slot).marks[slot % CHUNK] = marks
  }

  /** The position of these words, or the free position for them. */
  #probe(words: Uint32Array): number {
    const mask = this.#table.length - 1
    for (let at = this.#spread(words, 0) & mask; ; at = (at + 1) & mask) {
      const found = this.#table[at] ?? 0
      if (found === 0 || this.#holds(found - 1, words)) return at
    }
  }

  /** Seeded, because a forger can choose ids that all collide. */
  #spread(words: Uint32Array, start: number): number {
    let mixed = this.#seed
    for (let i = start; i < start + WORDS; i++) {
      mixed = Math.imul(mixed ^ (words[i] ?? 0), 0x9e3779b1)
      mixed ^= mixed >>> 15
    }
    return mixed
  }

  #holds(slot: Slot, words: Uint32Array): boolean {
    const { words: all } = this.#chunkFor(slot)
    const start = (slot % CHUNK) * WORDS
    for (let i = 0; i < WORDS; i++) if (all[start + i] !== words[i]) return false
    return true
  }

  #chunkFor(slot: Slot): Chunk {
    const index = Math.floor(slot / CHUNK)
    return (this.#chunks[index] ??= {
      words: new Uint32Array(CHUNK * WORDS),
      clocks: new Float64Array(CHUNK),
      marks: new Uint8Array(CHUNK),
    })
  }

  #grow(): void {
    const table = new Int32Array(2 * this.#table.length)
    const mask = table.length - 1
    for (let slot = 0; slot < this.#size; slot++) {
      let at = this.#spread(this.#chunkFor(slot).words, (slot % CHUNK) * WORDS) & mask
      while (table[at] !== 0) at = (at + 1) & mask
      table[at] = slot + 1
    }
    this.#table = table
  }
}

const scratch = new Uint32Array(WORDS)
const DIGITS = new Uint8Array(128)
for (let digit = 0; digit < 16; digit++) DIGITS[digit.toString(16).charCodeAt(0)] = digit

/** An id as numbers. The array is reused, so the caller must copy it. */
function wordsOf(id: string): Uint32Array {
  for (let i = 0; i < WORDS; i++) {
    let word = 0
    for (let at = 8 * i; at < 8 * i + 8; at++) word = (word << 4) | (DIGITS[id.charCodeAt(at)] ?? 0)
    scratch[i] = word
  }
  return scratch
}
