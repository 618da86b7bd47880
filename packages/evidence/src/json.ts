// The strict JSON parser for all outside text. It refuses every document that two parsers could read differently.

import { decodeUtf8, utf8Length } from './bytes.ts'
import { EvidenceError, type EvidenceErrorCode } from './error.ts'
import { isJsonNumber, losesDigits } from './json-number.ts'

/** Any value that the strict parser returns. Only these values have a canonical form. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** A parsed object. Its prototype is empty, so all keys are data. */
export interface JsonObject {
  readonly [key: string]: Json
}

/** Whether a value is an object with keys: not null, not a list. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value is a list. Unlike `Array.isArray`, it narrows the type of the items. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

/** Limits of a document. */
export interface JsonLimits {
  /** Maximum size in bytes. Default 1 MiB. */
  readonly maxBytes?: number
  /** Maximum number of values: scalars, arrays and objects. Default `MAX_VALUES`. */
  readonly maxValues?: number
}

/** Maximum nesting of arrays and objects, for parsing and for canonical JSON. */
export const MAX_DEPTH = 64

/**
 * Default maximum number of values in a document or a copied value. Three bytes of text can need 200 bytes of memory, so a limit
 * on the text alone does not bound the memory.
 */
export const MAX_VALUES = 250_000

/** Default maximum size of a document in bytes. */
export const DEFAULT_MAX_BYTES: number = 1 << 20

// Objects of this constructor have an empty prototype, so `constructor`, `toJSON` and `__proto__` are ordinary keys. Engines
// handle them faster than objects from `Object.create(null)`.
const Data = function () {
  // Empty: only the prototype is needed.
} as unknown as { new (): Record<string, Json>; prototype: object }
Data.prototype = Object.freeze(Object.create(null) as object)

/** The prototype of every parsed object: empty and frozen. */
export const DATA_PROTOTYPE: object = Data.prototype

/**
 * Parses one JSON text (RFC 8259), strictly.
 *
 * Refuses bytes that are not UTF-8, a byte-order mark, duplicate keys (compared after unescaping), lone surrogates, trailing
 * data, `-0`, numbers outside binary64, whole numbers beyond 2^53-1 (except from 1e21 on with an exponent and no lost digit),
 * more than 64 levels, more than `maxBytes` bytes and more than `maxValues` values.
 *
 * @throws EvidenceError with a `JSON_…` code. The message has the position, never the content.
 */
export function parseJson(input: Uint8Array | string, limits: JsonLimits = {}): Json {
  const maxBytes = limits.maxBytes ?? DEFAULT_MAX_BYTES
  if (isLonger(input, maxBytes)) {
    throw new EvidenceError('JSON_TOO_LARGE', `the document is larger than ${maxBytes} bytes`)
  }
  const text = typeof input === 'string' ? input : decodeUtf8(input)
  if (text === undefined) throw new EvidenceError('JSON_NOT_UTF8', 'the document is not UTF-8')
  if (!text.isWellFormed()) throw refuse('JSON_LONE_SURROGATE', 'contains half of a surrogate pair', 0)
  return new Parser(text, limits.maxValues ?? MAX_VALUES).document()
}

/**
 * Copies a value into objects without a prototype and plain arrays, as the parser returns them. Reads each member once, so a
 * getter cannot return different values later. Does not check strings and numbers; `canonicalize` does.
 *
 * @throws EvidenceError `VALUE_NOT_JSON` for anything but plain data, `JSON_TOO_DEEP` also for a cycle, `JSON_TOO_MANY_VALUES` for
 * more than `MAX_VALUES`. A shared part counts each time it occurs.
 */
export function copyJson(value: unknown): Json {
  return copy(value, 0, { left: MAX_VALUES })
}

