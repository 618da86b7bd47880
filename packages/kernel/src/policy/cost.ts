// Computes the cost of a call from the declaration of its tool.

import type { Json } from '@tollgate/evidence'

/**
 * Returns the cost of a call in thousandths, rounded up; undefined if it is unreadable. `cost` is a number of units, or the path of
 * an argument with the units (`amount`, `payments.amount`; arrays on the path are summed). A tool without a cost costs nothing.
 */
export function costOf(cost: number | string | undefined, args: Json): number | undefined {
  if (cost === undefined) return 0
  if (typeof cost === 'number') return thousandths(cost)
  const sum = costAt(args, cost.replaceAll('[*]', '').split('.'))
  return sum !== undefined && Number.isSafeInteger(sum) ? sum : undefined
}

function costAt(value: Json | undefined, names: readonly string[]): number | undefined {
  if (isArray(value)) return value.length === 0 ? undefined : costOfAll(value, names)
  const [name, ...rest] = names
  if (name === undefined) return typeof value === 'number' ? thousandths(value) : undefined
  const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
  return isThere ? costAt(value[name], rest) : undefined
}

function thousandths(amount: number): number | undefined {
  if (!(amount >= 0)) return undefined
  const near = Math.round(amount * 1000)
  // The smallest integer that is not less: 16.1 is 16,100, although 16.1 × 1000 is slightly more in floating point.
  const whole = near / 1000 < amount ? near + 1 : near
  return Number.isSafeInteger(whole) ? Math.max(0, whole) : undefined
}

function costOfAll(values: readonly Json[], names: readonly string[]): number | undefined {
  let sum = 0
  for (const each of values) {
    const cost = costAt(each, names)
    if (cost === undefined) return undefined
    sum += cost
  }
  return sum
}

/** `Array.isArray` does not narrow a readonly array. */
function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}
