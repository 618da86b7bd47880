// Writes and reads the stored record of a provenance. Each provenance has exactly one canonical JSON text.

import { KernelError } from '../../error.ts'
import {
  HASH_DIGITS,
  MAX_LABELS,
  MAX_REMEMBERED,
  sightingsOf,
  type Origin,
  type Provenance,
  type Sighting,
} from './remembered.ts'

const LETTERS: Readonly<Record<Origin, string>> = {
  said: 's',
  output: 'o',
  prose: 'p',
  ordered: 'r',
  flagged: 'f',
}
const ORIGINS: ReadonlyMap<string, Origin> = new Map([
  ['s', 'said'],
  ['o', 'output'],
  ['p', 'prose'],
  ['r', 'ordered'],
  ['f', 'flagged'],
])
// 2,048 pieces of 21 characters, 32 labels, the key.
const MAX_RECORD = 65_536
const LABEL = /^[a-z][a-z0-9-]{0,31}$/

/**
 * The canonical text of a provenance, at most 64 Ki characters. Each value is a piece of fixed width: its hash, its origin, and the
 * mask of its labels in hexadecimal digits.
 */
export function provenanceText(provenance: Provenance): string {
  const { key, full, names } = provenance
  const width = maskDigits(names)
  let entries = ''
  for (const [hash, { origin, mask }] of sightingsOf(provenance)) {
    entries += hash + LETTERS[origin] + (width === 0 ? '' : mask.toString(16).padStart(width, '0'))
  }
  return `{"entries":"${entries}","full":${full},"key":"${key}","labels":${JSON.stringify(names)}}`
}

function maskDigits(names: readonly string[]): number {
  return Math.ceil(names.length / 4)
}

/**
 * Reads a text of `provenanceText`.
 *
 * @throws KernelError `STATE_MALFORMED` for any other text. The message contains no part of it.
 */
export function readProvenance(text: string): Provenance {
  const provenance = text.length > MAX_RECORD ? undefined : parsed(text)
  // Only the canonical text is accepted.
  if (provenance && provenanceText(provenance) === text) return provenance
  throw new KernelError('STATE_MALFORMED', 'the data record of a session is malformed or was changed')
}

function parsed(text: string): Provenance | undefined {
  let record: unknown
  try {
    record = JSON.parse(text)
  } catch {
    return undefined // Not JSON.
  }
  if (typeof record !== 'object' || record === null) return undefined
  // Sound: each member is checked below.
  const { entries, full, key, labels } = record as Readonly<Record<string, unknown>>
  if (typeof entries !== 'string' || typeof full !== 'boolean' || typeof key !== 'string') return undefined
  if (!isNames(labels)) return undefined
  const older = sightingsIn(entries, labels)
  if (!older || !(key === '' ? older.size === 0 : /^[0-9a-f]{64}$/.test(key))) return undefined
  return { key, labels: [...labels].sort(), full, names: labels, older, newer: new Map() }
}

function isNames(labels: unknown): labels is readonly string[] {
  if (!Array.isArray(labels) || labels.length > MAX_LABELS) return false
  const isEach = labels.every((label) => typeof label === 'string' && LABEL.test(label))
  return isEach && new Set(labels).size === labels.length
}

function sightingsIn(entries: string, names: readonly string[]): ReadonlyMap<string, Sighting> | undefined {
  const width = HASH_DIGITS + 1 + maskDigits(names)
  const sightings = new Map<string, Sighting>()
  if (entries.length % width !== 0 || entries.length / width > MAX_REMEMBERED) return undefined
  for (let at = 0; at < entries.length; at += width) {
    const hash = entries.slice(at, at + HASH_DIGITS)
    const origin = ORIGINS.get(entries.charAt(at + HASH_DIGITS))
    const digits = entries.slice(at + HASH_DIGITS + 1, at + width)
    const mask = digits === '' ? 0 : Number.parseInt(digits, 16)
    if (!/^[0-9a-f]{12}$/.test(hash) || origin === undefined || !(mask < 2 ** names.length)) return undefined
    sightings.set(hash, { origin, mask })
  }
  return sightings
}
