// What JSON Schema's keywords hold, and where a schema leads from one subschema to the next.

import type { Json, JsonObject } from '@tollgate/evidence'

/** What the value of a keyword must be. */
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
 * The keywords that decide anything, of all dialects from draft-06 on. Whatever is not here is an annotation.
 *
 * The older spellings (`dependencies`, a list in `items`, `additionalItems`) mean only one thing, so they are also
 * understood where a later dialect has dropped them: ignored, they would let more through than the author meant.
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

/** Keywords whose subschemas look at the same value as the schema they stand in. */
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

/** A step from a schema to one of its subschemas. */
export interface SchemaLink {
  readonly keyword: string
  /** The name or index under the keyword, if it holds several. */
  readonly key: string | undefined
  /** Whether the subschema looks at the same value. */
  readonly inPlace: boolean
  readonly to: Json
}

/** The steps to the subschemas of `node`, not counting `$ref`. Keywords with a value of the wrong shape lead nowhere. */
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

/** The subschemas that look at the same value as `node`, its `$ref` among them; each is met where it applies. */
export function inPlaceOf(root: JsonObject, node: JsonObject): readonly SchemaLink[] {
  const edges = schemaLinksOf(node).filter(({ inPlace }) => inPlace)
  const ref = get(node, '$ref')
  const to = typeof ref === 'string' ? resolve(root, ref) : undefined
  return to === undefined ? edges : [{ keyword: '$ref', key: undefined, inPlace: true, to }, ...edges]
}

/** Where a `$ref` leads: `#` or a JSON pointer into `root`. Undefined for anything else, and if nothing is there. */
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
    // Inside of a schema with a name of its own, `#` would mean that schema.
    if (here !== undefined && isObject(here) && get(here, '$id') !== undefined) return undefined
  }
  return here
}

function unescapeStep(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    // A broken percent escape points nowhere.
    return undefined
  }
}

/** The own value of a keyword or name; what a prototype might hold is not data. */
export function get(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** The number a keyword holds, if it is there. */
export function numberOf(object: JsonObject, keyword: string): number | undefined {
  const value = get(object, keyword)
  return typeof value === 'number' ? value : undefined
}

export function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

/** The members of an object; of anything else, none. */
export function entriesOf(value: Json | undefined): readonly (readonly [string, Json])[] {
  return value !== undefined && isObject(value) ? Object.entries(value) : []
}

/** The texts in a list; of anything else, none. */
export function textsOf(value: Json | undefined): readonly string[] {
  return isList(value) ? value.filter((item) => typeof item === 'string') : []
}

/** A name of the schema's author as it is shown to people: short, and without what could disturb a screen or a log. */
export function shown(name: string): string {
  const printable = name.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '\ufffd')
  return printable.length > 64 ? `${printable.slice(0, 64)}…` : printable
}

/** A name as a step of a JSON pointer that is shown to people. */
export function shownStep(name: string): string {
  return `/${shown(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
}
