// Generates arguments for a JSON Schema: the minimum, all properties, and values at the limits of each property.

import type { Json, JsonObject } from '@tollgate/evidence'
import { readYaml } from '@tollgate/kernel/policy'
import { ITEM } from '@tollgate/kernel/workbench'
import { isList, isObject } from '../../tools/offer.ts'
import { textsOf } from './pattern.ts'

export { isObject } from '../../tools/offer.ts'

const DEEPEST = 6
const MAX_PROPERTIES = 32
const MAX_TEXT_LENGTH = 2048

/** The tool schemas in the text of a policy, by name of the declaration. */
export function schemasIn(text: string): ReadonlyMap<string, JsonObject> {
  if (!text.includes('schema')) return new Map()
  const reader = readYaml(text)
  // Sound: the reader refuses tags and anchors, so the result is plain data; null if the text has mistakes.
  const tools = member(reader.plain(reader.root) as Json, 'tools')
  if (!isObject(tools)) return new Map()
  const found = Object.entries(tools).map(([name, tool]) => [name, member(tool, 'schema')] as const)
  return new Map(found.flatMap(([name, schema]) => (isObject(schema) ? [[name, schema] as const] : [])))
}

/** The minimal arguments, and arguments with every property. */
export function examplesOf(schema: JsonObject): readonly JsonObject[] {
  const least = example(schema, schema, false, 0)
  const most = example(schema, schema, true, 0)
  return [least, most].filter(isObject)
}

/** Positions in arguments with values to try; undefined removes the value. */
export type Bounds = readonly (readonly [path: readonly string[], values: readonly (Json | undefined)[]])[]

const MAX_BOUNDS = 64
const DEEPEST_BOUNDS = 4

/** Values at the limits of each property of a schema, including nested ones. */
export function boundsOf(schema: JsonObject): Bounds {
  return boundsIn(schema, schema, []).slice(0, MAX_BOUNDS)
}

function boundsIn(root: JsonObject, given: Json, path: readonly string[]): Bounds {
  if (path.length > DEEPEST_BOUNDS) return []
  const schema = resolved(root, given)
  const properties = member(schema, 'properties')
  const named = isObject(properties) ? Object.entries(properties).slice(0, MAX_PROPERTIES) : []
  const items = member(schema, 'items')
  const inner = [...named, ...(isObject(items) ? [[ITEM, items] as const] : [])]
  const own: Bounds = inner.map(([name, each]) => [
    [...path, name],
    [...valuesFor(root, each), undefined],
  ])
  return [...own, ...inner.flatMap(([name, each]) => boundsIn(root, each, [...path, name]))]
}

function valuesFor(root: JsonObject, property: Json): readonly Json[] {
  const schema = resolved(root, property)
  const named = [member(schema, 'const'), ...listOf(member(schema, 'enum'))].filter(
    (each) => each !== undefined,
  )
  const numbers = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']
    .map((name) => member(schema, name))
    .flatMap((bound) => (typeof bound === 'number' ? [bound - 1, bound, bound + 1] : []))
  const lengths = ['minLength', 'maxLength']
    .map((name) => member(schema, name))
    .flatMap((bound) => (typeof bound === 'number' ? [bound - 1, bound, bound + 1] : []))
    .filter((length) => length >= 0 && length <= MAX_TEXT_LENGTH)
  return [
    ...named.slice(0, 16),
    ...numbers,
    ...lengths.map((length) => 'x'.repeat(length)),
    ...patternsOf(schema),
    example(root, schema, true, 1),
    'x',
    1,
    true,
    [],
    {},
    { unnamed: 1 },
  ]
}

function patternsOf(schema: Json): readonly string[] {
  const pattern = member(schema, 'pattern')
  return typeof pattern === 'string' ? textsOf(pattern).slice(0, 6) : []
}

/** A value that probably matches. */
function example(root: JsonObject, given: Json, all: boolean, depth: number): Json {
  const schema = resolved(root, given)
  const [named] = [member(schema, 'const'), ...listOf(member(schema, 'enum'))].filter(
    (each) => each !== undefined,
  )
  if (named !== undefined || depth > DEEPEST) return named ?? null
  const [branch] = [...listOf(member(schema, 'anyOf')), ...listOf(member(schema, 'oneOf'))]
  if (branch !== undefined && member(schema, 'type') === undefined)
    return example(root, branch, all, depth + 1)
  const type = [member(schema, 'type')].flat().find((each) => each !== 'null')
  const kind = type ?? (member(schema, 'properties') === undefined ? 'string' : 'object')
  if (kind === 'object') return exampleObject(root, schema, all, depth)
  if (kind === 'array') return exampleList(root, schema, all, depth)
  if (kind === 'integer' || kind === 'number') return exampleNumber(schema)
  return kind === 'boolean' ? false : exampleText(schema)
}

function exampleObject(root: JsonObject, schema: Json, all: boolean, depth: number): JsonObject {
  const properties = member(schema, 'properties')
  const needed = listOf(member(schema, 'required'))
  const named = isObject(properties) ? Object.entries(properties).slice(0, MAX_PROPERTIES) : []
  const wanted = named.filter(([name]) => all || needed.includes(name))
  return Object.fromEntries(wanted.map(([name, each]) => [name, example(root, each, all, depth + 1)]))
}

function exampleList(root: JsonObject, schema: Json, all: boolean, depth: number): Json {
  const least = member(schema, 'minItems')
  const count = Math.max(typeof least === 'number' ? least : 0, all ? 1 : 0)
  const item = example(root, member(schema, 'items') ?? {}, all, depth + 1)
  return Array.from({ length: Math.min(count, 16) }, () => item)
}

function exampleNumber(schema: Json): number {
  const from = member(schema, 'minimum')
  const beyond = member(schema, 'exclusiveMinimum')
  const to = member(schema, 'maximum')
  if (typeof from === 'number') return from
  if (typeof beyond === 'number') return beyond + 1
  return typeof to === 'number' ? Math.min(1, to) : 1
}

function exampleText(schema: Json): string {
  const [fits] = patternsOf(schema)
  const least = member(schema, 'minLength')
  const text = fits ?? 'x'
  return typeof least === 'number' && least <= MAX_TEXT_LENGTH ? text.padEnd(least, 'x') : text
}

/** Resolves a reference within the schema. */
function resolved(root: JsonObject, schema: Json, depth = 0): Json {
  const reference = member(schema, '$ref')
  if (typeof reference !== 'string' || !reference.startsWith('#/') || depth > DEEPEST) return schema
  const target = reference
    .slice(2)
    .split('/')
    .reduce<Json | undefined>((at, name) => member(at, name), root)
  return target === undefined ? schema : resolved(root, target, depth + 1)
}

/** A member of a value, if it is an object. */
export function member(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

function listOf(value: Json | undefined): readonly Json[] {
  return isList(value) ? value : []
}
