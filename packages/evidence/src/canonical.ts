// Canonical JSON (RFC 8785), the only form that is hashed or signed.

import { decodeUtf8, utf8 } from './bytes.ts'
import { EvidenceError } from './error.ts'
import { isJsonNumber } from './json-number.ts'
import { DATA_PROTOTYPE, MAX_DEPTH, parseJson, type Json } from './json.ts'

/** Limits of the canonical text. */
export interface CanonicalLimits {
  /** Maximum length in characters. Default 4 Mi. Shared parts of a value are written each time, so depth alone is no bound. */
  readonly maxLength?: number
}

const DEFAULT_MAX_LENGTH = 4 << 20
const MAX_NATIVE_LENGTH = 1 << 20

/**
 * The canonical text of `value` (RFC 8785).
 *
 * Accepts only values that `parseJson` can return: null, booleans, its numbers, well-formed strings, dense arrays and plain
 * objects. Never calls `toJSON`. Reads each member once.
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
 * Parses text that must be canonical. Its objects have the ordinary prototype, so use it only for formats with known fields, and
 * `parseJson` for all other input.
 *
 * @throws EvidenceError as `parseJson` does, or `JSON_NOT_CANONICAL` for JSON that is not canonical.
 */
export function parseCanonical(input: Uint8Array | string, maxBytes: number): Json {
  if (input.length > maxBytes) {
    throw new EvidenceError('JSON_TOO_LARGE', `the document is larger than ${maxBytes} bytes`)
  }
  const text = typeof input === 'string' ? input : decodeUtf8(input)
  if (text === undefined) throw new EvidenceError('JSON_NOT_UTF8', 'the document is not UTF-8')
  // The native parser has no limit on depth and memory, so long text goes to the strict parser.
  const quick = text.length <= MAX_NATIVE_LENGTH ? parseNative(text) : undefined
  if (quick !== undefined) return quick
  // The strict parser gives a precise error message.
  const value = parseJson(text, { maxBytes })
  if (write(value, 0, Number.POSITIVE_INFINITY) === text) return value
  throw new EvidenceError('JSON_NOT_CANONICAL', 'the document is not in canonical form (RFC 8785)')
}

/**
 * Parses with `JSON.parse`, which is lenient. A value has exactly one canonical text: if writing it gives the same text, the text
 * had no duplicate key and no other form of a number or a string.
 */
function parseNative(text: string): Json | undefined {
  try {
    // Sound: `write` throws for anything outside Json.
    const value = JSON.parse(text) as Json
    return write(value, 0, text.length) === text ? value : undefined
  } catch {
    // The strict parser gives the precise error.
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

/** A finite number as ECMAScript writes it (RFC 8785, 3.2.2.3). `-0` becomes `0`. */
export function formatNumber(value: number): string {
  return String(value)
}

// Characters that need an escape or can be half of a surrogate pair. The negated class is faster.
const SPECIAL = /[^ !#-[\]-\ud7ff\ue000-\uffff]/

/** A string as canonical JSON. Throws for a lone surrogate. */
export function quote(text: string): string {
  if (!SPECIAL.test(text)) return `"${text}"`
  if (!text.isWellFormed()) {
    throw new EvidenceError('JSON_LONE_SURROGATE', 'a string contains half of a surrogate pair')
  }
  // For well-formed text, the escaping is that of RFC 8785, 3.2.2.2.
  return JSON.stringify(text)
}

function writeArray(array: readonly unknown[], depth: number, maxLength: number): string {
  if (Object.getPrototypeOf(array) !== Array.prototype) throw notJson('an instance of a class')
  const length = array.length
  let text = '['
  for (let i = 0; i < length; i++) {
    if (i > 0) text += ','
    text += write(array[i], depth, maxLength) // a hole reads as undefined and is refused
    bounded(text, maxLength)
  }
  // Named properties would be lost silently.
  const named = Object.keys(array).length !== length || Object.getOwnPropertySymbols(array).length > 0
  if (named) throw notJson('an array with further properties')
  return text + ']'
}

function writeObject(object: object, depth: number, maxLength: number): string {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null && prototype !== DATA_PROTOTYPE) {
    throw notJson('an instance of a class')
  }
  if (Object.getOwnPropertySymbols(object).length > 0) throw notJson('a symbol key')
  let text = ''
  for (const [key, opening] of layoutOf(Object.keys(object))) {
    const value = (object as Record<string, unknown>)[key]
    // The common case, inlined for speed.
    if (typeof value === 'string' && !SPECIAL.test(value)) text = text + opening + '"' + value + '"'
    else text += opening + write(value, depth, maxLength)
    bounded(text, maxLength)
  }
  return text === '' ? '{}' : `${text}}`
}

/** The keys of an object in canonical order, each with the text before its value. */
type Layout = readonly (readonly [key: string, opening: string])[]

// A cache of layouts: most objects have one of a few shapes. A full cache stays as it is.
const layouts = new Map<string, Layout>()
const MAX_LAYOUTS = 500
const MAX_LAYOUT_KEYS = 64

function layoutOf(keys: string[]): Layout {
  if (keys.length > MAX_LAYOUT_KEYS) return layOut(keys)
  const name = keys.join('\t')
  const known = layouts.get(name)
  // Cached keys contain no tab, so keys with a tab and the same joined name are fewer.
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
  return new EvidenceError('VALUE_NOT_JSON', `the value contains ${what}, which JSON cannot express`)
}
