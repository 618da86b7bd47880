// Which values of JSON are the same. Every value is looked at once, however deep it lies, so that a stranger's definition costs as
// much as it is long.

import type { Json, JsonObject } from '@tollgate/evidence'
import { isList } from './offer.ts'

/** Gives values numbers: two have the same number if they are the same, members in whatever order. */
export type Numbering = (value: Json) => number

/** A numbering that knows no value yet. */
export function createNumbering(): Numbering {
  const byText = new Map<string, number>()
  const byValue = new WeakMap<object, number>()

  function numberOf(value: Json): number {
    if (value === null || typeof value !== 'object') return numberOfText(plainText(value))
    const known = byValue.get(value)
    if (known !== undefined) return known
    // A text of the numbers below it, and not of what is below: else each level would cost as much as all levels under it.
    const number = numberOfText(
      isList(value) ? `[${value.map(numberOf).join()}` : `{${membersOf(value).join()}`,
    )
    byValue.set(value, number)
    return number
  }

  function membersOf(value: JsonObject): readonly string[] {
    const names = Object.keys(value).sort()
    return names.map((name) => `${numberOfText(`"${name}`)}:${numberOf(value[name] ?? null)}`)
  }

  function numberOfText(text: string): number {
    const known = byText.get(text)
    if (known !== undefined) return known
    byText.set(text, byText.size)
    return byText.size - 1
  }

  return numberOf
}

// The first character tells what it is, so that the text `1` is not the number.
function plainText(value: string | number | boolean | null): string {
  return typeof value === 'string' ? `"${value}` : `=${String(value)}`
}
