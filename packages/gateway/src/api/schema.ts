// The subset of JSON Schema that describes the API. The same objects validate requests and form the OpenAPI document, so the
// two cannot differ.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'

type TypeName = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'null'

/** A schema: the keywords that `problemsIn` checks, and descriptions. */
export interface ApiSchema {
  readonly type?: TypeName | readonly TypeName[]
  readonly description?: string
  readonly enum?: readonly (string | number)[]
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly items?: ApiSchema
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, ApiSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean
  readonly default?: string | number
}

const patterns = new Map<string, RegExp>()

/** All violations of a schema, each with its position; empty if the value is valid. Never contains the value. */
export function problemsIn(schema: ApiSchema, value: Json, at = ''): readonly string[] {
  const types = schema.type === undefined ? [] : [schema.type].flat()
  if (types.length > 0 && !types.some((type) => isOf(type, value))) {
    return [`${place(at)} is not ${types.map(articled).join(' or ')}`]
  }
  if (schema.enum && !schema.enum.some((each) => each === value)) {
    return [`${place(at)} is not one of ${schema.enum.map((each) => `\`${each}\``).join(', ')}`]
  }
  if (typeof value === 'string') return textProblems(schema, value, at)
  if (typeof value === 'number') return numberProblems(schema, value, at)
  if (isList(value)) return listProblems(schema, value, at)
  return isObject(value) ? objectProblems(schema, value, at) : []
}

function isOf(type: TypeName, value: Json): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return isList(value)
    case 'object':
      return isObject(value)
    case 'integer':
      return Number.isSafeInteger(value)
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type
  }
}

function textProblems(
  { minLength = 0, maxLength = Infinity, pattern }: ApiSchema,
  value: string,
  at: string,
): string[] {
  if (value.length < minLength) return [`${place(at)} is shorter than ${minLength} characters`]
  if (value.length > maxLength) return [`${place(at)} is longer than ${maxLength} characters`]
  if (pattern === undefined) return []
  let compiled = patterns.get(pattern)
  if (!compiled) patterns.set(pattern, (compiled = new RegExp(pattern, 'u')))
  return compiled.test(value) ? [] : [`${place(at)} does not match \`${pattern}\``]
}

function numberProblems(
  { minimum = -Infinity, maximum = Infinity }: ApiSchema,
  value: number,
  at: string,
): string[] {
  if (value < minimum) return [`${place(at)} is less than ${minimum}`]
  return value > maximum ? [`${place(at)} is more than ${maximum}`] : []
}

function listProblems(
  { items, maxItems = Infinity }: ApiSchema,
  value: readonly Json[],
  at: string,
): string[] {
  if (value.length > maxItems) return [`${place(at)} has more than ${maxItems} items`]
  return items ? value.flatMap((item, i) => problemsIn(items, item, `${at}/${i}`)) : []
}

function objectProblems(schema: ApiSchema, value: JsonObject, at: string): string[] {
  const { properties = {}, required = [], additionalProperties = true } = schema
  const missing = required
    .filter((name) => value[name] === undefined)
    .map((name) => `${place(`${at}/${name}`)} is missing`)
  const wrong = Object.entries(value).flatMap(([name, member]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (known) return problemsIn(known, member, `${at}/${name}`)
    // The unknown name comes from the caller and is not repeated.
    return additionalProperties ? [] : [`${place(at)} has an unknown member`]
  })
  return [...missing, ...new Set(wrong)]
}

function place(at: string): string {
  return at === '' ? 'the body' : `\`${at}\``
}

function articled(type: TypeName): string {
  if (type === 'null') return 'null'
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`
}

/** An object with exactly these members. Names that end in `?` are optional. */
export function object(members: Readonly<Record<string, ApiSchema>>, description?: string): ApiSchema {
  const names = Object.keys(members)
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties: Object.fromEntries(names.map((name) => [name.replace(/\?$/, ''), members[name] ?? {}])),
    required: names.filter((name) => !name.endsWith('?')),
    additionalProperties: false,
  }
}

/** A list with at most `maxItems` items. */
export function list(items: ApiSchema, maxItems?: number): ApiSchema {
  return { type: 'array', items, ...(maxItems !== undefined && { maxItems }) }
}

/** The schema, or null. */
export function orNull(schema: ApiSchema): ApiSchema {
  return { ...schema, type: [schema.type ?? [], 'null' as const].flat() }
}

/** The schema with a description. */
export function described(schema: ApiSchema, description: string): ApiSchema {
  return { ...schema, description }
}

export const ANYTHING: ApiSchema = {}
export const TEXT: ApiSchema = { type: 'string' }
export const FLAG: ApiSchema = { type: 'boolean' }
/** A non-negative integer. */
export const COUNT: ApiSchema = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
/** A name that is valid in a receipt. */
export const NAME: ApiSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
}
/** A sentence that is valid in a receipt. */
export const SENTENCE: ApiSchema = { ...NAME, maxLength: 500 }
/** SHA-256 in hexadecimal, also a receipt id. */
export const HASH: ApiSchema = { type: 'string', pattern: '^[0-9a-f]{64}$' }
/** A time in RFC 3339 with milliseconds. */
export const TIME: ApiSchema = {
  type: 'string',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
}
/** A string with one of these values. */
export function word(...words: readonly string[]): ApiSchema {
  return { type: 'string', enum: words }
}
