// Values that only `tollgate.yaml` has: quantities with a unit, addresses, names of variables.

import type { Place, Reader } from '@tollgate/kernel/policy'

/** The name of an environment variable. */
export const VARIABLE: RegExp = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/

const QUANTITY = /^([1-9][0-9]{0,8})([A-Za-z]+)$/

/** How a quantity is written. */
interface Measure {
  readonly what: string
  /** What each unit is in the smallest. */
  readonly units: Readonly<Record<string, number>>
  readonly least: number
  readonly most: number
  /** What to write, for the message. */
  readonly example: string
}

/** Reads a quantity. The answer is in the smallest unit. */
export function readMeasure(reader: Reader, place: Place, measure: Measure): number | undefined {
  const { what, units, least, most, example } = measure
  const text = reader.plain(place)
  const [, digits, unit] = (typeof text === 'string' ? QUANTITY.exec(text) : null) ?? []
  const value = Number(digits) * (units[unit ?? ''] ?? NaN)
  if (value >= least && value <= most) return value
  reader.note(place, `${what} must be ${example}`)
  return undefined
}

/** An address for HTTP. In the clear only to this machine, and never with a password in it. */
export function readUrl(reader: Reader, place: Place, what: string): string | undefined {
  const text = reader.textLine(place, what)
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const local = url !== undefined && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  const fits = url?.protocol === 'https:' || (url?.protocol === 'http:' && local)
  if (!url || !fits)
    reader.note(place, `${what} must be an \`https://\` address, or \`http://\` on this machine`)
  else if (url.username !== '' || url.password !== '') {
    reader.note(place, `${what} must not hold a name or password; put secrets in the environment`)
  } else return url.href
  return undefined
}
