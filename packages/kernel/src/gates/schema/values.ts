// Checks a value without its members: its type, its size and its allowed values.

import { canonicalize, isList, isObject, type Json, type JsonObject } from '@tollgate/evidence/core'
import { get, numberOf, textsOf } from './keywords.ts'
import { compilePattern, type SchemaPattern } from './pattern.ts'
import { NOTHING, type Check, type SchemaRun } from './run.ts'

/** The types of JSON Schema, each with its test and its description. */
export const TYPES: ReadonlyMap<string, { readonly is: (value: Json) => boolean; readonly words: string }> =
  new Map([
    ['object', { is: isObject, words: 'an object' }],
    ['array', { is: isList, words: 'an array' }],
    ['string', { is: (value: Json) => typeof value === 'string', words: 'a string' }],
    ['number', { is: (value: Json) => typeof value === 'number', words: 'a number' }],
    ['integer', { is: (value: Json) => Number.isInteger(value), words: 'a whole number' }],
    ['boolean', { is: (value: Json) => typeof value === 'boolean', words: 'true or false' }],
    ['null', { is: (value: Json) => value === null, words: 'null' }],
  ])

/** Returns the checks that need no subschema. */
export function valueChecks(node: JsonObject): readonly Check[] {
  return [...typeChecks(node), ...listedChecks(node), ...numberChecks(node), ...textChecks(node)]
}

function typeChecks(node: JsonObject): readonly Check[] {
  const type = get(node, 'type')
  if (type === undefined) return []
  const types = (typeof type === 'string' ? [type] : textsOf(type)).flatMap((name) => TYPES.get(name) ?? [])
  const problem = `must be ${types.map(({ words }) => words).join(' or ')}`
  const [only] = types
  if (types.length === 1 && only) return [(value, run) => only.is(value) || run.fail(problem, true)]
  return [(value, run) => types.some(({ is }) => is(value)) || run.fail(problem, true)]
}

function listedChecks(node: JsonObject): readonly Check[] {
  const listed = get(node, 'enum')
  const only = get(node, 'const')
  return [
    ...(isList(listed) ? [isOneOf(listed, 'is not one of the values that the schema allows')] : []),
    ...(only === undefined ? [] : [isOneOf([only], 'is not the value that the schema requires')]),
  ]
}

function isOneOf(values: readonly Json[], problem: string): Check {
  const known = new JsonSet()
  for (const value of values) known.add(value)
  return (value, run) => known.has(value, run) || run.fail(problem)
}

/** A set of JSON values, compared by canonical text. */
class JsonSet {
  // Primitive values have a separate set, so that a string never equals the object that it spells.
  readonly #plain = new Set<Json>()
  readonly #texts = new Set<Json>()

  /** Adds a value; returns false if it was present. */
  add(value: Json, run?: SchemaRun): boolean {
    const [set, key] = this.#place(value, run)
    if (set.has(key)) return false
    set.add(key)
    return true
  }

  has(value: Json, run: SchemaRun): boolean {
    const [set, key] = this.#place(value, run)
    return set.has(key)
  }

  #place(value: Json, run?: SchemaRun): [Set<Json>, Json] {
    if (typeof value !== 'object' || value === null) return [this.#plain, value]
    const text = canonicalize(value)
    run?.spend(text.length >> 2)
    return [this.#texts, text]
  }
}

/** Returns whether all items of a list are different, in linear time. */
export function areUnique(items: readonly Json[], run: SchemaRun): boolean {
  const known = new JsonSet()
  run.spend(items.length)
  return items.every((item) => known.add(item, run))
}

function numberChecks(node: JsonObject): readonly Check[] {
  const bound = (
    keyword: string,
    words: string,
    fits: (value: number, limit: number) => boolean,
  ): Check[] => {
    const limit = numberOf(node, keyword)
    if (limit === undefined) return []
    const problem = `must be ${words} ${limit}`
    return [(value, run) => typeof value !== 'number' || fits(value, limit) || run.fail(problem)]
  }
  return [
    ...bound('minimum', 'at least', (value, limit) => value >= limit),
    ...bound('maximum', 'at most', (value, limit) => value <= limit),
    ...bound('exclusiveMinimum', 'more than', (value, limit) => value > limit),
    ...bound('exclusiveMaximum', 'less than', (value, limit) => value < limit),
    ...bound('multipleOf', 'a multiple of', isMultiple),
  ]
}

/** Tolerates the rounding of one division, so that 19.99 is a multiple of 0.01. An infinite quotient is refused. */
function isMultiple(value: number, of: number): boolean {
  const quotient = value / of
  return Math.abs(quotient - Math.round(quotient)) <= 2 * Number.EPSILON * Math.abs(quotient)
}

function textChecks(node: JsonObject): readonly Check[] {
  const source = get(node, 'pattern')
  const pattern = typeof source === 'string' ? [matches(usablePattern(source))] : []
  const min = numberOf(node, 'minLength') ?? 0
  const max = numberOf(node, 'maxLength') ?? Number.POSITIVE_INFINITY
  if (min === 0 && max === Number.POSITIVE_INFINITY) return pattern
  const short = `must have at least ${min} characters`
  const long = `must have at most ${max} characters`
  const length: Check = (value, run) => {
    if (typeof value !== 'string') return true
    run.spend(value.length >> 5)
    const characters = lengthOf(value)
    if (characters < min) return run.fail(short)
    return characters <= max || run.fail(long)
  }
  return [length, ...pattern]
}

/** Counts characters. Some take two units. */
function lengthOf(text: string): number {
  let characters = text.length
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xdc00) characters--
  return characters
}

function matches(pattern: Check): Check {
  const problem = 'does not match the pattern of the schema'
  return (value, run) => typeof value !== 'string' || pattern(value, run) || run.fail(problem)
}

/** Returns a check of strings that records no problem. */
export function usablePattern(source: string): Check {
  const pattern: SchemaPattern | { readonly problem: string } = compilePattern(source)
  // A schema with an invalid pattern is already refused, so this is never used.
  if ('problem' in pattern) return NOTHING
  return (value, run) => {
    if (typeof value !== 'string') return false
    run.spend(1 + Math.ceil((value.length * pattern.size) / 4))
    return pattern.test(value)
  }
}
