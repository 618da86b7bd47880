// The strict JSON parser: the one way in for text from outside. It refuses every document that two honest
// parsers could read differently.

import { decodeUtf8, utf8Length } from './bytes.ts'
import { EvidenceError, type EvidenceErrorCode } from './error.ts'

/** Any value the strict parser can make, and the only values that can be canonicalised. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** A parsed object. Its keys are data, whatever their names: there is no prototype behind them. */
export interface JsonObject {
  readonly [key: string]: Json
}

/** Limits that are checked before any work is done. */
export interface JsonLimits {
  /** Longest document, in bytes. Default 1 MiB. */
  readonly maxBytes?: number
}

/** Deepest nesting of arrays and objects, in parsing and in canonicalising. */
export const MAX_DEPTH = 64

const DEFAULT_MAX_BYTES = 1 << 20

// Objects made by this constructor have an empty prototype: `constructor`, `toJSON` or `__proto__` in the data are
// ordinary keys. Unlike `Object.create(null)` the engine keeps them in its fast form.
const Data = function () {
  // Nothing to set up: the constructor is here for its prototype.
} as unknown as { new (): Record<string, Json>; prototype: object }
Data.prototype = Object.freeze(Object.create(null) as object)

/** The prototype of every parsed object: empty and frozen. */
export const DATA_PROTOTYPE: object = Data.prototype

/**
 * Parses one JSON text (RFC 8259), strictly.
 *
 * Refuses, each with its own code: bytes that are not UTF-8, a byte-order mark, duplicate keys (compared after
 * unescaping), lone surrogates, trailing data, `-0`, numbers outside binary64, whole numbers that binary64 writes
 * without an exponent beyond 2^53-1, more than 64 levels, more than `maxBytes` bytes.
 *
 * @throws EvidenceError with a `JSON_…` code. The message names the position, never the content.
 */
export function parseJson(input: Uint8Array | string, limits: JsonLimits = {}): Json {
  const maxBytes = limits.maxBytes ?? DEFAULT_MAX_BYTES
  if (isLonger(input, maxBytes)) {
    throw new EvidenceError('JSON_TOO_LARGE', `the document is larger than ${maxBytes} bytes`)
  }
  const text = typeof input === 'string' ? input : decodeUtf8(input)
  if (text === undefined) throw new EvidenceError('JSON_NOT_UTF8', 'the document is not UTF-8')
  if (!text.isWellFormed()) throw refuse('JSON_LONE_SURROGATE', 'holds half of a surrogate pair', 0)
  return new Parser(text).document()
}

/**
 * Copies a value into what the parser would have made of it: objects without a prototype, plain arrays. Each member is read
 * once, so that a value which shows something else on every look is one thing from here on. Texts and numbers are taken as
 * they are; `canonicalize` says whether JSON can hold them.
 *
 * @throws EvidenceError `VALUE_NOT_JSON` for what is no plain data, `JSON_TOO_DEEP` also for a cycle.
 */
export function copyJson(value: unknown): Json {
  return copy(value, 0)
}

function copy(value: unknown, depth: number): Json {
  if (
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    value === null
  ) {
    return value
  }
  if (typeof value !== 'object') throw notPlain(`a ${typeof value}`)
  if (depth >= MAX_DEPTH) {
    throw new EvidenceError('JSON_TOO_DEEP', `the value is cyclic or nests deeper than ${MAX_DEPTH} levels`)
  }
  return Array.isArray(value) ? copyArray(value, depth + 1) : copyObject(value, depth + 1)
}

function copyArray(array: readonly unknown[], depth: number): Json {
  const length = array.length
  const copied: Json[] = []
  for (let i = 0; i < length; i++) copied.push(copy(array[i], depth))
  const own = Reflect.ownKeys(array).length === length + 1
  if (!own || Object.getPrototypeOf(array) !== Array.prototype)
    throw notPlain('an array that is more than a list')
  return copied
}

function copyObject(object: object, depth: number): Json {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null && prototype !== DATA_PROTOTYPE) {
    throw notPlain('an object of a class')
  }
  if (Object.getOwnPropertySymbols(object).length > 0) throw notPlain('a symbol key')
  const copied = new Data()
  for (const key of Object.keys(object)) copied[key] = copy((object as Record<string, unknown>)[key], depth)
  return copied
}

function notPlain(what: string): EvidenceError {
  return new EvidenceError('VALUE_NOT_JSON', `the value holds ${what}, which JSON cannot express`)
}

/** Whether a number is one the parser could have made: finite, not `-0`, and unambiguous when written out. */
export function isJsonNumber(value: number): boolean {
  if (Number.isInteger(value)) {
    // From 1e21 on the written form has an exponent and no longer looks like an exact integer.
    return Number.isSafeInteger(value) ? !Object.is(value, -0) : Math.abs(value) >= 1e21
  }
  return Number.isFinite(value)
}

