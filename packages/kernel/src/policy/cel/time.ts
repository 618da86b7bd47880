// Timestamps and durations: text, ranges, fields. Zones are offsets from UTC; zone names would need a database.

import { Failure } from './failure.ts'
import { Duration, Timestamp } from './value.ts'

const SECOND = 1_000_000_000n
const MILLISECOND = 1_000_000n

// 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z, the range of the specification.
const EARLIEST = -62_135_596_800n * SECOND
const LATEST = 253_402_300_800n * SECOND - 1n
// A duration has its nanoseconds in 64 bits.
const MAX_NANOS = 2n ** 63n - 1n

const TIMESTAMP_RANGE = new Failure('a timestamp is outside the years 1 to 9999')
const DURATION_RANGE = new Failure('a duration exceeds 292 years')

/** Returns the timestamp `nanos` nanoseconds after 1970. @throws Failure outside the range. */
export function timestampOf(nanos: bigint): Timestamp {
  if (nanos < EARLIEST || nanos > LATEST) throw TIMESTAMP_RANGE
  return new Timestamp(nanos)
}

/** Returns a duration of `nanos` nanoseconds. @throws Failure outside the range. */
export function durationOf(nanos: bigint): Duration {
  if (nanos > MAX_NANOS || nanos < -MAX_NANOS - 1n) throw DURATION_RANGE
  return new Duration(nanos)
}

/** Returns the timestamp `nanos` nanoseconds later. @throws Failure outside the range. */
export function addDuration(timestamp: Timestamp, nanos: bigint): Timestamp {
  return timestampOf(timestamp.nanos + nanos)
}

/** Returns the duration between two timestamps. @throws Failure outside the range. */
export function spanBetween(from: Timestamp, to: Timestamp): Duration {
  return durationOf(to.nanos - from.nanos)
}

const RFC3339 = /^(\d{4}-\d{2}-(\d{2})T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(?:Z|([+-]\d{2}:\d{2}))$/

/** Parses an RFC 3339 timestamp; undefined if the text is not one. @throws Failure outside the range. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const [, seconds, day, fraction = '', zone] = RFC3339.exec(text) ?? []
  const ms = Date.parse(`${seconds ?? ''}Z`)
  // `Date.parse` reads February 30 as a day of March.
  if (Number.isNaN(ms) || new Date(ms).getUTCDate() !== Number(day)) return undefined
  const offset = zone === undefined ? 0 : offsetOf(zone)
  if (offset === undefined) return undefined
  return timestampOf(BigInt(ms - offset) * MILLISECOND + BigInt(fraction.padEnd(9, '0')))
}

/** Formats a timestamp as RFC 3339 in UTC, without trailing zeros. */
export function formatTimestamp({ nanos }: Timestamp): string {
  const [seconds, rest] = split(nanos, SECOND)
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}${fractionOf(rest)}Z`
}

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['h', 3600n * SECOND],
  ['m', 60n * SECOND],
  ['s', SECOND],
  ['ms', MILLISECOND],
  ['us', 1000n],
  ['µs', 1000n],
  ['ns', 1n],
])
const DURATION = /^[+-]?(?:0|(?:(?:\d{1,19}(?:\.\d{0,19})?|\.\d{1,19})(?:h|ms|m|s|us|µs|ns))+)$/
const PART = /(\d*)(?:\.(\d*))?(h|ms|m|s|us|µs|ns)/g
const MAX_DURATION_LENGTH = 128

/** Parses a duration like `1h30m` or `-1.5s`; undefined if the text is not one. @throws Failure outside the range. */
export function parseDuration(text: string): Duration | undefined {
  if (text.length > MAX_DURATION_LENGTH || !DURATION.test(text)) return undefined
  let nanos = 0n
  for (const [, whole = '', fraction = '', unit = ''] of text.matchAll(PART)) {
    const size = UNITS.get(unit) ?? 0n
    nanos += BigInt(whole) * size + (BigInt(fraction) * size) / 10n ** BigInt(fraction.length)
  }
  return durationOf(text.startsWith('-') ? -nanos : nanos)
}

/** Formats a duration in seconds, without trailing zeros. */
export function formatDuration({ nanos }: Duration): string {
  const [seconds, rest] = split(nanos < 0n ? -nanos : nanos, SECOND)
  return `${nanos < 0n ? '-' : ''}${String(seconds)}${fractionOf(rest)}s`
}

function fractionOf(nanos: bigint): string {
  return nanos === 0n ? '' : `.${String(nanos).padStart(9, '0').replace(/0+$/, '')}`
}

/** Returns quotient and remainder; the remainder is never negative. */
function split(value: bigint, size: bigint): [bigint, bigint] {
  const rest = ((value % size) + size) % size
  return [(value - rest) / size, rest]
}

const OFFSET = /^([+-]?)(\d{2}):(\d{2})$/

/** Returns the offset of a zone from UTC in milliseconds; undefined if it is neither `UTC` nor like `+02:00`. */
export function offsetOf(zone: string): number | undefined {
  if (zone === 'UTC') return 0
  const [, sign, hours, minutes] = OFFSET.exec(zone) ?? []
  if (hours === undefined || Number(hours) > 23 || Number(minutes) > 59) return undefined
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
}

const DAY = 86_400_000

/** The fields of a timestamp, by method. All count from zero, except `getDate` and the year. */
export const TIMESTAMP_FIELDS: ReadonlyMap<string, (date: Date) => number> = new Map([
  ['getFullYear', (date: Date) => date.getUTCFullYear()],
  ['getMonth', (date: Date) => date.getUTCMonth()],
  ['getDate', (date: Date) => date.getUTCDate()],
  ['getDayOfMonth', (date: Date) => date.getUTCDate() - 1],
  ['getDayOfWeek', (date: Date) => date.getUTCDay()],
  ['getDayOfYear', dayOfYear],
  ['getHours', (date: Date) => date.getUTCHours()],
  ['getMinutes', (date: Date) => date.getUTCMinutes()],
  ['getSeconds', (date: Date) => date.getUTCSeconds()],
  ['getMilliseconds', (date: Date) => date.getUTCMilliseconds()],
])

function dayOfYear(date: Date): number {
  // `Date.UTC` reads the years 0 to 99 as 1900 to 1999.
  const newYear = new Date(date.getTime())
  newYear.setUTCMonth(0, 1)
  return Math.round((date.getTime() - newYear.getTime()) / DAY)
}

/** Returns a date whose UTC methods give the calendar fields at this offset. */
export function calendarOf({ nanos }: Timestamp, offset: number): Date {
  return new Date(Number(split(nanos, MILLISECOND)[0]) + offset)
}

/** The fields of a duration, by method: the whole duration in one unit, except for milliseconds. */
export const DURATION_FIELDS: ReadonlyMap<string, (nanos: bigint) => bigint> = new Map([
  ['getHours', (nanos: bigint) => nanos / (3600n * SECOND)],
  ['getMinutes', (nanos: bigint) => nanos / (60n * SECOND)],
  ['getSeconds', (nanos: bigint) => nanos / SECOND],
  ['getMilliseconds', (nanos: bigint) => (nanos % SECOND) / MILLISECOND],
])

/** Returns a timestamp in seconds since 1970, as `int()` gives it. */
export function secondsOf({ nanos }: Timestamp): bigint {
  return split(nanos, SECOND)[0]
}

/** Returns the timestamp `seconds` seconds after 1970. @throws Failure outside the range. */
export function timestampAt(seconds: bigint): Timestamp {
  return timestampOf(seconds * SECOND)
}
