// Reads the body of a request once, strictly. Long base64 data stays in the received bytes; the parsed value holds a mark
// instead, so that it is never in memory twice.

import { randomBytes } from 'node:crypto'
import { TextDecoder } from 'node:util'
import { EvidenceError, isList, isObject, parseJson, type Json, type JsonObject } from '@tollgate/evidence'
import { ambiguous, Refused } from './dialect.ts'

export interface ReadBody {
  /** The parsed body, which may be changed. Long base64 strings are marks. */
  readonly value: JsonObject
  /** A value of the body with its marks replaced by the original data. */
  restored(value: Json): Json
  /** A text of the body with its mark replaced. */
  restoredText(text: string): string
  /** The bytes to forward: the received ones or, if `changed`, those of the current value. */
  written(changed: boolean): readonly Uint8Array[]
}

/**
 * Reads a body. `admit` gets the number of bytes before they are parsed, and throws if they are too many.
 * @throws Refused if it is not an object in strict JSON.
 */
export function readBody(bytes: Uint8Array, admit: (bytes: number) => void = () => undefined): ReadBody {
  const marks = new Map<string, Uint8Array>()
  const nonce = `tollgate-cut-${randomBytes(12).toString('hex')}-`
  const text = bytes.length < LONG ? bytes : withMarks(bytes, nonce, marks)
  admit(text.length + (bytes.length - text.length) / PICTURES_PER_TEXT)
  const value = parsed(text, bytes.length + (1 << 20))
  return {
    value,
    restored: (part) => (marks.size === 0 ? part : restore(part, marks)),
    restoredText: (part) => restoreText(part, marks),
    written: (changed) => (changed ? assemble(JSON.stringify(value), nonce, marks) : [bytes]),
  }
}

function parsed(text: Uint8Array | string, maxBytes: number): JsonObject {
  try {
    const value = parseJson(text, { maxBytes })
    if (isObject(value)) return value
  } catch (fault) {
    // The parser names the position, never the content.
    if (!(fault instanceof EvidenceError)) throw fault
    throw ambiguous(`the body is not strict JSON: ${fault.message}`)
  }
  throw ambiguous('the body must be a JSON object')
}

// A byte of base64 is skipped, not parsed, so it costs less than a byte of text.
const PICTURES_PER_TEXT = 16
// Shorter strings are parsed as text.
const LONG = 65_536
const QUOTE = 0x22
const BACKSLASH = 0x5c

/** The text of a body with a mark in place of each long string that is only base64, bare or as a data URL. */
function withMarks(bytes: Uint8Array, nonce: string, marks: Map<string, Uint8Array>): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let text = ''
  let from = 0
  let parts = 0
  let last = 0
  for (let start = buffer.indexOf(QUOTE); start >= 0;) {
    const end = endOfString(buffer, start)
    if (end < 0) break
    parts += partsIn(buffer, last, start)
    if (parts > MAX_PARTS) throw tooMuch()
    last = end
    if (end - start > LONG && isBase64(buffer, start + 1, end)) {
      const mark = `${nonce}${marks.size}`
      marks.set(mark, buffer.subarray(start + 1, end))
      text += `${decode(decoder, buffer.subarray(from, start + 1))}${mark}`
      from = end
    }
    start = buffer.indexOf(QUOTE, end + 1)
  }
  if (parts + partsIn(buffer, last, buffer.length) > MAX_PARTS) throw tooMuch()
  const whole = text + decode(decoder, buffer.subarray(from))
  if (whole.length > MAX_TEXT) throw tooMuch()
  return whole
}

// Parsed values take many times the memory of their text, and parsing blocks other requests.
const MAX_PARTS = 250_000
const MAX_TEXT = 8 << 20
const COMMA = 0x2c
const LIST = 0x5b
const OBJECT = 0x7b

/** The approximate number of values between two strings. */
function partsIn(buffer: Buffer, from: number, to: number): number {
  let parts = 0
  for (let at = from; at < to; at++) {
    const byte = buffer[at]
    if (byte === COMMA || byte === LIST || byte === OBJECT) parts++
  }
  return parts
}

function tooMuch(): Refused {
  const message = `the body has more than ${MAX_PARTS} values, or more than ${MAX_TEXT >> 20} MiB besides images; send less at a time`
  return new Refused(413, 'BODY_TOO_LARGE', message)
}

function decode(decoder: TextDecoder, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw ambiguous('the body is not UTF-8')
  }
}

/** The end of the string that begins at a quote; negative if it has none. */
function endOfString(buffer: Buffer, start: number): number {
  let end = buffer.indexOf(QUOTE, start + 1)
  while (end >= 0 && isEscaped(buffer, start, end)) end = buffer.indexOf(QUOTE, end + 1)
  return end
}

function isEscaped(buffer: Buffer, start: number, at: number): boolean {
  let slashes = 0
  while (at - slashes - 1 > start && buffer[at - slashes - 1] === BACKSLASH) slashes++
  return slashes % 2 === 1
}

const DATA_URL = /^data:[\w.+/-]{1,100};base64,/
const BASE64 = /^[A-Za-z0-9+/_=-]*$/
const AT_ONCE = 65_536

function isBase64(buffer: Buffer, start: number, end: number): boolean {
  const [prefix = ''] = DATA_URL.exec(buffer.toString('latin1', start, start + 128)) ?? []
  for (let at = start + prefix.length; at < end; at += AT_ONCE) {
    if (!BASE64.test(buffer.toString('latin1', at, Math.min(at + AT_ONCE, end)))) return false
  }
  return true
}

function restoreText(text: string, marks: ReadonlyMap<string, Uint8Array>): string {
  const cut = marks.get(text)
  return cut ? Buffer.from(cut.buffer, cut.byteOffset, cut.byteLength).toString('latin1') : text
}

function restore(value: Json, marks: ReadonlyMap<string, Uint8Array>): Json {
  if (typeof value === 'string') return restoreText(value, marks)
  if (isList(value)) return value.map((item) => restore(item, marks))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, restore(member, marks)]))
}

/** The bytes of a text with its marks replaced by the original data. */
function assemble(
  text: string,
  nonce: string,
  marks: ReadonlyMap<string, Uint8Array>,
): readonly Uint8Array[] {
  const pieces: Uint8Array[] = []
  let from = 0
  for (let at = text.indexOf(nonce); at >= 0; at = text.indexOf(nonce, from)) {
    const end = text.indexOf('"', at)
    const cut = marks.get(text.slice(at, end))
    pieces.push(Buffer.from(text.slice(from, cut ? at : end)), ...(cut ? [cut] : []))
    from = end
  }
  pieces.push(Buffer.from(text.slice(from)))
  return pieces
}
