// The schema of a function's arguments. `parameters` has Google's own form of JSON Schema, which is translated for the check.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { ambiguous } from '../dialect.ts'
import { isGiven } from '../filter.ts'

/** The JSON Schema of a declaration; undefined if it has none. @throws Refused if it has two. */
export function schemaOf({ parameters, parametersJsonSchema: plain }: JsonObject): Json | undefined {
  if (isGiven(parameters) && isGiven(plain)) {
    throw ambiguous('a function has both `parameters` and `parametersJsonSchema`; send one', 'tools')
  }
  if (isGiven(plain)) return plain
  return isGiven(parameters) ? translated(parameters) : undefined
}

/** Members with the same meaning in both. */
const SAME = ['required', 'minimum', 'maximum', 'pattern', 'additionalProperties']
/** Google writes 64-bit numbers as texts. */
const COUNTS = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']

/** Members without a meaning for the check, such as `description`, are left out. */
function translated(schema: Json): Json {
  if (!isObject(schema)) return schema
  const given = (name: string): Json | undefined => schema[name] ?? schema[SNAKE[name] ?? name] ?? undefined
  const made: Record<string, Json> = {}
  for (const name of SAME) put(made, name, given(name))
  for (const name of COUNTS) put(made, name, numberOf(given(name)))
  const { properties, items, enum: values } = schema
  if (isObject(properties)) made['properties'] = mapped(properties)
  if (isGiven(items)) made['items'] = translated(items)
  const anyOf = given('anyOf')
  if (isList(anyOf)) made['anyOf'] = anyOf.map(translated)
  const type = typeOf(schema)
  if (type !== undefined) made['type'] = type
  if (isList(values) && type === 'string') made['enum'] = values
  return schema['nullable'] === true ? { anyOf: [made, { type: 'null' }] } : made
}

const SNAKE: Readonly<Record<string, string>> = {
  anyOf: 'any_of',
  additionalProperties: 'additional_properties',
  minItems: 'min_items',
  maxItems: 'max_items',
  minLength: 'min_length',
  maxLength: 'max_length',
  minProperties: 'min_properties',
  maxProperties: 'max_properties',
}

function mapped(properties: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, translated(value)]))
}

function put(made: Record<string, Json>, name: string, value: Json | undefined): void {
  if (value !== undefined) made[name] = value
}

function numberOf(value: Json | undefined): Json | undefined {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
}

/** Google writes types in capitals. */
function typeOf({ type }: JsonObject): Json | undefined {
  if (typeof type !== 'string') return type
  const name = type.toLowerCase()
  return name === 'type_unspecified' ? undefined : name
}
