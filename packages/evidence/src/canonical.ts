// Canonical JSON (RFC 8785): the only form that is ever hashed or signed.

import { decodeUtf8, utf8 } from './bytes.ts'
import { EvidenceError } from './error.ts'
import { isJsonNumber } from './json-number.ts'
import { DATA_PROTOTYPE, MAX_DEPTH, parseJson, type Json } from './json.ts'

/** Bounds of writing. */
export interface CanonicalLimits {
  /** Longest text, in characters. Default 4 Mi. Shared parts of a value are written out each time, so depth is no bound. */
  readonly maxLength?: number
}

const DEFAULT_MAX_LENGTH = 4 << 20
const MAX_NATIVE = 1 << 20

/**
 * The canonical text of `value` (RFC 8785).
 *
 * Takes only what `parseJson` could have made: null, booleans, numbers it accepts, well-formed strings, dense
 * arrays, plain objects. `toJSON` is never called; keys of any name are data. Each member is read once.
 *
 * @throws EvidenceError `VALUE_NOT_JSON`, `JSON_NUMBER_REFUSED`, `JSON_LONE_SURROGATE`, `JSON_TOO_DEEP` (also for a
 * cycle) or `JSON_TOO_LARGE`.
 */
export function canonicalize(value: unknown, limits: CanonicalLimits = {}): string {
  const maxLength = limits.maxLength ?? DEFAULT_MAX_LENGTH
  const text = write(value, 0, maxLength)
  bounded(text, maxLength)
  return text
}

/** The canonical text of `value`, as UTF-8. Throws as `canonicalize` does. */
export function canonicalBytes(value: unknown, limits: CanonicalLimits = {}): Uint8Array {
  return utf8(canonicalize(value, limits))
}

/**
 * Parses text that must already be canonical, for formats whose fields are known: its objects are ordinary ones, with a
 * prototype behind them. What comes from anywhere else goes through `parseJson`.
 *
 * @throws EvidenceError as `parseJson` does, or `JSON_NOT_CANONICAL` for JSON in any other spelling.
 */
export function parseCanonical(input: Uint8Array | string, maxBytes: number): Json {
  if (input.length > maxBytes) {
    throw new EvidenceError('JSON_TOO_LARGE', `the document is larger than ${maxBytes} bytes`)
  }
  const text = typeof input === 'string' ? input : decodeUtf8(input)
  if (text === undefined) throw new EvidenceError('JSON_NOT_UTF8', 'the document is not UTF-8')
  // The engine goes as deep as the text does, and takes memory for it; a long text goes the strict way at once.
  const quick = text.length <= MAX_NATIVE ? parseNative(text) : undefined
  if (quick !== undefined) return quick
  // Only for the sake of a precise message: what is wrong, and where.
  const value = parseJson(text, { maxBytes })
  if (write(value, 0, Number.POSITIVE_INFINITY) === text) return value
  throw new EvidenceError('JSON_NOT_CANONICAL', 'the document is not in canonical form (RFC 8785)')
}

/**
 * The engine's parser is lenient, but whatever it makes of a text, only one text is the canonical form of that value: if
 * writing it gives the same text back, no key twice, odd number or odd spelling was in it.
 */
function parseNative(text: string): Json | undefined {
  try {
    // Sound: `write` throws for anything outside of Json.
    const value = JSON.parse(text) as Json
    return write(value, 0, text.length) === text ? value : undefined
  } catch {
    // Not JSON, or not our JSON; the strict parser says which.
    return undefined
  }
}

function write(value: unknown, depth: number, maxLength: number): string {
  switch (typeof value) {
    case 'string':
      return quote(value)
    case 'number':
      if (isJsonNumber(value)) return formatNumber(value)
      throw new EvidenceError('JSON_NUMBER_REFUSED', 'a number is not finite, is -0, or is beyond 2^53-1')
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (depth >= MAX_DEPTH) {
        throw new EvidenceError(
          'JSON_TOO_DEEP',
          `the value is cyclic or nests deeper than ${MAX_DEPTH} levels`,
        )
      }
      return Array.isArray(value)
        ? writeArray(value, depth + 1, maxLength)
        : writeObject(value, depth + 1, maxLength)
    case 'undefined':
    case 'bigint':
    case 'symbol':
    case 'function':
      throw notJson(`a ${typeof value}`)
  }
}

