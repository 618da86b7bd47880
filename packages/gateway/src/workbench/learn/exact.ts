// Conditions for exactly the observed values.

import type { Json } from '@tollgate/evidence'
import { excerpt } from '../../tools/hidden.ts'
import { celList, celValue } from './cel.ts'
import { keyOf, type ValuePlace, type LearnedShape } from './observed.ts'

/** The condition for exactly these values. */
export function exactly(values: readonly Json[], { code, path }: ValuePlace): LearnedShape {
  const [first = null] = values
  const when = values.length === 1 ? `${code} == ${celValue(first)}` : `${code} in ${celList(values)}`
  return { when, notes: [{ path, seen: seenOf(values) }], asks: [] }
}

const MAX_VALUES_SHOWN = 3
const MAX_SHOWN = 60

/** The number of values and a few of them, for a comment. */
export function seenOf(values: readonly Json[]): string {
  return values.length === 1 ? `always ${fewOf(values)}` : `${values.length} values, ${fewOf(values)}`
}

export function fewOf(values: readonly Json[]): string {
  const some = values.slice(0, MAX_VALUES_SHOWN).map((value) => excerpt(keyOf(value), MAX_SHOWN))
  return `${some.join(', ')}${values.length > MAX_VALUES_SHOWN ? ', …' : ''}`
}
