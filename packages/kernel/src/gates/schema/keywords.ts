// The keywords of JSON Schema, and the links from a schema to its subschemas.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence/core'

/** The required form of a keyword's value. */
export type KeywordShape =
  | 'schema'
  | 'schemas'
  | 'schemas by name'
  | 'schema or schemas'
  | 'dependencies'
  | 'patterns'
  | 'pattern'
  | 'types'
  | 'format'
  | 'value'
  | 'values'
  | 'names'
  | 'names by name'
  | 'number'
  | 'positive number'
  | 'count'
  | 'boolean'
  | 'reference'

/**
 * The keywords with an effect, of all dialects from draft-06 on. All others are annotations. Older keywords (`dependencies`, a
 * list in `items`, `additionalItems`) are unambiguous, so they also apply in later dialects. Ignoring them would allow more than
 * the author intended.
 */
export const SHAPES: ReadonlyMap<string, KeywordShape> = new Map<string, KeywordShape>([
  ['$ref', 'reference'],
  ['type', 'types'],
  ['const', 'value'],
  ['enum', 'values'],
  ['format', 'format'],
  ['multipleOf', 'positive number'],
  ['minimum', 'number'],
  ['maximum', 'number'],
  ['exclusiveMinimum', 'number'],
  ['exclusiveMaximum', 'number'],
  ['minLength', 'count'],
  ['maxLength', 'count'],
  ['pattern', 'pattern'],
  ['minItems', 'count'],
  ['maxItems', 'count'],
  ['uniqueItems', 'boolean'],
  ['prefixItems', 'schemas'],
  ['items', 'schema or schemas'],
  ['additionalItems', 'schema'],
  ['contains', 'schema'],
  ['minContains', 'count'],
  ['maxContains', 'count'],
  ['unevaluatedItems', 'schema'],
  ['minProperties', 'count'],
  ['maxProperties', 'count'],
  ['required', 'names'],
  ['dependentRequired', 'names by name'],
  ['dependencies', 'dependencies'],
  ['dependentSchemas', 'schemas by name'],
  ['properties', 'schemas by name'],
  ['patternProperties', 'patterns'],
  ['additionalProperties', 'schema'],
  ['propertyNames', 'schema'],
  ['unevaluatedProperties', 'schema'],
  ['allOf', 'schemas'],
  ['anyOf', 'schemas'],
  ['oneOf', 'schemas'],
  ['not', 'schema'],
  ['if', 'schema'],
  ['then', 'schema'],
  ['else', 'schema'],
])

/** Keywords whose subschemas apply to the same value as their parent schema. */
const IN_PLACE: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  'dependencies',
])

/** A link from a schema to one of its subschemas. */
export interface SchemaLink {
  readonly keyword: string
  /** The name or index under the keyword, if it has several subschemas. */
  readonly key: string | undefined
  /** Whether the subschema applies to the same value. */
  readonly inPlace: boolean
  readonly to: Json
}

/** Returns the links to the subschemas of `node`, without `$ref`. A keyword with an invalid value has no links. */
export function schemaLinksOf(node: JsonObject): readonly SchemaLink[] {
  return Object.entries(node).flatMap(([keyword, value]) => {
    const edge = (to: Json, key?: string): SchemaLink => ({
      keyword,
      key,
      inPlace: IN_PLACE.has(keyword),
      to,
    })
    const shape = SHAPES.get(keyword)
    if (shape === 'schema') return [edge(value)]
    if (shape === 'schemas' || shape === 'schema or schemas') {
      return isList(value) ? value.map((to, i) => edge(to, String(i))) : [edge(value)]
    }
    if (shape === 'schemas by name' || shape === 'patterns')
      return entriesOf(value).map(([key, to]) => edge(to, key))
    if (shape === 'dependencies') {
      return entriesOf(value).flatMap(([key, to]) => (isList(to) ? [] : [edge(to, key)]))
    }
    return []
  })
}

/** Returns the links to subschemas that apply to the same value as `node`, including its `$ref`. */
export function inPlaceOf(root: JsonObject, node: JsonObject): readonly SchemaLink[] {
  const edges = schemaLinksOf(node).filter(({ inPlace }) => inPlace)
  const ref = get(node, '$ref')
  const to = typeof ref === 'string' ? resolve(root, ref) : undefined
  return to === undefined ? edges : [{ keyword: '$ref', key: undefined, inPlace: true, to }, ...edges]
}

/** Resolves a `$ref`: `#` or a JSON pointer into `root`. Returns undefined for any other reference and if it has no target. */
export function resolve(root: JsonObject, ref: string): Json | undefined {
  if (!/^#(?:\/|$)/.test(ref)) return undefined
  let here: Json | undefined = root
  for (const step of ref.split('/').slice(1)) {
    const key = unescapeStep(step)
    if (key === undefined || here === undefined) return undefined
    here = isObject(here)
      ? get(here, key)
      : isList(here) && /^\d{1,4}$/.test(key)
        ? here[Number(key)]
        : undefined
    // Inside a schema with its own `$id`, `#` would refer to that schema.
    if (here !== undefined && isObject(here) && get(here, '$id') !== undefined) return undefined
  }
  return here
}

function unescapeStep(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return undefined
  }
}

/** Returns the own value of a key, never one of the prototype. */
export function get(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Returns the number of a keyword, if it has one. */
export function numberOf(object: JsonObject, keyword: string): number | undefined {
  const value = get(object, keyword)
  return typeof value === 'number' ? value : undefined
}

/** Returns the members of an object; none for other values. */
export function entriesOf(value: Json | undefined): readonly (readonly [string, Json])[] {
  return isObject(value) ? Object.entries(value) : []
}

/** Returns the strings of a list; none for other values. */
export function textsOf(value: Json | undefined): readonly string[] {
  return isList(value) ? value.filter((item) => typeof item === 'string') : []
}

/** Returns a name of the schema in printable form: short and without control characters. */
export function shown(name: string): string {
  const printable = name.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '\ufffd')
  return printable.length > 64 ? `${printable.slice(0, 64)}…` : printable
}

/** Returns a name as a printable step of a JSON pointer. */
export function shownStep(name: string): string {
  return `/${shown(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
}
