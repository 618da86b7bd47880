// Describes the members of a reply. It is rebuilt from these shapes, and everything else is dropped.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { word as wordIn } from './filter.ts'

/** Returns the known part of a value; undefined if it does not fit. */
export type MemberShape = (value: Json | undefined) => Json | undefined

export type RecordShape = (value: Json | undefined) => JsonObject | undefined

export type MemberShapes = Readonly<Record<string, MemberShape>>

export const text: MemberShape = (value) => (typeof value === 'string' ? value : undefined)

/** A short word, such as a type or an id. */
export const word: MemberShape = wordIn

export const figure: MemberShape = (value) => (typeof value === 'number' ? value : undefined)

/** A short word, a number, a flag or null. */
export const short: MemberShape = (value) => (typeof value === 'string' ? word(value) : scalar(value))

/** A number or null. */
export const count: MemberShape = orNull(figure)

export const flag: MemberShape = (value) => (typeof value === 'boolean' ? value : undefined)

/** Anything, unchanged. */
export const any: MemberShape = (value) => value

/** A string, number, flag or null. */
export const scalar: MemberShape = (value) =>
  value === null || typeof value !== 'object' ? value : undefined

/** Any object, unchanged: arguments of a provider tool, or a schema. */
export const object: MemberShape = (value) => (isObject(value) ? value : undefined)

/** Also accepts null. */
export function orNull(shape: MemberShape): MemberShape {
  return (value) => (value === null ? null : shape(value))
}

/** The first shape that fits. */
export function either(first: MemberShape, second: MemberShape): MemberShape {
  return (value) => first(value) ?? second(value)
}

/** A list of the items that fit. The others are dropped. */
export function listOf(shape: MemberShape): MemberShape {
  return (value) =>
    isList(value) ? value.map((item) => shape(item)).filter((item) => item !== undefined) : undefined
}

/** A list of which all items fit. */
export function allOf(shape: MemberShape): (value: Json | undefined) => readonly Json[] | undefined {
  return (value) => {
    const built = isList(value) ? value.map((item) => shape(item)) : [undefined]
    return built.every((item) => item !== undefined) ? built : undefined
  }
}

/** Members of the same shape. */
export function each(names: readonly string[], shape: MemberShape): MemberShapes {
  return Object.fromEntries(names.map((name) => [name, shape]))
}

/** An object with required members and further ones, which are dropped if they do not fit. */
export function record(required: MemberShapes, further: MemberShapes = {}): RecordShape {
  // Prepared once, because every delta of a stream passes here.
  const members = Object.entries({ ...required, ...further }).map(([name, shape]) => {
    return { name, shape, must: Object.hasOwn(required, name) }
  })
  return (value) => (isObject(value) ? recordOf(value, members) : undefined)
}

/** One of several objects, distinguished by `type`. */
export function oneOf(kinds: Readonly<Record<string, RecordShape>>): RecordShape {
  const known = new Map(Object.entries(kinds))
  return (value) => {
    if (!isObject(value) || typeof value['type'] !== 'string') return undefined
    const built = known.get(value['type'])?.(value)
    return built && { type: value['type'], ...built }
  }
}

interface NamedShape {
  readonly name: string
  readonly shape: MemberShape
  readonly must: boolean
}

function recordOf(value: JsonObject, members: readonly NamedShape[]): JsonObject | undefined {
  const built: Record<string, Json> = {}
  for (const { name, shape, must } of members) {
    const given = value[name]
    // Most further members are missing, and asking for them is faster than `hasOwn`.
    const member = given !== undefined && Object.hasOwn(value, name) ? shape(given) : undefined
    if (member !== undefined) built[name] = member
    else if (must) return undefined
  }
  return built
}
