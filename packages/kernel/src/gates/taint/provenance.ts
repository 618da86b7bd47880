// Where the values of a session came from: what is remembered of the data that its calls brought and took.
//
// The first sighting decides. A value that somebody said stays said, whatever output repeats it. One that came out of a
// tool stays out of a tool, even if the agent or the user repeats it later: otherwise repeating would launder it. Of
// several sightings in output the cleanest counts; but what stood in a flagged passage is never quite clean again.

import { KernelError } from '../../error.ts'
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

export { lookUp, NO_PROVENANCE, worstIn, type Origin, type Provenance, type Spoken } from './remembered.ts'

/** Something that was said or returned. */
export interface SeenValues {
  readonly origin: Origin
  /** The labels it carries. What is said carries none. */
  readonly labels: readonly string[]
  readonly values: readonly (Spoken | Hashed)[]
  /** It held more values than are listed. */
  readonly cut?: boolean
  /** Its values are phrases or fields. They get a part of the record alone, and none of them is missed: values need the room. */
  readonly words?: boolean
}

/** How many values are taken from one thing heard. */
export const MAX_SEEN: number = 4096
/** So many changes are kept apart; then they are put with the rest, which costs a copy. */
const MOST_NEWER = 64
/** A record that holds so many takes in no more words: fields leave room for what is said, that for what is flagged, all for values. */
const FULL_FOR_WORDS: Readonly<Partial<Record<Origin, number>>> = { output: 512, said: 640, flagged: 1024 }

/**
 * The provenance after all of this was heard, in this order; `before` itself if it told nothing new.
 *
 * When values have to be forgotten, the oldest output goes first, then prose, said, ordered, and flagged last.
 *
 * @param key makes 64 random hexadecimal digits; asked once in a session, for its first value
 */
export function hear(before: Provenance, key: () => string, heard: readonly SeenValues[]): Provenance {
  const draft = new Draft(before, key)
  for (const each of heard) draft.hear(each)
  return draft.result()
}

/** What is known of a value once it is seen again. */
function seenAgain(known: Sighting, origin: Origin, mask: number): Sighting {
  // `>>> 0`: the 32nd label is the sign of a number otherwise.
  return { origin: cleaner(known.origin, origin), mask: (known.mask | mask) >>> 0 }
}

const BY_SUSPICION: readonly Origin[] = ['output', 'prose', 'ordered', 'flagged']

/** What an origin becomes when the value is seen again. What an attack has named is never quite clean again. */
function cleaner(known: Origin, again: Origin): Origin {
  if (known === 'said' || again === 'said') return known
  const [least, most] =
    BY_SUSPICION.indexOf(known) < BY_SUSPICION.indexOf(again) ? [known, again] : [again, known]
  return most === 'flagged' && least !== 'flagged' ? 'ordered' : least
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

  hear({ origin, labels, values, cut = false, words = false }: SeenValues): void {
    const mask = origin === 'said' ? 0 : this.#maskOf(labels)
    // What is said and not listed only fails to count as said.
    if (origin !== 'said' && !words && (cut || values.length > MAX_SEEN)) this.#full = true
    const most = Math.min(values.length, MAX_SEEN)
    let room = words ? this.#roomForWords(origin) : Infinity
    if (room <= 0 && origin === 'output') return
    for (let i = 0; i < most; i++) {
      const value = values[i]
      if (value && this.#see(value, { origin, mask }, room > 0)) room--
    }
    this.#settle()
  }

  #roomForWords(origin: Origin): number {
    let held = this.#older.size
    for (const hash of this.#newest().keys()) if (!this.#older.has(hash)) held++
    return (FULL_FOR_WORDS[origin] ?? 0) - held
  }

  /** Whether it is one more. */
  #see(value: Spoken | Hashed, { origin, mask }: Sighting, hasRoom: boolean): boolean {
    // In a full record a value that is unknown may be a forgotten one: saying it does not make it said.
    const isIgnored = !hasRoom || (this.#full && origin === 'said')
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
const FORGOTTEN: readonly Origin[] = ['output', 'prose', 'said', 'ordered', 'flagged']

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
