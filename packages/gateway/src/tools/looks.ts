// What the values of an argument look like, from a few of them: what a draft can say of an argument whose name says nothing.

import { valuesIn } from '@tollgate/kernel/detection'

/** What the values of an argument look like. */
export type Looks =
  /** Mail addresses, pages, hosts: where something can go. */
  | 'address'
  /** Accounts, numbers of records, keys: one value that can be recognised wherever it turns up. */
  | 'opaque'
  /** Days and times. */
  | 'moment'
  /** Sentences. */
  | 'prose'
  /** Short texts: names of people, places, things. */
  | 'name'
  /** Nothing that is text. */
  | 'other'

const LONG = 60
const MANY_WORDS = 8
const MOMENT = /^\d{4}-\d{2}-\d{2}(?:[T ][\d:.+Z-]*)?$|^\d{1,2}:\d{2}(?::\d{2})?$/

/** What most of the values look like, and of two the one that asks for more care. */
export function mostly(counts: ReadonlyMap<Looks, number>): Looks {
  const most = Math.max(0, ...counts.values())
  return ORDER.find((look) => counts.get(look) === most) ?? 'other'
}

const ORDER: readonly Looks[] = ['address', 'opaque', 'name', 'prose', 'moment', 'other']

/** What a value looks like. */
export function lookOf(value: string): Looks {
  const text = value.trim()
  if (text === '') return 'other'
  if (MOMENT.test(text)) return 'moment'
  const kind = text.length <= 4 * LONG ? kindOf(text) : undefined
  if (kind !== undefined) return ADDRESSES.has(kind) ? 'address' : 'opaque'
  return text.length > LONG || text.includes('\n') || text.split(' ').length > MANY_WORDS ? 'prose' : 'name'
}

const ADDRESSES: ReadonlySet<string> = new Set(['email', 'url', 'host'])

/** The kind of the one recognisable value that makes up most of a text. */
function kindOf(text: string): string | undefined {
  return valuesIn(text).find(({ start, end }) => 2 * (end - start) > text.length)?.kind
}
