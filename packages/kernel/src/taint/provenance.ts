// Where the values of a session came from: what is remembered of the data that its calls brought and took.
//
// The first sighting decides. A value that somebody said stays said, whatever output repeats it. One that came out of a
// tool stays output, even if the agent or the user repeats it later: otherwise repeating would launder it. Flagged is
// what was never seen but inside of flagged parts.

import { KernelError } from '../error.ts'
import {
  hashOf,
  merged,
  MOST_LABELS,
  MOST_REMEMBERED,
  type Origin,
  type Provenance,
  type Sighting,
  type Hashed,
  type Spoken,
} from './remembered.ts'

export { lookUp, NO_PROVENANCE, type Origin, type Provenance, type Spoken } from './remembered.ts'

/** Something that was said or returned. */
export interface Heard {
  readonly origin: Origin
  /** The labels it carries. What is said carries none. */
  readonly labels: readonly string[]
  readonly values: readonly (Spoken | Hashed)[]
  /** It held more values than are listed. */
  readonly cut?: boolean
}

/** How many values are taken from one thing heard. */
export const MOST_HEARD: number = 4096
/** So many changes are kept apart; then they are put with the rest, which costs a copy. */
const MOST_NEWER = 64

/**
 * The provenance after all of this was heard, in this order; `before` itself if it told nothing new.
 *
 * When values have to be forgotten, the oldest output goes first, then the oldest said, and flagged last.
 *
 * @param key makes 64 random hexadecimal digits; asked once in a session, for its first value
 */
export function hear(before: Provenance, key: () => string, heard: readonly Heard[]): Provenance {
  const draft = new Draft(before, key)
  for (const each of heard) draft.hear(each)
  return draft.result()
}

/** What is known of a value once it is seen again. */
function seenAgain(known: Sighting, origin: Origin, mask: number): Sighting {
  const isClean = known.origin === 'flagged' && origin === 'output'
  // `>>> 0`: the 32nd label is the sign of a number otherwise.
  return { origin: isClean ? 'output' : known.origin, mask: (known.mask | mask) >>> 0 }
}

/** The next provenance, while it is made. Copies what it changes, at the first change. */
class Draft {
  readonly #before: Provenance
  readonly #makeKey: () => string
  #key: string
  #full: boolean
  #names: readonly string[]
  #older: ReadonlyMap<string, Sighting>
  #newer: Map<string, Sighting> | undefined

  constructor(before: Provenance, makeKey: () => string) {
    this.#before = before
    this.#makeKey = makeKey
    this.#key = before.key
    this.#full = before.full
    this.#names = before.names
    this.#older = before.older
  }

  hear({ origin, labels, values, cut = false }: Heard): void {
    const mask = origin === 'said' ? 0 : this.#maskOf(labels)
    // What is said and not listed only fails to count as said.
    if (origin !== 'said' && (cut || values.length > MOST_HEARD)) this.#full = true
    const most = Math.min(values.length, MOST_HEARD)
    for (let i = 0; i < most; i++) {
      const value = values[i]
      if (value) this.#see(value, origin, mask)
    }
    this.#settle()
  }

  #see(value: Spoken | Hashed, origin: Origin, mask: number): void {
    // In a full record a value that is unknown may be a forgotten one: saying it does not make it said.
    const isIgnored = this.#full && origin === 'said'
    if (this.#key === '') {
      if (isIgnored) return
      this.#key = checkedKey(this.#makeKey())
    }
    const hash = hashOf(this.#key, value)
    const known = this.#newest().get(hash) ?? this.#older.get(hash)
    if (!known && isIgnored) return
    const now = known ? seenAgain(known, origin, mask) : { origin, mask }
    if (known?.origin === now.origin && known.mask === now.mask) return
    this.#newer ??= new Map(this.#before.newer)
    this.#newer.set(hash, now)
  }

  #newest(): ReadonlyMap<string, Sighting> {
    return this.#newer ?? this.#before.newer
  }

  /** The bits of these labels; new ones get the next bits, as long as there are some. */
  #maskOf(labels: readonly string[]): number {
    let mask = 0
    for (const label of labels) {
      let bit = this.#names.indexOf(label)
      if (bit < 0 && this.#names.length < MOST_LABELS) {
        bit = this.#names.length
        this.#names = [...this.#names, label]
      }
      if (bit < 0) this.#full = true
      else mask = (mask | (1 << bit)) >>> 0
    }
    return mask
  }

  /** Puts the changes with the rest if they are many, and forgets what is too much. */
  #settle(): void {
    if (this.#newer === undefined) return
    const isLittle = this.#newer.size <= MOST_NEWER
    if (isLittle && this.#older.size + this.#newer.size <= MOST_REMEMBERED) return
    const all = merged(this.#older, this.#newer)
    if (all.size > MOST_REMEMBERED) {
      this.#full = true
      forget(all, all.size - MOST_REMEMBERED)
    }
    this.#older = all
    this.#newer = new Map()
  }

  result(): Provenance {
    const { key, full, names, newer } = this.#before
    const isSame =
      this.#newer === undefined && this.#key === key && this.#full === full && this.#names === names
    if (isSame) return this.#before
    return {
      key: this.#key,
      labels: this.#names === names ? this.#before.labels : [...this.#names].sort(),
      full: this.#full,
      names: this.#names,
      older: this.#older,
      newer: this.#newer ?? newer,
    }
  }
}

/** Which values are forgotten first. */
const FORGOTTEN: readonly Origin[] = ['output', 'said', 'flagged']

function forget(all: Map<string, Sighting>, count: number): void {
  let left = count
  for (const origin of FORGOTTEN) {
    for (const [hash, sighting] of all) {
      if (left === 0) return
      if (sighting.origin !== origin) continue
      all.delete(hash)
      left--
    }
  }
}

function checkedKey(key: string): string {
  if (/^[0-9a-f]{64}$/.test(key)) return key
  throw new KernelError('REQUEST_INVALID', 'the key of a provenance must be 64 hexadecimal digits')
}