/** A number as ECMAScript writes it (RFC 8785, 3.2.2.3), for any finite binary64; `-0` is written `0`. */
export function formatNumber(value: number): string {
  return String(value)
}

// Characters that need an escape or might be half of a surrogate pair, spelled as what is none of the others: quicker.
const SPECIAL = /[^ !#-[\]-\ud7ff\ue000-\uffff]/

/** A text as canonical JSON writes it. */
export function quote(text: string): string {
  if (!SPECIAL.test(text)) return `"${text}"`
  if (!text.isWellFormed()) {
    throw new EvidenceError('JSON_LONE_SURROGATE', 'a string holds half of a surrogate pair')
  }
  // For well-formed text this is exactly the escaping of RFC 8785, 3.2.2.2.
  return JSON.stringify(text)
}

function writeArray(array: readonly unknown[], depth: number, maxLength: number): string {
  if (Object.getPrototypeOf(array) !== Array.prototype) throw notJson('an array of a class')
  const length = array.length
  let text = '['
  for (let i = 0; i < length; i++) {
    if (i > 0) text += ','
    text += write(array[i], depth, maxLength) // a hole reads as undefined and is refused
    bounded(text, maxLength)
  }
  // Named properties would be lost without a word.
  const named = Object.keys(array).length !== length || Object.getOwnPropertySymbols(array).length > 0
  if (named) throw notJson('an array with properties of its own')
  return text + ']'
}

function writeObject(object: object, depth: number, maxLength: number): string {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null && prototype !== DATA_PROTOTYPE) {
    throw notJson('an object of a class')
  }
  if (Object.getOwnPropertySymbols(object).length > 0) throw notJson('a symbol key')
  let text = ''
  for (const [key, opening] of layoutOf(Object.keys(object))) {
    const value = (object as Record<string, unknown>)[key]
    // Most values are plain text; put on piece by piece, the engine joins them with the least work.
    if (typeof value === 'string' && !SPECIAL.test(value)) text = text + opening + '"' + value + '"'
    else text += opening + write(value, depth, maxLength)
    bounded(text, maxLength)
  }
  return text === '' ? '{}' : `${text}}`
}

/** The keys of an object in canonical order, each with the text that stands before its value. */
type Layout = readonly (readonly [key: string, opening: string])[]

// Objects of the same few shapes come again and again, so their layouts are kept. Full, the table is no longer added to.
const layouts = new Map<string, Layout>()
const MAX_LAYOUTS = 500
const MAX_LAYOUT_KEYS = 64

function layoutOf(keys: string[]): Layout {
  if (keys.length > MAX_LAYOUT_KEYS) return layOut(keys)
  const name = keys.join('\t')
  const known = layouts.get(name)
  // Kept keys hold no tab. A list with a tab in a key and the same name is therefore shorter than the kept one.
  if (known?.length === keys.length) return known
  const layout = layOut(keys)
  if (layouts.size < MAX_LAYOUTS && name.length < 2000 && !keys.some((key) => key.includes('\t'))) {
    layouts.set(name, layout)
  }
  return layout
}

function layOut(keys: string[]): Layout {
  keys.sort() // by UTF-16 units, RFC 8785, 3.2.3
  return keys.map((key, i) => [key, `${i === 0 ? '{' : ','}${quote(key)}:`])
}

function bounded(text: string, maxLength: number): void {
  if (text.length > maxLength) {
    throw new EvidenceError('JSON_TOO_LARGE', `the canonical form is longer than ${maxLength} characters`)
  }
}

function notJson(what: string): EvidenceError {
  return new EvidenceError('VALUE_NOT_JSON', `the value holds ${what}, which JSON cannot express`)
}
