// Building blocks for the JSON Schema of policy files.

import { EFFECT_CLASSES, TIERS, type Json, type JsonObject } from '@tollgate/evidence/core'

/** A mapping with a closed set of keys. Its parser takes the names from here. */
interface RecordSchema<Name extends string> extends JsonObject {
  readonly properties: Readonly<Record<Name, JsonObject>>
}

/** Adds a description, which editors show. */
export function about(description: string, schema: JsonObject): JsonObject {
  return { description, ...schema }
}

/** Returns a mapping with exactly these keys. */
export function record<Name extends string>(
  title: string,
  description: string,
  properties: Readonly<Record<Name, JsonObject>>,
  more: JsonObject = {},
): RecordSchema<Name> {
  return { title, description, type: 'object', properties, additionalProperties: false, ...more }
}

/** Returns the keys of a mapping, in order. */
export function keysOf<Name extends string>({ properties }: RecordSchema<Name>): readonly Name[] {
  // Safe cast: `record` got exactly these.
  return Object.keys(properties) as Name[]
}

/** Returns a mapping from free names to values of one kind. */
export function mapping(
  title: string,
  description: string,
  value: JsonObject,
  names: JsonObject,
): JsonObject {
  return { title, description, type: 'object', propertyNames: names, additionalProperties: value }
}

/** Returns one of a closed list of words. */
export function words(list: readonly string[], otherwise?: string): JsonObject {
  return { type: 'string', enum: [...list], ...(otherwise !== undefined && { default: otherwise }) }
}

/** Returns a number between two bounds. */
export function between(minimum: number, maximum: number, otherwise?: number): JsonObject {
  return { type: 'number', minimum, maximum, ...(otherwise !== undefined && { default: otherwise }) }
}

/** Returns one value or a list of values. */
export function oneOrMore(item: JsonObject, more: JsonObject = { minItems: 1 }): JsonObject {
  return { anyOf: [item, { type: 'array', items: item, ...more }] }
}

export const TRUE_OR_FALSE: JsonObject = { type: 'boolean', default: false }
export const TEXT: JsonObject = { type: 'string', minLength: 1 }
export const NAME: JsonObject = { type: 'string', minLength: 1, maxLength: 256 }
export const REASON: JsonObject = { type: 'string', minLength: 1, maxLength: 500 }
export const RULE_ID: JsonObject = { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$' }
export const DURATION: JsonObject = {
  type: 'string',
  pattern: '^[1-9][0-9]{0,5}(s|m|h|d)$',
  examples: ['30s', '15m', '2h', '7d'],
}
export const LABEL: JsonObject = { type: 'string', pattern: '^[a-z][a-z0-9-]{0,31}$' }
export const EFFECT: JsonObject = words(EFFECT_CLASSES)
export const TIER: JsonObject = words(TIERS)
export const HOSTS: JsonObject = {
  ...oneOrMore(TEXT, {}),
  examples: [['example.com', '*.example.com', '10.0.0.0/8', 'https://example.com:8443']],
}
export const LABELS: JsonObject = oneOrMore(LABEL, { uniqueItems: true })
export const NAMES: JsonObject = oneOrMore(NAME)
export const PATHS: JsonObject = oneOrMore(TEXT, {})

/** Returns a value of the same kind for each name. */
export function each<Name extends string>(
  names: readonly Name[],
  value: (name: Name) => JsonObject,
): Record<Name, JsonObject> {
  // Safe cast: each name gets a value.
  return Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, JsonObject>
}

/** Returns a reference to a part of the schema. */
export function part(name: string): JsonObject {
  return { $ref: `#/$defs/${name}` }
}

/** Returns examples, which editors offer. */
export function examples(...list: readonly Json[]): JsonObject {
  return { examples: list }
}