function copy(value: unknown, depth: number, budget: { left: number }): Json {
  if (--budget.left < 0) {
    throw new EvidenceError('JSON_TOO_MANY_VALUES', `the value contains more than ${MAX_VALUES} values`)
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
    throw notPlain('an array with further properties')
  return copied
}

function copyObject(object: object, depth: number, budget: { left: number }): Json {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null && prototype !== DATA_PROTOTYPE) {
    throw notPlain('an instance of a class')
  }
  if (Object.getOwnPropertySymbols(object).length > 0) throw notPlain('a symbol key')
  const copied = new Data()
  for (const key of Object.keys(object)) {
    copied[key] = copy((object as Record<string, unknown>)[key], depth, budget)
  }
  return copied
}

function notPlain(what: string): EvidenceError {
  return new EvidenceError('VALUE_NOT_JSON', `the value contains ${what}, which JSON cannot express`)
}

/** Whether the document has more than `maxBytes` bytes. A UTF-16 unit has one to three bytes in UTF-8. */
function isLonger(input: Uint8Array | string, maxBytes: number): boolean {
  if (typeof input !== 'string' || input.length > maxBytes) return input.length > maxBytes
  return 3 * input.length > maxBytes && utf8Length(input) > maxBytes
}

function refuse(code: EvidenceErrorCode, problem: string, at: number): EvidenceError {
  return new EvidenceError(code, `the document ${problem} at offset ${at}`)
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
// The unescaped characters of a string: all but quotes, backslashes and control characters.
const PLAIN = /[^"\\\u0000-\u001f]*/y
// The characters of the short escapes.
const ESCAPES: ReadonlySet<number> = new Set(Array.from('"\\/bfnrt', (letter) => letter.charCodeAt(0)))

function isHexDigit(code: number): boolean {
  const letter = code | 0x20
  return (code >= 0x30 && code <= 0x39) || (letter >= 0x61 && letter <= 0x66)
}

class Parser {
  readonly #text: string
  readonly #maxValues: number
  #at = 0
  #values = 0

  constructor(text: string, maxValues: number) {
    this.#text = text
    this.#maxValues = maxValues
  }

  document(): Json {
    this.#space()
    const value = this.#value(0)
    this.#space()
    if (this.#at < this.#text.length) throw this.#malformed('has trailing data')
    return value
  }

  #value(depth: number): Json {
    if (++this.#values > this.#maxValues) {
      throw refuse('JSON_TOO_MANY_VALUES', `contains more than ${this.#maxValues} values`, this.#at)
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
      // The prototype is empty, so `in` finds only keys of this object.
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

  /** Consumes a closing bracket, if it is next. Returns whether it was. */
  #closes(bracket: number): boolean {
    this.#space()
    if (this.#text.charCodeAt(this.#at) !== bracket) return false
    this.#at++
    return true
  }

  /** Consumes a comma (returns true) or the closing bracket (returns false). */
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

  /** Reads the rest of the string that begins at `start`, from its first backslash on. */
  #escaped(start: number): string {
    for (let code = 0x5c; code !== 0x22; code = this.#text.charCodeAt(this.#at++)) {
      if (code === 0x5c) this.#escape()
      // At the end of the text the code is NaN.
      else if (!(code >= 0x20)) throw this.#malformed('has an unfinished string or a control character', -1)
    }
    return this.#unescaped(start)
  }

  /** Moves past the rest of an escape. */
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

  /** The string from `start` to here. Its escapes are already checked. */
  #unescaped(start: number): string {
    // Faster than joining one piece per escape.
    const value = JSON.parse(this.#text.slice(start, this.#at)) as string
    // The text is well formed, so only an escape can be a lone surrogate.
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

  /** Moves past a match of the pattern. Returns whether it matched. */
  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at
    // `test` allocates nothing, unlike `exec`.
    if (!pattern.test(this.#text)) return false
    this.#at = pattern.lastIndex
    return true
  }

  #malformed(problem: string, back = 0): EvidenceError {
    return refuse('JSON_MALFORMED', problem, this.#at + back)
  }
}
