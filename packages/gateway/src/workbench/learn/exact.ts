// Values as they were seen, without any more.

import type { Json } from '@tollgate/evidence'
import { excerpt } from '../../tools/hidden.ts'
import { celList, celValue } from './cel.ts'
import { keyOf, type ValuePlace, type LearnedShape } from './observed.ts'

/** Just these values. */
export function exactly(values: readonly Json[], { code, path }: ValuePlace): LearnedShape {
  const [first = null] = values
  const when = values.length === 1 ? `${code} == ${celValue(first)}` : `${code} in ${celList(values)}`
  return { when, notes: [{ path, seen: seenOf(values) }], asks: [] }
}

const MOST_SHOWN = 3
const MAX_SHOWN = 60

/** How many values there are and a few of them, for a comment. */
export function seenOf(values: readonly Json[]): string {
  return values.length === 1 ? `always ${fewOf(values)}` : `${values.length} values, ${fewOf(values)}`
}

/** A few of the values. */
export function fewOf(values: readonly Json[]): string {
  const some = values.slice(0, MOST_SHOWN).map((value) => excerpt(keyOf(value), MAX_SHOWN))
  return `${some.join(', ')}${values.length > MOST_SHOWN ? ', …' : ''}`
}
