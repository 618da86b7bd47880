// Writes CEL conditions: escapes values and names, and limits the nesting of chains.

import type { Json } from '@tollgate/evidence'
import { isList } from '../../tools/offer.ts'

/** A CEL string literal. Non-ASCII characters are escaped, so that lookalikes are visible. */
export function celText(text: string): string {
  let written = ''
  for (const letter of text) written += letterOf(letter)
  return `"${written}"`
}

function letterOf(letter: string): string {
  if (letter === '"' || letter === '\\') return `\\${letter}`
  if (letter >= ' ' && letter <= '~') return letter
  const point = letter.codePointAt(0) ?? 0
  const hex = point.toString(16)
  return point > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`
}

/** A CEL literal for a value. */
export function celValue(value: Json): string {
  if (typeof value === 'string') return celText(value)
  if (typeof value === 'number') return celNumber(value)
  if (value === null || typeof value === 'boolean') return String(value)
  if (isList(value)) return celList(value)
  const members = Object.entries(value).map(([name, member]) => `${celText(name)}: ${celValue(member)}`)
  return `{${members.join(', ')}}`
}

/** A CEL list literal. */
export function celList(values: readonly Json[]): string {
  return `[${values.map(celValue).join(', ')}]`
}

/** A CEL number literal. Integers become ints, which equal the doubles of arguments. */
export function celNumber(value: number): string {
  if (Number.isSafeInteger(value)) return String(value)
  const text = String(value)
  return /[.e]/.test(text) ? text : `${text}.0`
}

const PLAIN = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/
const RESERVED = new Set(
  'as break const continue else false for function if import in let loop null package namespace return true var void while'.split(
    ' ',
  ),
)

/** A CEL expression for a member of an object. */
export function celMember(whole: string, name: string): string {
  return PLAIN.test(name) && !RESERVED.has(name) ? `${whole}.${name}` : `${whole}[${celText(name)}]`
}

/** The conjunction of conditions. */
export function allOf(terms: readonly string[]): string {
  return chain(terms, '&&')
}

/** The disjunction of conditions, in parentheses if there are several. */
export function anyOf(terms: readonly string[]): string {
  return terms.length === 1 ? (terms[0] ?? '') : `(${chain(terms, '||')})`
}

// Each operator of a chain adds a nesting level, which is limited.
const MAX_CHAIN = 8

function chain(terms: readonly string[], operator: string): string {
  if (terms.length <= MAX_CHAIN) return terms.join(` ${operator} `)
  const size = Math.ceil(terms.length / MAX_CHAIN)
  const parts = Array.from({ length: Math.ceil(terms.length / size) }, (_, i) =>
    terms.slice(i * size, (i + 1) * size),
  )
  return parts
    .map((part) => (part.length === 1 ? (part[0] ?? '') : `(${chain(part, operator)})`))
    .join(` ${operator} `)
}
