// The operators `+ - * / %` and negation. Overflow fails instead of wrapping.

import { Failure } from './failure.ts'
import type { Frame } from './frame.ts'
import { addDuration, durationOf, spanBetween } from './time.ts'
import { Bytes, Duration, isList, Timestamp, typeOf, Uint, type CelValue } from './value.ts'

/** The arithmetic operators. */
export type Operator = '+' | '-' | '*' | '/' | '%'

const MAX_INT = 2n ** 63n - 1n
const MIN_INT = -(2n ** 63n)
const MAX_UINT = 2n ** 64n - 1n

const INT_OVERFLOW = new Failure('an int overflows 64 bits')
const UINT_OVERFLOW = new Failure('a uint overflows 64 bits')
const BY_ZERO = new Failure('an int is divided by zero')

/** Returns the value as an int. @throws Failure beyond 64 bits. */
export function int(value: bigint): bigint {
  if (value > MAX_INT || value < MIN_INT) throw INT_OVERFLOW
  return value
}

/** Returns the value as a uint. @throws Failure below zero and beyond 64 bits. */
export function uint(value: bigint): Uint {
  if (value > MAX_UINT || value < 0n) throw UINT_OVERFLOW
  return new Uint(value)
}

/** Returns the value of `a operator b`. @throws Failure if it is not defined or overflows. */
export function compute(operator: Operator, a: CelValue, b: CelValue, frame: Frame): CelValue {
  if (typeof a === 'bigint' && typeof b === 'bigint') return int(integers(operator, a, b))
  if (a instanceof Uint && b instanceof Uint) return uint(integers(operator, a.value, b.value))
  if (typeof a === 'number' && typeof b === 'number' && operator !== '%') return doubles(operator, a, b)
  const result = operator === '+' ? add(a, b, frame) : operator === '-' ? subtract(a, b) : undefined
  if (result === undefined) throw undefinedFor(operator, a, b)
  return result
}

/** Returns the negated value. @throws Failure if negation is not defined for it. */
export function negate(value: CelValue): CelValue {
  if (typeof value === 'bigint') return int(-value)
  if (typeof value === 'number') return -value
  throw new Failure(`\`-\` is not defined for \`${typeOf(value)}\``)
}

function integers(operator: Operator, a: bigint, b: bigint): bigint {
  switch (operator) {
    case '+':
      return a + b
    case '-':
      return a - b
    case '*':
      return a * b
    case '/':
      if (b === 0n) throw BY_ZERO
      return a / b
    case '%':
      if (b === 0n) throw BY_ZERO
      // The quotient must fit into an int, too.
      if (a === MIN_INT && b === -1n) throw INT_OVERFLOW
      return a % b
  }
}

function doubles(operator: Exclude<Operator, '%'>, a: number, b: number): number {
  switch (operator) {
    case '+':
      return a + b
    case '-':
      return a - b
    case '*':
      return a * b
    case '/':
      return a / b
  }
}

function add(a: CelValue, b: CelValue, frame: Frame): CelValue | undefined {
  if (typeof a === 'string' && typeof b === 'string') {
    frame.charge((a.length + b.length) >> 4)
    return a + b
  }
  if (isList(a) && isList(b)) {
    frame.charge(a.length + b.length)
    return [...a, ...b]
  }
  if (a instanceof Bytes && b instanceof Bytes) return join(a.octets, b.octets, frame)
  if (a instanceof Duration && b instanceof Duration) return durationOf(a.nanos + b.nanos)
  if (a instanceof Timestamp && b instanceof Duration) return addDuration(a, b.nanos)
  if (a instanceof Duration && b instanceof Timestamp) return addDuration(b, a.nanos)
  return undefined
}

function subtract(a: CelValue, b: CelValue): CelValue | undefined {
  if (a instanceof Duration && b instanceof Duration) return durationOf(a.nanos - b.nanos)
  if (a instanceof Timestamp && b instanceof Duration) return addDuration(a, -b.nanos)
  if (a instanceof Timestamp && b instanceof Timestamp) return spanBetween(b, a)
  return undefined
}

function join(a: Uint8Array, b: Uint8Array, frame: Frame): Bytes {
  frame.charge((a.length + b.length) >> 4)
  const octets = new Uint8Array(a.length + b.length)
  octets.set(a)
  octets.set(b, a.length)
  return new Bytes(octets)
}

function undefinedFor(operator: Operator, a: CelValue, b: CelValue): Failure {
  return new Failure(undefinedOperation(operator, typeOf(a), typeOf(b)))
}

/** Returns the message that an operation is not defined, with advice if int and double are mixed. */
export function undefinedOperation(operator: string, left: string, right: string): string {
  const mixed = [left, right].sort().join(' ') === 'double int'
  const advice = mixed ? '; numbers in arguments are doubles: write `1.0`, not `1`' : ''
  return `\`${left} ${operator} ${right}\` is not defined${advice}`
}
