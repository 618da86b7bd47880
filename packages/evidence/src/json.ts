// The strict JSON parser: the one way in for text from outside. It refuses every document that two honest
// parsers could read differently.

import { decodeUtf8, utf8Length } from './bytes.ts'
import { EvidenceError, type EvidenceErrorCode } from './error.ts'
import { isJsonNumber, losesDigits } from './json-number.ts'

/** Any value the strict parser can make, and the only values that can be canonicalised. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** A parsed object. Its keys are data, whatever their names: there is no prototype behind them. */
export interface JsonObject {
  readonly [key: string]: Json
}

/** Whether a value is an object with keys: not null, not a list. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value is a list. Unlike `Array.isArray` it narrows to what is in one. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

/** Limits that are checked before any work is done. */
export interface JsonLimits {
  /** Longest document, in bytes. Default 1 MiB. */
  readonly maxBytes?: number
  /** Most values in it: scalars, arrays and objects, each counted once. Default `MAX_VALUES`. */
  readonly maxValues?: number
}

/** Deepest nesting of arrays and objects, in parsing and in canonicalising. */
export const MAX_DEPTH = 64

/**
 * Most values in a document or a copied value, unless a caller says otherwise. A value costs up to 200 bytes of memory and three
 * bytes of text, so the length of a text is no bound on what reading it costs.
 */
export const MAX_VALUES = 250_000

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
 * unescaping), lone surrogates, trailing data, `-0`, numbers outside binary64, whole numbers beyond 2^53-1 (from 1e21 on
 * those that have an exponent and lose no digit are taken), more than 64 levels, more than `maxBytes` bytes, more than
 * `maxValues` values.
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
  return new Parser(text, limits.maxValues ?? MAX_VALUES).document()
}

/**
 * Copies a value into what the parser would have made of it: objects without a prototype, plain arrays. Each member is read
 * once, so that a value which shows something else on every look is one thing from here on. Texts and numbers are taken as
 * they are; `canonicalize` says whether JSON can hold them.
 *
 * @throws EvidenceError `VALUE_NOT_JSON` for what is no plain data, `JSON_TOO_DEEP` also for a cycle, `JSON_TOO_MANY_VALUES`
 * for more than `MAX_VALUES`; a part that is shared counts as often as it would be written.
 */
export function copyJson(value: unknown): Json {
  return copy(value, 0, { left: MAX_VALUES })
}

function copy(value: unknown, depth: number, budget: { left: number }): Json {
  if (--budget.left < 0) {
    throw new EvidenceError('JSON_TOO_MANY_VALUES', `the value holds more than ${MAX_VALUES} values`)
  }
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
  return Array.isArray(value) ? copyArray(value, depth + 1, budget) : copyObject(value, depth + 1, budget)
}

function copyArray(array: readonly unknown[], depth: number, budget: { left: number }): Json {
  const length = array.length
  const copied: Json[] = []
  for (let i = 0; i < length; i++) copied.push(copy(array[i], depth, budget))
  const own = Reflect.ownKeys(array).length === length + 1
  if (!own || Object.getPrototypeOf(array) !== Array.prototype)
    throw notPlain('an array that is more than a list')
  return copied
}

function copyObject(object: object, depth: number, budget: { left: number }): Json {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null && prototype !== DATA_PROTOTYPE) {
    throw notPlain('an object of a class')
  }
  if (Object.getOwnPropertySymbols(object).length > 0) throw notPlain('a symbol key')
  const copied = new Data()
  for (const key of Object.keys(object)) {
    copied[key] = copy((object as Record<string, unknown>)[key], depth, budget)
  }
  return copied
}

function notPlain(what: string): EvidenceError {
  return new EvidenceError('VALUE_NOT_JSON', `the value holds ${what}, which JSON cannot express`)
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
// What may stand after a backslash by itself.
const ESCAPES: ReadonlySet<number> = new Set(Array.from('"\\/bfnrt', (letter) => letter.charCodeAt(0)))

function isHexDigit(code: number): boolean {
  const letter = code | 0x20
  return (code >= 0x30 && code <= 0x39) || (letter >= 0x61 && letter <= 0x66)
}

class Parser {
  readonly #text: string
  readonly #most: number
  #at = 0
  #values = 0

  constructor(text: string, most: number) {
    this.#text = text
    this.#most = most
  }

  document(): Json {
    this.#space()
    const value = this.#value(0)
    this.#space()
    if (this.#at < this.#text.length) throw this.#malformed('has something after its end')
    return value
  }

  #value(depth: number): Json {
    if (++this.#values > this.#most) {
      throw refuse('JSON_TOO_MANY_VALUES', `holds more than ${this.#most} values`, this.#at)
    }
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
    const start = this.#at++
    this.#skip(PLAIN)
    const code = this.#text.charCodeAt(this.#at++)
    if (code === 0x22) return this.#text.slice(start + 1, this.#at - 1)
    if (code === 0x5c) return this.#escaped(start)
    throw this.#malformed('has an unfinished string or a control character', -1)
  }

  /** The string that begins at `start`, read up to its first backslash. */
  #escaped(start: number): string {
    for (let code = 0x5c; code !== 0x22; code = this.#text.charCodeAt(this.#at++)) {
      if (code === 0x5c) this.#escape()
      // The end of the text is not a number, and no code at all.
      else if (!(code >= 0x20)) throw this.#malformed('has an unfinished string or a control character', -1)
    }
    return this.#unescaped(start)
  }

  /** Moves past what stands after a backslash. */
  #escape(): void {
    const letter = this.#text.charCodeAt(this.#at++)
    if (letter === 0x75) {
      for (let i = 0; i < 4; i++) {
        if (!isHexDigit(this.#text.charCodeAt(this.#at + i)))
          throw this.#malformed('has a broken unicode escape')
      }
      this.#at += 4
    } else if (!ESCAPES.has(letter)) throw this.#malformed('has an unknown escape', -1)
  }

  /** The string that begins at `start` and ends here, every escape of which was checked. */
  #unescaped(start: number): string {
    // The engine puts it together in one piece; ours would be a chain of as many pieces as there are escapes.
    const value = JSON.parse(this.#text.slice(start, this.#at)) as string
    // The text itself is well formed; only escapes can spell half of a pair.
    if (!value.isWellFormed()) {
      throw refuse('JSON_LONE_SURROGATE', 'escapes half of a surrogate pair', this.#at)
    }
    return value
  }

  #number(): number {
    const start = this.#at
    if (!this.#skip(NUMBER)) throw this.#malformed('lacks a value')
    const literal = this.#text.slice(start, this.#at)
    const value = Number(literal)
    if (!isJsonNumber(value) || losesDigits(literal, value)) {
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

  /** Moves past what the pattern matches here. Whether it does. */
  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at
    // Unlike `exec`, `test` makes nothing that has to be thrown away again.
    if (!pattern.test(this.#text)) return false
    this.#at = pattern.lastIndex
    return true
  }

  #malformed(problem: string, back = 0): EvidenceError {
    return refuse('JSON_MALFORMED', problem, this.#at + back)
  }
}
