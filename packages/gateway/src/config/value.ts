// Reads values that only `tollgate.yaml` has: quantities with a unit, URLs, names of variables.

import type { Place, Reader } from '@tollgate/kernel/policy'

/** Matches the name of an environment variable. */
export const VARIABLE: RegExp = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/

const QUANTITY = /^([1-9][0-9]{0,8})([A-Za-z]+)$/

interface Measure {
  readonly what: string
  /** Each unit, expressed in the smallest one. */
  readonly units: Readonly<Record<string, number>>
  readonly least: number
  readonly most: number
  /** Completes the message "must be …". */
  readonly example: string
}

/** How long a request waits for the approval of its calls. */
export const WAIT: Measure = {
  what: '`wait`',
  units: { s: 1000, m: 60_000 },
  least: 1000,
  most: 900_000,
  example: 'a time such as `90s` or `5m`, up to 15 minutes',
}

/** Reads a quantity and returns it in the smallest unit; undefined after a mistake. */
export function readMeasure(reader: Reader, place: Place, measure: Measure): number | undefined {
  const { what, units, least, most, example } = measure
  const text = reader.plain(place)
  const [, digits, unit] = (typeof text === 'string' ? QUANTITY.exec(text) : null) ?? []
  const value = Number(digits) * (units[unit ?? ''] ?? NaN)
  if (value >= least && value <= most) return value
  reader.note(place, `${what} must be ${example}`)
  return undefined
}

/** Reads an HTTP URL. It must be HTTPS or local, and must not contain a password. */
export function readUrl(reader: Reader, place: Place, what: string): string | undefined {
  const text = reader.textLine(place, what)
  if (text === undefined) return undefined
  const problem = problemOfUrl(text)
  if (problem === undefined) return new URL(text).href
  reader.note(place, `${what} ${problem}`)
  return undefined
}

/** Says what is wrong with an HTTP URL, without repeating it; undefined if it is HTTPS or local and has no password. */
export function problemOfUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const local = url !== undefined && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  const fits = url?.protocol === 'https:' || (url?.protocol === 'http:' && local)
  if (!url || !fits) return 'must be an `https://` URL, or an `http://` URL of this machine'
  if (url.username === '' && url.password === '') return undefined
  return 'must not contain a user name or password; put secrets in the environment'
}
