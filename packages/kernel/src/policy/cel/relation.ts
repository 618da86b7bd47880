// Equality and order of CEL values. Numbers compare by value, across types.

import { Failure } from './failure.ts'
import type { Frame } from './frame.ts'
import { Bytes, Duration, isList, isMap, keysOfMap, lookUp, sizeOfMap, Timestamp, TypeName } from './value.ts'
import { typeOf, Uint, type MapValue, type CelValue } from './value.ts'

// Deeper than a parsed document and a source together can nest.
const MAX_NESTING = 256

const TOO_DEEP = new Failure('a value is nested too deeply to be compared')

/** Returns whether two values are equal. Values of different kinds are unequal, which is not a failure. */
export function equals(a: CelValue, b: CelValue, frame: Frame, depth = 0): boolean {
  if (typeof a === 'string') return typeof b === 'string' && sameText(a, b, frame)
  if (typeof a === 'boolean' || a === null) return a === b
  if (depth > MAX_NESTING) throw TOO_DEEP
  if (isList(a)) return isList(b) && equalLists(a, b, frame, depth)
  if (isMap(a)) return isMap(b) && equalMaps(a, b, frame, depth)
  return equalScalars(a, b, frame)
}

function sameText(a: string, b: string, frame: Frame): boolean {
  if (a.length !== b.length) return false
  frame.charge(a.length >> 6)
  return a === b
}

function equalScalars(a: CelValue, b: CelValue, frame: Frame): boolean {
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos
  if (a instanceof TypeName) return b instanceof TypeName && a.name === b.name
  if (a instanceof Bytes) return b instanceof Bytes && orderOfBytes(a.octets, b.octets, frame) === 0
  return orderOfNumbers(a, b) === 0
}

function equalLists(a: readonly CelValue[], b: readonly CelValue[], frame: Frame, depth: number): boolean {
  if (a.length !== b.length) return false
  return a.every((item, i) => {
    frame.charge(1)
    // Safe cast: both lists have this many items.
    return equals(item, b[i] as CelValue, frame, depth + 1)
  })
}

function equalMaps(a: MapValue, b: MapValue, frame: Frame, depth: number): boolean {
  const size = sizeOfMap(a)
  frame.charge(4 * size)
  if (size !== sizeOfMap(b)) return false
  return keysOfMap(a).every((key) => {
    const other = find(b, key, frame)
    // Safe cast: the key is in `a`.
    return other !== undefined && equals(lookUp(a, key) as CelValue, other, frame, depth + 1)
  })
}

/** Returns the value of a map for a key that is only known at run time. */
export function find(map: MapValue, key: CelValue, frame: Frame): CelValue | undefined {
  if (typeof key === 'string') frame.charge(key.length >> 6)
  return lookUp(map, key)
}

/** Returns whether a list contains an equal value, or a map an equal key. */
export function contains(whole: CelValue, value: CelValue, frame: Frame): boolean {
  if (isMap(whole)) return find(whole, value, frame) !== undefined
  if (!isList(whole)) throw new Failure(`\`in\` needs a list or a map, not \`${typeOf(whole)}\``)
  return whole.some((item) => {
    frame.charge(1)
    return equals(value, item, frame)
  })
}

/**
 * Returns the order of two values: below zero, zero or above zero; NaN if one is not a number.
 *
 * @throws Failure if the types have no order.
 */
export function compare(a: CelValue, b: CelValue, frame: Frame): number {
  if (typeof a === 'string' && typeof b === 'string') return orderOfText(a, b, frame)
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (a instanceof Timestamp && b instanceof Timestamp) return orderOf(a.nanos, b.nanos)
  if (a instanceof Duration && b instanceof Duration) return orderOf(a.nanos, b.nanos)
  if (a instanceof Bytes && b instanceof Bytes) return orderOfBytes(a.octets, b.octets, frame)
  const order = orderOfNumbers(a, b)
  if (order === undefined) {
    throw new Failure(`\`${typeOf(a)}\` and \`${typeOf(b)}\` have no order; compare values of one type`)
  }
  return order
}

/** Returns the order of two numbers of any type; undefined if a value is not a number. */
function orderOfNumbers(a: CelValue, b: CelValue): number | undefined {
  const left = a instanceof Uint ? a.value : a
  const right = b instanceof Uint ? b.value : b
  if (typeof left !== 'number' && typeof left !== 'bigint') return undefined
  if (typeof right !== 'number' && typeof right !== 'bigint') return undefined
  return orderOf(left, right)
}

function orderOf(a: number | bigint, b: number | bigint): number {
  // An int and a double compare with the precision of a double, as the conformance tests require.
  if (typeof a !== typeof b) return orderOf(Number(a), Number(b))
  if (a < b) return -1
  if (a > b) return 1
  return Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : 0
}

function orderOfText(a: string, b: string, frame: Frame): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    if (i % 64 === 63) frame.charge(4)
    const order = rankOf(a.charCodeAt(i)) - rankOf(b.charCodeAt(i))
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** UTF-16 units order like code points, except that surrogate pairs come after all other units. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

function orderOfBytes(a: Uint8Array, b: Uint8Array, frame: Frame): number {
  const length = Math.min(a.length, b.length)
  frame.charge(length >> 4)
  for (let i = 0; i < length; i++) {
    // Safe cast: `i` is within both.
    const order = (a[i] as number) - (b[i] as number)
    if (order !== 0) return order
  }
  return a.length - b.length
}