/** Whether the document takes more bytes than this; a UTF-16 unit of text stands for one to three of them. */
function isLonger(input: Uint8Array | string, maxBytes: number): boolean {
  if (typeof input !== 'string' || input.length > maxBytes) return input.length > maxBytes
  return 3 * input.length > maxBytes && utf8Length(input) > maxBytes
}

function refuse(code: EvidenceErrorCode, problem: string, at: number): EvidenceError {
  return new EvidenceError(code, `the document ${problem} at offset ${at}`)
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
// Everything a string may hold as it stands; the scan stops at a quote, a backslash or a control character.
const PLAIN = /[^"\\\u0000-\u001f]*/y
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

class Parser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  document(): Json {
    this.#space()
    const value = this.#value(0)
    this.#space()
    if (this.#at < this.#text.length) throw this.#malformed('has something after its end')
    return value
  }

  #value(depth: number): Json {
    switch (this.#text.charCodeAt(this.#at)) {
      case 0x7b:
        return this.#object(depth + 1)
      case 0x5b:
        return this.#array(depth + 1)
      case 0x22:
        return this.#string()
      case 0x74:
        return this.#word('true', true)
      case 0x66:
        return this.#word('false', false)
      case 0x6e:
        return this.#word('null', null)
      default:
        return this.#number()
    }
  }

  #object(depth: number): JsonObject {
    this.#enter(depth)
    const object = new Data()
    if (this.#closes(0x7d)) return object
    do {
      this.#space()
      const start = this.#at
      if (this.#text.charCodeAt(start) !== 0x22) throw this.#malformed('lacks a key')
      const key = this.#string()
      // Exact: the prototype is empty, so `in` sees only what this document has put here.
      if (key in object) throw refuse('JSON_DUPLICATE_KEY', 'has the same key twice', start)
      this.#space()
      if (this.#text.charCodeAt(this.#at++) !== 0x3a) throw this.#malformed('lacks a colon', -1)
      this.#space()
      object[key] = this.#value(depth)
    } while (this.#continues(0x7d))
    return object
  }

  #array(depth: number): readonly Json[] {
    this.#enter(depth)
    const array: Json[] = []
    if (this.#closes(0x5d)) return array
    do {
      this.#space()
      array.push(this.#value(depth))
    } while (this.#continues(0x5d))
    return array
  }

  #enter(depth: number): void {
    if (depth > MAX_DEPTH) throw refuse('JSON_TOO_DEEP', `nests deeper than ${MAX_DEPTH} levels`, this.#at)
    this.#at++
  }

  /** Consumes the closing bracket of an empty array or object, if it is there. */
  #closes(bracket: number): boolean {
    this.#space()
    if (this.#text.charCodeAt(this.#at) !== bracket) return false
    this.#at++
    return true
  }

  /** Consumes a comma (true) or the closing bracket (false). */
  #continues(bracket: number): boolean {
    this.#space()
    const code = this.#text.charCodeAt(this.#at++)
    if (code === 0x2c) return true
    if (code === bracket) return false
    throw this.#malformed('lacks a comma or a closing bracket', -1)
  }

  #string(): string {
    let value = ''
    this.#at++
    while (true) {
      value += this.#match(PLAIN)
      const code = this.#text.charCodeAt(this.#at++)
      if (code === 0x22) break
      if (code !== 0x5c) throw this.#malformed('has an unfinished string or a control character', -1)
      value += this.#escape()
    }
    // The text itself is well formed; only escapes can spell half of a pair.
    if (!value.isWellFormed()) {
      throw refuse('JSON_LONE_SURROGATE', 'escapes half of a surrogate pair', this.#at)
    }
    return value
  }

  #escape(): string {
    const letter = this.#text.charAt(this.#at++)
    if (letter === 'u') {
      const digits = this.#text.slice(this.#at, this.#at + 4)
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.#malformed('has a broken unicode escape')
      this.#at += 4
      return String.fromCharCode(Number.parseInt(digits, 16))
    }
    const plain = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined
    if (plain === undefined) throw this.#malformed('has an unknown escape', -1)
    return plain
  }

  #number(): number {
    const start = this.#at
    const literal = this.#match(NUMBER)
    if (literal === '') throw this.#malformed('lacks a value')
    const value = Number(literal)
    // A number too small for binary64 would silently become nothing.
    const vanished = value === 0 && /^[^eE]*[1-9]/.test(literal)
    if (!isJsonNumber(value) || vanished) {
      throw refuse('JSON_NUMBER_REFUSED', 'has a number that parsers read differently', start)
    }
    return value
  }

  #word<T extends Json>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#malformed('has an unknown word')
    this.#at += word.length
    return value
  }

  #space(): void {
    while (true) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
      this.#at++
    }
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    // Unlike `exec`, `test` makes nothing that has to be thrown away again.
    if (!pattern.test(this.#text)) return ''
    const found = this.#text.slice(this.#at, pattern.lastIndex)
    this.#at = pattern.lastIndex
    return found
  }

  #malformed(problem: string, back = 0): EvidenceError {
    return refuse('JSON_MALFORMED', problem, this.#at + back)
  }
}
