// JSON Schema, the part of it that the API is described with. The same objects validate requests and make up the OpenAPI
// document, so neither can say something else than the other.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'

type TypeName = 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'null'

/** A schema. Only what `problemsIn` checks, and words for readers. */
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

/** Everything that is wrong with a value, each with its place; empty if it fits. Never names the value itself. */
export function problemsIn(schema: ApiSchema, value: Json, at = ''): readonly string[] {
  const types = schema.type === undefined ? [] : [schema.type].flat()
  if (types.length > 0 && !types.some((type) => isOf(type, value))) {
    return [`${place(at)} is not ${types.map(articled).join(' or ')}`]
  }
  if (schema.enum && !schema.enum.some((each) => each === value)) {
    return [`${place(at)} is none of ${schema.enum.map((each) => `\`${each}\``).join(', ')}`]
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
  return compiled.test(value) ? [] : [`${place(at)} does not have the form \`${pattern}\``]
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
    // The name is the caller's; it is not repeated.
    return additionalProperties ? [] : [`${place(at)} has a member that is not known here`]
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

/** An object with these members and no other; those whose names end in `?` may be missing. */
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

/** A list of at most `maxItems`. */
export function list(items: ApiSchema, maxItems?: number): ApiSchema {
  return { type: 'array', items, ...(maxItems !== undefined && { maxItems }) }
}

/** The same, or null. */
export function orNull(schema: ApiSchema): ApiSchema {
  return { ...schema, type: [schema.type ?? [], 'null' as const].flat() }
}

/** The same, with a sentence. */
export function said(schema: ApiSchema, description: string): ApiSchema {
  return { ...schema, description }
}

/** Any JSON. */
export const ANYTHING: ApiSchema = {}
/** Text. */
export const TEXT: ApiSchema = { type: 'string' }
/** True or false. */
export const FLAG: ApiSchema = { type: 'boolean' }
/** A whole number from 0 on. */
export const COUNT: ApiSchema = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
/** A name as it can stand in a receipt. */
export const NAME: ApiSchema = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
}
/** A sentence as it can stand in a receipt. */
export const SENTENCE: ApiSchema = { ...NAME, maxLength: 500 }
/** SHA-256 in hexadecimal; also the id of a receipt. */
export const HASH: ApiSchema = { type: 'string', pattern: '^[0-9a-f]{64}$' }
/** A moment. */
export const TIME: ApiSchema = {
  type: 'string',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
}
/** One of these words. */
export function word(...words: readonly string[]): ApiSchema {
  return { type: 'string', enum: words }
}
