// Updates the provenance of a session: the origin of each value in its calls and results.
//
// The first sighting decides. A value that the user or the agent said first stays `said`, even if output repeats it. A value from a
// tool stays a tool's value, even if the agent or the user repeats it: otherwise repetition would launder it. Among several
// sightings in output the least suspicious counts, but a value from a flagged passage stays at least `ordered`.

import { KernelError } from '../../error.ts'
import {
  hashOf,
  merged,
  MAX_LABELS,
  MAX_REMEMBERED,
  type Origin,
  type Provenance,
  type Sighting,
  type Hashed,
  type Spoken,
} from './remembered.ts'

export { lookUp, NO_PROVENANCE, worstIn, type Origin, type Provenance, type Spoken } from './remembered.ts'

/** Values that were said or returned, with their origin. */
export interface SeenValues {
  readonly origin: Origin
  /** The labels of the values. Values with the origin `said` have none. */
  readonly labels: readonly string[]
  readonly values: readonly (Spoken | Hashed)[]
  /** Whether the list of values was cut. */
  readonly cut?: boolean
  /** Whether the values are phrases or fields. They may use only a part of the record, so that values have capacity left. */
  readonly words?: boolean
}

/** The maximum number of values from one `SeenValues`. */
export const MAX_SEEN: number = 4096
/** The maximum number of separate changes. More are merged into the rest, which costs a copy. */
const MAX_NEWER = 64
/** The size of a record above which it takes no more words of an origin. The rest of the capacity is for values. */
const MAX_SIZE_FOR_WORDS: Readonly<Partial<Record<Origin, number>>> = {
  output: 512,
  said: 640,
  flagged: 1024,
}

/**
 * The provenance with more values, added in this order; `before` itself if nothing changed.
 *
 * A full record removes the oldest `output` values first, then `prose`, `said`, `ordered` and `flagged`.
 *
 * @param key returns 64 random hexadecimal digits; called once in a session, for its first value
 */
export function addSeen(before: Provenance, key: () => string, seen: readonly SeenValues[]): Provenance {
  const draft = new Draft(before, key)
  for (const each of seen) draft.add(each)
  return draft.result()
}

function seenAgain(known: Sighting, origin: Origin, mask: number): Sighting {
  // `>>> 0`: otherwise the bit of the 32nd label would be the sign.
  return { origin: cleaner(known.origin, origin), mask: (known.mask | mask) >>> 0 }
}

const BY_SUSPICION: readonly Origin[] = ['output', 'prose', 'ordered', 'flagged']

/** The origin of a value that is seen again. A value from a flagged passage stays at least `ordered`. */
function cleaner(known: Origin, again: Origin): Origin {
  if (known === 'said' || again === 'said') return known
  const [least, most] =
    BY_SUSPICION.indexOf(known) < BY_SUSPICION.indexOf(again) ? [known, again] : [again, known]
  return most === 'flagged' && least !== 'flagged' ? 'ordered' : least
}

/** Builds the next provenance. Copies a part only when it changes. */
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

  add({ origin, labels, values, cut = false, words = false }: SeenValues): void {
    const mask = origin === 'said' ? 0 : this.#maskOf(labels)
    // An unlisted value that was said only loses the origin `said`, which is safe.
    if (origin !== 'said' && !words && (cut || values.length > MAX_SEEN)) this.#full = true
    const most = Math.min(values.length, MAX_SEEN)
    let remaining = words ? this.#remainingForWords(origin) : Infinity
    if (remaining <= 0 && origin === 'output') return
    for (let i = 0; i < most; i++) {
      const value = values[i]
      if (value && this.#see(value, { origin, mask }, remaining > 0)) remaining--
    }
    this.#settle()
  }

  #remainingForWords(origin: Origin): number {
    let size = this.#older.size
    for (const hash of this.#newest().keys()) if (!this.#older.has(hash)) size++
    return (MAX_SIZE_FOR_WORDS[origin] ?? 0) - size
  }

  /** Records a sighting. Returns whether the value is new. */
  #see(value: Spoken | Hashed, { origin, mask }: Sighting, hasCapacity: boolean): boolean {
    // In a full record an unknown value may be a forgotten one, so it must not become `said`.
    const isIgnored = !hasCapacity || (this.#full && origin === 'said')
    if (this.#key === '') {
      if (isIgnored) return false
      this.#key = checkedKey(this.#makeKey())
    }
    const hash = hashOf(this.#key, value)
    const known = this.#newest().get(hash) ?? this.#older.get(hash)
    if (!known && isIgnored) return false
    const now = known ? seenAgain(known, origin, mask) : { origin, mask }
    if (known?.origin === now.origin && known.mask === now.mask) return false
    this.#newer ??= new Map(this.#before.newer)
    this.#newer.set(hash, now)
    return !known
  }

  #newest(): ReadonlyMap<string, Sighting> {
    return this.#newer ?? this.#before.newer
  }

  /** The bits of these labels. New labels get the next free bits. */
  #maskOf(labels: readonly string[]): number {
    let mask = 0
    for (const label of labels) {
      let bit = this.#names.indexOf(label)
      if (bit < 0 && this.#names.length < MAX_LABELS) {
        bit = this.#names.length
        this.#names = [...this.#names, label]
      }
      if (bit < 0) this.#full = true
      else mask = (mask | (1 << bit)) >>> 0
    }
    return mask
  }

  /** Merges the changes if there are many, and removes values above the limit. */
  #settle(): void {
    if (this.#newer === undefined) return
    const isSmall = this.#newer.size <= MAX_NEWER
    if (isSmall && this.#older.size + this.#newer.size <= MAX_REMEMBERED) return
    const all = merged(this.#older, this.#newer)
    if (all.size > MAX_REMEMBERED) {
      this.#full = true
      forget(all, all.size - MAX_REMEMBERED)
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

/** The order in which values are removed. */
const REMOVAL_ORDER: readonly Origin[] = ['output', 'prose', 'said', 'ordered', 'flagged']

function forget(all: Map<string, Sighting>, count: number): void {
  let left = count
  for (const origin of REMOVAL_ORDER) {
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
