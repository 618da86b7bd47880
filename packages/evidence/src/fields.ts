// Tables of fields that check a value and write its canonical text. Both happen in one read of the value, so the written text is
// exactly the checked value.

import { quote } from './canonical.ts'
import { shown } from './error.ts'
import { DATA_PROTOTYPE, isObject, type Json, type JsonObject } from './json.ts'

/** One field: a description of its valid values, and how to write them. */
export interface Field {
  readonly expected: string
  readonly optional: boolean
  /** The canonical text of a valid value; undefined for an invalid one. */
  readonly write: (value: Json) => string | undefined
}

/** Fields by name. */
export type Fields = Readonly<Record<string, Field>>

/** A field with its name in an object. */
interface NamedField extends Field {
  readonly name: string
  /** The text before its value. */
  readonly opening: string
  // A cache: consecutive receipts mostly repeat the ledger, the key and the policy.
  last: Json | undefined
  lastText: string
}

/** An object of exactly these fields, in canonical order. */
export type Shape = readonly NamedField[]

/** The shape of objects that have these fields and no others. */
export function shape(fields: Fields): Shape {
  const names = Object.keys(fields).sort()
  return names.map((name) => ({
    // Sound: the names are the keys of the table.
    ...(fields[name] as Field),
    name,
    opening: `,${quote(name)}:`,
    last: undefined,
    lastText: '',
  }))
}

/** The canonical text (RFC 8785) of an object of this shape; undefined for anything else. */
export function writeShape(value: Json, shape: Shape): string | undefined {
  if (!isPlain(value)) return undefined
  let text = ''
  let found = 0
  for (const field of shape) {
    // A plain object inherits no property with the name of a field.
    const member = value[field.name]
    if (member === undefined && field.optional) continue
    const written = member === undefined ? undefined : writeMember(field, member)
    if (written === undefined) return undefined
    text += field.opening + written
    found++
  }
  return Object.keys(value).length === found ? `{${text.slice(1)}}` : undefined
}

function writeMember(field: NamedField, member: Json): string | undefined {
  if (member === field.last) return field.lastText
  const written = field.write(member)
  // Only text is cached: it cannot change, and it is the slowest to check.
  if (written !== undefined && typeof member === 'string') {
    field.last = member
    field.lastText = written
  }
  return written
}

/** Describes why `value` does not have this shape; undefined if it does. Names fields, never values. */
export function problemWith(value: Json, shape: Shape): string | undefined {
  if (writeShape(value, shape) !== undefined) return undefined
  if (!isObject(value)) return 'it is not an object'
  if (!isPlain(value)) return 'it is an instance of a class'
  for (const { name, optional, write, expected } of shape) {
    const member = value[name]
    if (member === undefined && !optional) return `\`${name}\` is missing`
    if (member !== undefined && write(member) === undefined) return `\`${name}\` is not ${expected}`
  }
  const unknown = Object.keys(value).find((key) => !shape.some(({ name }) => name === key))
  if (unknown === undefined) return 'a field is undefined; leave it out'
  return `it has an unknown field \`${shown(unknown)}\``
}

/** Makes a field optional: missing or valid. */
export function optional(field: Field): Field {
  return { ...field, optional: true }
}

/** Text that passes a test. */
export function textThat(expected: string, holds: (text: string) => boolean): Field {
  return required(expected, (value) => (typeof value === 'string' && holds(value) ? quote(value) : undefined))
}

/** Text of 1 to `max` UTF-16 units, without control characters. */
export function text(max: number): Field {
  return textThat(
    `text of 1 to ${max} characters`,
    (value) => value.length > 0 && value.length <= max && !CONTROL.test(value),
  )
}

/** Text that matches a pattern. */
export function form(expected: string, pattern: RegExp): Field {
  return textThat(expected, (value) => pattern.test(value))
}

/** A whole number from 0 to `max`. */
export function count(max: number = Number.MAX_SAFE_INTEGER): Field {
  return required(`a whole number from 0 to ${max}`, (value) => {
    const counts = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= max
    return counts && !Object.is(value, -0) ? String(value) : undefined
  })
}

/** Exactly this value. */
export function only(value: true | number): Field {
  return required(String(value), (other) => (other === value ? String(value) : undefined))
}

/** One of a closed list of words. */
export function word(...words: readonly string[]): Field {
  const written = new Map<Json, string>(words.map((allowed) => [allowed, quote(allowed)]))
  return required(`one of ${words.join(', ')}`, (value) => written.get(value))
}

/** A list of at most `max` items. Duplicates are allowed. */
export function array(item: Field, max: number): Field {
  return required(`a list of at most ${max}, each ${item.expected}`, (value) =>
    Array.isArray(value) && value.length <= max ? writeItems(value, item) : undefined,
  )
}

/** A list of at most `max` items without duplicates. */
export function list(item: Field, max: number): Field {
  return required(`a list of at most ${max}, each once, each ${item.expected}`, (value) =>
    Array.isArray(value) && value.length <= max && new Set(value).size === value.length
      ? writeItems(value, item)
      : undefined,
  )
}

/** An object of exactly these fields. */
export function record(fields: Fields): Field {
  const whole = shape(fields)
  return required(`an object of ${Object.keys(fields).join(', ')}`, (value) => writeShape(value, whole))
}

/** `true` or `false`. */
export const flag: Field = required('true or false', (value) =>
  typeof value === 'boolean' ? String(value) : undefined,
)

/** SHA-256 in hexadecimal. */
export const hash: Field = required('a SHA-256 in lower-case hexadecimal', (value) =>
  typeof value === 'string' && value.length === 64 && isHex(value) ? `"${value}"` : undefined,
)

/** A number with four decimals, as text: `0.3800`. */
export const decimal: Field = form(
  'a decimal with four places',
  /^(?:-(?!0\.0000$))?(?:0|[1-9][0-9]{0,9})\.[0-9]{4}$/,
)

/** 32 bytes in base64: a hash or a key. `importPublicKey` checks the strength of keys. */
export const bytes32: Field = form('32 bytes in base64', /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/)

/** A UTC timestamp with milliseconds: `2026-01-31T23:59:59.000Z`. */
export const moment: Field = textThat(
  'a timestamp like `2026-01-31T23:59:59.000Z`',
  (value) => MOMENT.test(value) && daysIn(value) >= Number(value.slice(8, 10)),
)

function isPlain(value: Json): value is JsonObject {
  if (!isObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || prototype === DATA_PROTOTYPE
}

function writeItems(items: readonly Json[], { write }: Field): string | undefined {
  let text = ''
  for (let i = 0; i < items.length; i++) {
    // Sound: a hole reads as undefined, which no field accepts.
    const written = write(items[i] as Json)
    if (written === undefined) return undefined
    text += (i === 0 ? '' : ',') + written
  }
  return `[${text}]`
}

const HEX_DIGIT = new Uint8Array(128)
for (const digit of '0123456789abcdef') HEX_DIGIT[digit.charCodeAt(0)] = 1

/** A table is faster than a pattern here, and receipts are mostly hashes. */
function isHex(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (HEX_DIGIT[text.charCodeAt(i)] !== 1) return false
  return true
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/
const MOMENT =
  /^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3])(?::[0-5][0-9]){2}\.[0-9]{3}Z$/

function daysIn(date: string): number {
  const [year, month] = [Number(date.slice(0, 4)), Number(date.slice(5, 7))]
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

function required(expected: string, write: (value: Json) => string | undefined): Field {
  return { expected, optional: false, write }
}
