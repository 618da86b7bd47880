// Defines the provenance of a session and looks values up in it.
//
// Values are kept as keyed hashes only, so the record does not reveal them.

import { sha256Hex } from '@tollgate/evidence/core'
import type { ValueKind } from '../../text/scan.ts'

/**
 * Where a value was first seen:
 * - `said`: the user or the agent said it;
 * - `output`: a tool returned it as a separate value;
 * - `prose`: running text of a tool contains it;
 * - `ordered`: text of a tool that asks for something contains it;
 * - `flagged`: a flagged passage contains it.
 */
export type Origin = 'said' | 'output' | 'prose' | 'ordered' | 'flagged'

/** The record of one value. */
export interface Sighting {
  readonly origin: Origin
  /** The labels of the value: bit `i` is the `i`-th of `names`. */
  readonly mask: number
}

/** The values of one session and their origins. Immutable; `addSeen` returns the next one. */
export interface Provenance {
  /** 64 hexadecimal digits; empty until a value is kept. */
  readonly key: string
  /** All labels of the outputs of the session, sorted. */
  readonly labels: readonly string[]
  /** Whether values or labels were removed. From then on an unknown value may be a removed one. */
  readonly full: boolean
  /** The labels in the order of their first sighting. */
  readonly names: readonly string[]
  /** The sightings by hash, oldest first. `newer` has those that were added or changed since the last merge. */
  readonly older: ReadonlyMap<string, Sighting>
  readonly newer: ReadonlyMap<string, Sighting>
}

/** The provenance of a new session. */
export const NO_PROVENANCE: Provenance = {
  key: '',
  labels: [],
  full: false,
  names: [],
  older: new Map(),
  newer: new Map(),
}

/** A value for a lookup: its kind and its normal form. */
export interface Spoken {
  /** `phrase`: consecutive words, see `phrases.ts`. `name`: see `named.ts`. `field`: a separate value of a tool, see `returned.ts`. */
  readonly kind: ValueKind | 'phrase' | 'name' | 'field'
  readonly text: string
}

/** A value of which only the hash under the key of its session is known. */
export interface Hashed {
  readonly hash: string
}

/** The maximum number of values in a provenance. */
export const MAX_REMEMBERED: number = 2048
/** The maximum number of labels in a provenance: one bit each. */
export const MAX_LABELS: number = 32
/** The length of a stored hash. */
export const HASH_DIGITS: number = 12

/** The origin and the labels of a value. */
export function lookUp(
  provenance: Provenance,
  value: Spoken,
): { readonly origin: Origin | 'unknown'; readonly labels: readonly string[] } {
  const { key, names, older, newer } = provenance
  const hash = key === '' ? '' : hashOf(key, value)
  const seen = newer.get(hash) ?? older.get(hash)
  if (seen) return { origin: seen.origin, labels: names.filter((_, i) => hasBit(seen.mask, i)).sort() }
  // It may be a removed value with any label.
  if (provenance.full) return { origin: worstIn(provenance), labels: provenance.labels }
  return { origin: 'unknown', labels: [] }
}

/** Whether a value was first seen before another one; also if the other one was never seen. */
export function isSeenBefore(provenance: Provenance, value: Spoken, other: Spoken): boolean {
  const [own, mark] = [hashOf(provenance.key, value), hashOf(provenance.key, other)]
  for (const hash of sightingsOf(provenance).keys()) {
    if (hash === own) return true
    if (hash === mark) return false
  }
  return false
}

const worst = new WeakMap<Provenance, Origin>()

/**
 * The worst origin that a removed value can have. Worse values are removed last, so a removed value is not worse than those that are
 * left. The labels show whether it may be flagged.
 */
export function worstIn(provenance: Provenance): Origin {
  let origin = worst.get(provenance)
  if (origin === undefined) {
    const origins = new Set([...sightingsOf(provenance).values()].map((each) => each.origin))
    origin = WORST.find((each) => origins.has(each)) ?? 'output'
    worst.set(provenance, origin)
  }
  return origin
}

const WORST: readonly Origin[] = ['ordered', 'prose']

/** All sightings, oldest first. */
export function sightingsOf({ older, newer }: Provenance): ReadonlyMap<string, Sighting> {
  return newer.size === 0 ? older : merged(older, newer)
}

/** All sightings of both maps. A changed sighting keeps its position. */
export function merged(
  older: ReadonlyMap<string, Sighting>,
  newer: ReadonlyMap<string, Sighting>,
): Map<string, Sighting> {
  const all = new Map(older)
  for (const [hash, sighting] of newer) all.set(hash, sighting)
  return all
}

/** Kinds in one group are compared by text alone: a URL without a path equals its hostname. */
function groupOf(kind: Spoken['kind']): string {
  if (kind === 'phrase' || kind === 'name' || kind === 'field') return kind
  return kind === 'email' || kind === 'url' || kind === 'host' ? 'address' : 'token'
}

/** The hash that identifies a value in the record. */
export function hashOf(key: string, value: Spoken | Hashed): string {
  if ('hash' in value) return value.hash
  const { kind, text } = value
  const written = `tollgate/value/v1\n${key}\n${groupOf(kind)}\n${text}`
  return sha256Hex(written.toWellFormed()).slice(0, HASH_DIGITS)
}

function hasBit(mask: number, bit: number): boolean {
  return ((mask >>> bit) & 1) === 1
}
