// The standard functions of CEL. A method is the function of the same name with the receiver as first argument.

import { int, uint } from './arithmetic.ts'
import { Failure } from './failure.ts'
import type { Frame } from './frame.ts'
import {
  calendarOf,
  DURATION_FIELDS,
  formatDuration,
  formatTimestamp,
  offsetOf,
  parseDuration,
} from './time.ts'
import { parseTimestamp, secondsOf, TIMESTAMP_FIELDS, timestampAt } from './time.ts'
import {
  Bytes,
  Duration,
  isList,
  isMap,
  sizeOfMap,
  Timestamp,
  TypeName,
  typeOf,
  Uint,
  type CelValue,
} from './value.ts'

/** A function of one value. @throws Failure if it is not defined for the value. */
export type Unary = (value: CelValue, frame: Frame) => CelValue
/** A function of two values. @throws Failure if it is not defined for the values. */
export type Binary = (a: CelValue, b: CelValue, frame: Frame) => CelValue

/** The functions, by how they are called. */
interface Library {
  readonly functions: ReadonlyMap<string, Unary>
  readonly methods: ReadonlyMap<string, Unary>
  readonly binaryMethods: ReadonlyMap<string, Binary>
}

function undefinedFor(name: string, ...values: readonly CelValue[]): Failure {
  return new Failure(`\`${name}(${values.map(typeOf).join(', ')})\` is not defined`)
}

function unreadable(type: string): Failure {
  return new Failure(`a text cannot be parsed as \`${type}\``)
}

function size(value: CelValue, frame: Frame): bigint {
  if (typeof value === 'string') return BigInt(codePoints(value, frame))
  if (isList(value)) return BigInt(value.length)
  if (value instanceof Bytes) return BigInt(value.octets.length)
  if (!isMap(value)) throw undefinedFor('size', value)
  const count = sizeOfMap(value)
  frame.charge(count)
  return BigInt(count)
}

function codePoints(text: string, frame: Frame): number {
  frame.charge(text.length >> 3)
  let count = text.length
  for (let i = 0; i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800) count--
  }
  return count
}

/** Returns a method of two texts. */
function textual(name: string, test: (text: string, part: string, frame: Frame) => boolean): Binary {
  return (text, part, frame) => {
    if (typeof text !== 'string' || typeof part !== 'string') throw undefinedFor(name, text, part)
    return test(text, part, frame)
  }
}

function includes(text: string, part: string, frame: Frame): boolean {
  // The engine searches in linear time, except that for long parts it looks ahead by at most 250 characters.
  frame.charge((text.length >> 6) * (1 + (part.length >> 7)))
  return text.includes(part)
}

function startsWith(text: string, part: string, frame: Frame): boolean {
  frame.charge(part.length >> 6)
  return text.startsWith(part)
}

function endsWith(text: string, part: string, frame: Frame): boolean {
  frame.charge(part.length >> 6)
  return text.endsWith(part)
}

const DIGITS = /^\d{1,20}$/
const SIGNED_DIGITS = /^[+-]?\d{1,20}$/

function toInt(value: CelValue): bigint {
  if (typeof value === 'bigint') return value
  if (value instanceof Uint) return int(value.value)
  if (value instanceof Timestamp) return secondsOf(value)
  if (typeof value === 'number') return int(wholePart(value))
  if (typeof value !== 'string') throw undefinedFor('int', value)
  if (!SIGNED_DIGITS.test(value)) throw unreadable('int')
  return int(BigInt(value.replace('+', '')))
}

function toUint(value: CelValue): Uint {
  if (value instanceof Uint) return value
  if (typeof value === 'bigint') return uint(value)
  if (typeof value === 'number') return uint(wholePart(value))
  if (typeof value !== 'string') throw undefinedFor('uint', value)
  if (!DIGITS.test(value)) throw unreadable('uint')
  return uint(BigInt(value))
}

const NOT_FINITE = new Failure('a double that is infinite or not a number has no whole part')

function wholePart(value: number): bigint {
  if (!Number.isFinite(value)) throw NOT_FINITE
  // The double at the lower bound also represents numbers beyond it; the conformance tests refuse it.
  const whole = BigInt(Math.trunc(value))
  if (whole === -(2n ** 63n)) throw new Failure('an int overflows 64 bits')
  return whole
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const INFINITY = /^([+-]?)inf(?:inity)?$/i
const MAX_DECIMAL_LENGTH = 400

function toDouble(value: CelValue): number {
  if (typeof value === 'number') return value
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof Uint) return Number(value.value)
  if (typeof value !== 'string') throw undefinedFor('double', value)
  return parseDouble(value)
}

