// What is remembered of the values of a session, and how it is looked up.
//
// Values are kept as keyed hashes only: the record says nothing to whoever reads it without the value in hand.

import { sha256Hex } from '@tollgate/evidence/core'
import type { ValueKind } from '../../text/scan.ts'

/**
 * Where a value was first seen: in what the user or the agent said, or in what a tool returned; there by itself, in running text,
 * where something is asked for, or in a flagged passage.
 */
export type Origin = 'said' | 'output' | 'prose' | 'ordered' | 'flagged'

/** What is remembered of one value. */
export interface Sighting {
  readonly origin: Origin
  /** The labels it was seen under: bit `i` is the `i`-th of `names`. */
  readonly mask: number
}

/** What is remembered of the values of one session. Nothing of it changes; `hear` makes the next one. */
export interface Provenance {
  /** 64 hexadecimal digits; empty as long as no value is kept. */
  readonly key: string
  /** The labels of the session: all that its outputs carried, sorted. */
  readonly labels: readonly string[]
  /** Values or labels had to be forgotten: from then on nothing unknown is held to be new. */
  readonly full: boolean
  /** The labels in the order in which they were heard. */
  readonly names: readonly string[]
  /** The sightings by hash, oldest first: most of them, and those that were added or changed since. */
  readonly older: ReadonlyMap<string, Sighting>
  readonly newer: ReadonlyMap<string, Sighting>
}

/** Nothing seen yet. */
export const NO_PROVENANCE: Provenance = {
  key: '',
  labels: [],
  full: false,
  names: [],
  older: new Map(),
  newer: new Map(),
}

/** A value as it is looked up: its kind and its normal form. */
export interface Spoken {
  /**
   * `phrase`: words in a row, see `phrases.ts`. `name`: what the user's first words name, see `named.ts`. `field`: what a tool
   * returned by itself, see `returned.ts`.
   */
  readonly kind: ValueKind | 'phrase' | 'name' | 'field'
  readonly text: string
}

/** A value that only its hash is known of, under the key of its session. */
export interface Hashed {
  readonly hash: string
}

/** How many values a session remembers. */
export const MOST_REMEMBERED: number = 2048
/** How many labels a session remembers: one bit each. */
export const MOST_LABELS: number = 32
/** How much of its hash stands for a value. */
export const HASH_DIGITS: number = 12

/** Where a value came from, and under which labels it was seen. */
export function lookUp(
  provenance: Provenance,
  value: Spoken,
): { readonly origin: Origin | 'unknown'; readonly labels: readonly string[] } {
  const { key, names, older, newer } = provenance
  const hash = key === '' ? '' : hashOf(key, value)
  const seen = newer.get(hash) ?? older.get(hash)
  if (seen) return { origin: seen.origin, labels: names.filter((_, i) => hasBit(seen.mask, i)).sort() }
  // It may be one of those that were forgotten, under any label.
  if (provenance.full) return { origin: worstIn(provenance), labels: provenance.labels }
  return { origin: 'unknown', labels: [] }
}

const worst = new WeakMap<Provenance, Origin>()

/**
 * What values out of tools may be, at worst, that the record does not tell apart. The worse ones are forgotten last: what was
 * forgotten is no worse than what is left. Whether they may be flagged is for the labels to say.
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

/** Both together; a changed sighting keeps its place. */
export function merged(
  older: ReadonlyMap<string, Sighting>,
  newer: ReadonlyMap<string, Sighting>,
): Map<string, Sighting> {
  const all = new Map(older)
  for (const [hash, sighting] of newer) all.set(hash, sighting)
  return all
}

/** Addresses are compared by their text: a URL that is nothing but its host is the host. So is every other value. */
function groupOf(kind: Spoken['kind']): string {
  if (kind === 'phrase' || kind === 'name' || kind === 'field') return kind
  return kind === 'email' || kind === 'url' || kind === 'host' ? 'address' : 'token'
}

/** The hash under which a value is kept. */
export function hashOf(key: string, value: Spoken | Hashed): string {
  if ('hash' in value) return value.hash
  const { kind, text } = value
  const written = `tollgate/value/v1\n${key}\n${groupOf(kind)}\n${text}`
  return sha256Hex(written.toWellFormed()).slice(0, HASH_DIGITS)
}

function hasBit(mask: number, bit: number): boolean {
  return ((mask >>> bit) & 1) === 1
}
