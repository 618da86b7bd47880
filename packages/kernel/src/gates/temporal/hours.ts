// Parses opening hours such as `mon-fri 08:00-18:00 +01:00` to milliseconds of a week in UTC. There are no calendars or time zones.

/** A part of the week, in milliseconds from Monday 00:00 UTC. `to` is exclusive. */
interface Window {
  readonly from: number
  readonly to: number
}

/** Opening hours: sorted windows that neither touch nor overlap. */
export type Hours = readonly Window[]

const MINUTE = 60_000
const DAY = 86_400_000
const WEEK = 7 * DAY
/** 1970-01-01 was a Thursday. */
const THURSDAY = 3 * DAY

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
/** The maximum number of windows in one text. */
const MAX_WINDOWS = 20
const MAX_LENGTH = 1000
/** The largest offset from UTC that exists, in minutes. */
const MAX_OFFSET = 14 * 60

/**
 * Parses opening hours. Returns an error message if the text is invalid.
 *
 * A window is `days from-to`, then an optional offset from UTC. Days are `daily`, `mon-fri`, `mon,wed` or `fri-mon,wed`. A window
 * that ends before it begins continues on the next day. `;` separates windows.
 */
export function parseHours(text: string): Hours | string {
  const parts = text.length > MAX_LENGTH ? [] : text.split(';')
  if (parts.length === 0 || parts.length > MAX_WINDOWS) return `more than ${MAX_WINDOWS} windows; join some`
  const windows: Window[] = []
  for (const part of parts) {
    const read = readWindow(part.trim())
    if (typeof read === 'string') return read
    windows.push(...read)
  }
  return joined(windows)
}

/** Whether a time is within the hours. */
export function isOpen(hours: Hours, time: number): boolean {
  const now = inWeek(time + THURSDAY)
  return hours.some(({ from, to }) => from <= now && now < to)
}

/** The milliseconds until the next window opens; 0 if one is open, `Infinity` if there is none. */
export function opensIn(hours: Hours, time: number): number {
  if (isOpen(hours, time)) return 0
  const now = inWeek(time + THURSDAY)
  return Math.min(...hours.map(({ from }) => inWeek(from - now)), Infinity)
}

function inWeek(time: number): number {
  return ((time % WEEK) + WEEK) % WEEK
}

const FORM = 'hours are written `mon-fri 08:00-18:00`, or `mon,wed 22:00-06:00 +01:00`; `;` separates windows'

function readWindow(text: string): readonly Window[] | string {
  const [days = '', times = '', offset = '+00:00', ...rest] = text.split(/\s+/)
  const numbers = readDays(days)
  const [, from, to] = /^([0-9:]{5})-([0-9:]{5})$/.exec(times) ?? []
  const opens = readTime(from, 23 * 60 + 59)
  const closes = readTime(to, 24 * 60)
  if (rest.length > 0 || !numbers || opens === undefined || closes === undefined) return FORM
  const shift = readOffset(offset)
  if (shift === undefined) return 'an offset from UTC is written `+01:00` or `-05:30`, at most 14 hours'
  if (opens === closes) return 'a window has a beginning and an end; write `00:00-24:00` for the whole day'
  const start = (opens - shift) * MINUTE
  const length = (closes > opens ? closes - opens : closes - opens + 24 * 60) * MINUTE
  return numbers.map((day) => {
    const begin = inWeek(day * DAY + start)
    return { from: begin, to: begin + length }
  })
}

/** Minutes since midnight of `08:30`, or undefined. */
function readTime(text: string | undefined, most: number): number | undefined {
  const [, hours, minutes] = /^([0-9]{2}):([0-5][0-9])$/.exec(text ?? '') ?? []
  const time = Number(hours) * 60 + Number(minutes)
  return time <= most ? time : undefined
}

/** Minutes of `-05:30`, or undefined. */
function readOffset(text: string): number | undefined {
  const distance = readTime(text.slice(1), MAX_OFFSET)
  if (distance === undefined || text.startsWith('+')) return distance
  return text.startsWith('-') ? -distance : undefined
}

/** The days of `daily`, `mon-fri` or `mon,wed-thu`, from 0 for Monday; undefined if one is not a day. */
function readDays(text: string): readonly number[] | undefined {
  if (text === 'daily') return DAYS.map((_, day) => day)
  const found = text.split(',').map((part) => {
    const [first, last = first, ...rest] = part
      .split('-')
      .map((name) => DAYS.findIndex((day) => day === name))
    const isRead = first !== undefined && last !== undefined && first >= 0 && last >= 0 && rest.length === 0
    return isRead ? daysBetween(first, last) : undefined
  })
  return found.every((days) => days !== undefined) ? found.flat() : undefined
}

/** The days from first to last, both included. May wrap around the end of the week. */
function daysBetween(first: number, last: number): readonly number[] {
  const count = ((last - first + 7) % 7) + 1
  return Array.from({ length: count }, (_, index) => (first + index) % 7)
}

/** The same hours, sorted and without overlaps. A window past the end of the week continues at its start. */
function joined(windows: readonly Window[]): Hours {
  const within = windows.flatMap(({ from, to }) =>
    to <= WEEK
      ? [{ from, to }]
      : [
          { from, to: WEEK },
          { from: 0, to: to - WEEK },
        ],
  )
  const hours: Window[] = []
  for (const { from, to } of within.toSorted((a, b) => a.from - b.from)) {
    const last = hours.at(-1)
    if (last && from <= last.to) hours[hours.length - 1] = { from: last.from, to: Math.max(last.to, to) }
    else hours.push({ from, to })
  }
  return hours
}