function parseDouble(text: string): number {
  if (text.length > MAX_DECIMAL_LENGTH) throw unreadable('double')
  if (text.toLowerCase() === 'nan') return Number.NaN
  const infinity = INFINITY.exec(text)
  if (infinity) return infinity[1] === '-' ? -Infinity : Infinity
  const value = DECIMAL.test(text) ? Number(text) : Infinity
  if (!Number.isFinite(value)) throw unreadable('double')
  return value
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

function toText(value: CelValue, frame: Frame): string {
  if (typeof value === 'string') return value
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return formatDouble(value)
  if (value instanceof Uint) return String(value.value)
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof Duration) return formatDuration(value)
  if (value instanceof Bytes) return decode(value.octets, frame)
  throw undefinedFor('string', value)
}

function formatDouble(value: number): string {
  if (value === Infinity) return '+Inf'
  return value === -Infinity ? '-Inf' : String(value)
}

function decode(octets: Uint8Array, frame: Frame): string {
  frame.charge(octets.length >> 4)
  try {
    return decoder.decode(octets)
  } catch (cause) {
    throw new Failure('bytes are not UTF-8', { cause })
  }
}

function toBytes(value: CelValue, frame: Frame): Bytes {
  if (value instanceof Bytes) return value
  if (typeof value !== 'string') throw undefinedFor('bytes', value)
  frame.charge(value.length >> 4)
  return new Bytes(encoder.encode(value))
}

const BOOLS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
])

function toBool(value: CelValue): boolean {
  if (typeof value === 'boolean') return value
  if (typeof value !== 'string') throw undefinedFor('bool', value)
  const read = BOOLS.get(value)
  if (read === undefined) throw unreadable('bool')
  return read
}

function toTimestamp(value: CelValue): Timestamp {
  if (value instanceof Timestamp) return value
  if (typeof value === 'bigint') return timestampAt(value)
  if (typeof value !== 'string') throw undefinedFor('timestamp', value)
  const read = parseTimestamp(value)
  if (read === undefined) throw unreadable('timestamp')
  return read
}

function toDuration(value: CelValue): Duration {
  if (value instanceof Duration) return value
  if (typeof value !== 'string') throw undefinedFor('duration', value)
  const read = parseDuration(value)
  if (read === undefined) throw unreadable('duration')
  return read
}

const UNKNOWN_ZONE = new Failure('a time zone must be `UTC` or an offset like `+02:00`')

/** Returns a field of a time, in UTC or the given zone. */
function field(name: string): Binary {
  const ofTimestamp = TIMESTAMP_FIELDS.get(name)
  const ofDuration = DURATION_FIELDS.get(name)

  return (time, zone) => {
    if (time instanceof Timestamp && ofTimestamp && typeof zone === 'string') {
      const offset = offsetOf(zone)
      if (offset === undefined) throw UNKNOWN_ZONE
      return BigInt(ofTimestamp(calendarOf(time, offset)))
    }
    if (time instanceof Duration && ofDuration && zone === 'UTC') return ofDuration(time.nanos)
    throw undefinedFor(name, time)
  }
}

const FIELDS: readonly (readonly [string, Binary])[] = [...TIMESTAMP_FIELDS.keys()].map((name) => [
  name,
  field(name),
])

const MACROS = ['has', 'all', 'exists', 'exists_one', 'map', 'filter']

/** All callable functions, except macros and `matches`, whose patterns are compiled ahead. */
export const LIBRARY: Library = {
  functions: new Map<string, Unary>([
    ['size', size],
    ['int', toInt],
    ['uint', toUint],
    ['double', toDouble],
    ['string', toText],
    ['bytes', toBytes],
    ['bool', toBool],
    ['timestamp', toTimestamp],
    ['duration', toDuration],
    ['type', (value) => new TypeName(typeOf(value))],
    ['dyn', (value) => value],
  ]),
  methods: new Map<string, Unary>([
    ['size', size],
    ...FIELDS.map(([name, ask]): [string, Unary] => [name, (time, frame) => ask(time, 'UTC', frame)]),
  ]),
  binaryMethods: new Map<string, Binary>([
    ['contains', textual('contains', includes)],
    ['startsWith', textual('startsWith', startsWith)],
    ['endsWith', textual('endsWith', endsWith)],
    ...FIELDS,
  ]),
}

/** All callable names. */
export const FUNCTION_NAMES: ReadonlySet<string> = new Set([
  ...MACROS,
  'matches',
  'within',
  ...LIBRARY.functions.keys(),
  ...LIBRARY.methods.keys(),
  ...LIBRARY.binaryMethods.keys(),
])
