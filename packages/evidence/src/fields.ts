// Field checks for wire data: small, total functions, so that the shape of every kind is a table that can be read.

import { shown } from './error.ts'
import type { Json, JsonObject } from './json.ts'

/** One field: what it must be, in words, and the check. */
export interface Field {
  readonly expected: string
  readonly optional: boolean
  readonly accepts: (value: Json) => boolean
}

/** Fields by name. */
export type Fields = Readonly<Record<string, Field>>

/** An object of exactly these fields, in a form that is quick to check. */
export type Shape = readonly (Field & { readonly name: string })[]

/** The shape of objects that have these fields and no others. */
export function shape(fields: Fields): Shape {
  return Object.entries(fields).map(([name, field]) => ({ name, ...field }))
}

/**
 * What is wrong with `value` as an object of this shape, or undefined if nothing is. Names fields, never values.
 */
export function problemWith(value: Json, shape: Shape): string | undefined {
  if (!isObject(value)) return 'it is not an object'
  let found = 0
  for (const { name, optional, accepts, expected } of shape) {
    // No field is named like a property that all objects have, so what is there is the object's own.
    const member = value[name]
    if (member === undefined) {
      if (!optional) return `\`${name}\` is missing`
    } else if (accepts(member)) found++
    else return `\`${name}\` is not ${expected}`
  }
  const keys = Object.keys(value)
  if (keys.length === found) return undefined
  const unknown = keys.find((key) => !shape.some(({ name }) => name === key)) ?? ''
  return `it has a field that is not known here: \`${shown(unknown)}\``
}

/** Makes a field optional: it may be absent, but if it is there it must be right. */
export function optional(field: Field): Field {
  return { ...field, optional: true }
}

/** Text of 1 to `max` UTF-16 units, without control characters. */
export function text(max: number): Field {
  return required(
    `text of 1 to ${max} characters`,
    (value) => typeof value === 'string' && value.length > 0 && value.length <= max && !CONTROL.test(value),
  )
}

/** A whole number from 0 to `max`. */
export function count(max: number = Number.MAX_SAFE_INTEGER): Field {
  return required(
    `a whole number from 0 to ${max}`,
    (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= max,
  )
}

/** One of a closed list of words. */
export function word(...words: readonly string[]): Field {
  const allowed = new Set<Json>(words)
  return required(`one of ${words.join(', ')}`, (value) => allowed.has(value))
}

/** Text in exactly one form. */
export function form(expected: string, pattern: RegExp): Field {
  return required(expected, (value) => typeof value === 'string' && pattern.test(value))
}

/** A list of at most `max` items; repetitions are not looked for. */
export function array(item: Field, max: number): Field {
  return required(
    `a list of at most ${max}, each ${item.expected}`,
    (value) => Array.isArray(value) && value.length <= max && value.every(item.accepts),
  )
}

/** A list of at most `max` items, none of them twice. */
export function list(item: Field, max: number): Field {
  return required(
    `a list of at most ${max}, each once, each ${item.expected}`,
    (value) =>
      Array.isArray(value) &&
      value.length <= max &&
      value.every(item.accepts) &&
      new Set(value).size === value.length,
  )
}

/** An object of exactly these fields. */
export function record(fields: Fields): Field {
  const whole = shape(fields)
  return required(
    `an object of ${Object.keys(fields).join(', ')}`,
    (value) => problemWith(value, whole) === undefined,
  )
}

/** `true` or `false`. */
export const flag: Field = required('true or false', (value) => typeof value === 'boolean')

/** SHA-256 in hexadecimal. */
export const hash: Field = required(
  'a SHA-256 in lower-case hexadecimal',
  (value) => typeof value === 'string' && value.length === 64 && isHex(value),
)

/** A number with four decimals, as text: `0.3800`. */
export const decimal: Field = form(
  'a decimal with four places',
  /^(?:-(?!0\.0000$))?(?:0|[1-9][0-9]{0,9})\.[0-9]{4}$/,
)

/** 32 bytes in base64: a hash, or a key (that it is a good one is checked where keys are imported). */
export const bytes32: Field = form('32 bytes in base64', /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/)

/** A moment in UTC with milliseconds: `2026-01-31T23:59:59.000Z`. */
export const moment: Field = required(
  'a moment like `2026-01-31T23:59:59.000Z`',
  (value) => typeof value === 'string' && MOMENT.test(value) && daysIn(value) >= Number(value.slice(8, 10)),
)

/** Whether a value is an object with keys (not null, not an array). */
export function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const HEX_DIGIT = new Uint8Array(128)
for (const digit of '0123456789abcdef') HEX_DIGIT[digit.charCodeAt(0)] = 1

/** Receipts are mostly hashes. Looked up, a digit and a letter cost the same; a pattern mispredicts at every other one. */
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

function required(expected: string, accepts: (value: Json) => boolean): Field {
  return { expected, optional: false, accepts }
}
