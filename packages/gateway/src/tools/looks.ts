// Classifies the values of an argument by their form, for arguments whose names say nothing.

import { valuesIn } from '@tollgate/kernel/detection'

/** The form of the values of an argument. */
export type Looks =
  /** Mail addresses, URLs and hostnames: possible destinations. */
  | 'address'
  /** Accounts, record numbers and keys: values that can be recognised anywhere. */
  | 'opaque'
  /** Dates and times. */
  | 'moment'
  | 'prose'
  /** Short texts: names of people, places, things. */
  | 'name'
  /** Not text. */
  | 'other'

const LONG = 60
const MANY_WORDS = 8
const MOMENT = /^\d{4}-\d{2}-\d{2}(?:[T ][\d:.+Z-]*)?$|^\d{1,2}:\d{2}(?::\d{2})?$/

/** The most frequent form. In a tie, the one that needs more care. */
export function mostly(counts: ReadonlyMap<Looks, number>): Looks {
  const most = Math.max(0, ...counts.values())
  return ORDER.find((look) => counts.get(look) === most) ?? 'other'
}

const ORDER: readonly Looks[] = ['address', 'opaque', 'name', 'prose', 'moment', 'other']

/** The form of one value. */
export function lookOf(value: string): Looks {
  const text = value.trim()
  if (text === '') return 'other'
  if (MOMENT.test(text)) return 'moment'
  const kind = text.length <= 4 * LONG ? kindOf(text) : undefined
  if (kind !== undefined) return ADDRESSES.has(kind) ? 'address' : 'opaque'
  return text.length > LONG || text.includes('\n') || text.split(' ').length > MANY_WORDS ? 'prose' : 'name'
}

const ADDRESSES: ReadonlySet<string> = new Set(['email', 'url', 'host'])

/** The kind of the recognisable value that makes up most of a text. */
function kindOf(text: string): string | undefined {
  return valuesIn(text).find(({ start, end }) => 2 * (end - start) > text.length)?.kind
}
