// Compares JSON values for equality in linear time. Definitions come from servers, so their cost must be bounded by their
// length.

import type { Json, JsonObject } from '@tollgate/evidence'
import { isList } from './offer.ts'

/** Assigns numbers to values: two values have the same number if they are equal, in any order of members. */
export type Numbering = (value: Json) => number

export function createNumbering(): Numbering {
  const byText = new Map<string, number>()
  const byValue = new WeakMap<object, number>()

  function numberOf(value: Json): number {
    if (value === null || typeof value !== 'object') return numberOfText(plainText(value))
    const known = byValue.get(value)
    if (known !== undefined) return known
    // Built from the numbers of the children, not from their texts, so that the cost stays linear.
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

// The first character marks the type, so that the text `1` differs from the number.
function plainText(value: string | number | boolean | null): string {
  return typeof value === 'string' ? `"${value}` : `=${String(value)}`
}
