// What a member of a reply can be, written down so that a reply can be built anew from it: nothing else goes on.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { word as wordIn } from '../filter.ts'

/** Takes what a member can be out of what it is; undefined if it is something else. */
export type MemberShape = (value: Json | undefined) => Json | undefined

/** Members by name. */
export type MemberShapes = Readonly<Record<string, MemberShape>>

/** Any text. */
export const text: MemberShape = (value) => (typeof value === 'string' ? value : undefined)

/** A short word, such as a type or an id. */
export const word: MemberShape = wordIn

/** A count, or nothing. */
export const count: MemberShape = (value) => (typeof value === 'number' || value === null ? value : undefined)

/** True or false. */
export const flag: MemberShape = (value) => (typeof value === 'boolean' ? value : undefined)

/** Any object, as it is: arguments of what the provider ran, or a schema. */
export const object: MemberShape = (value) => (isObject(value) ? value : undefined)

/** The same, or nothing. */
export function orNull(shape: MemberShape): MemberShape {
  return (value) => (value === null ? null : shape(value))
}

/** The first that fits. */
export function either(first: MemberShape, second: MemberShape): MemberShape {
  return (value) => first(value) ?? second(value)
}

/** A list of what fits; the rest is left out. */
export function listOf(shape: MemberShape): MemberShape {
  return (value) =>
    isList(value) ? value.map((item) => shape(item)).filter((item) => item !== undefined) : undefined
}

/** An object with members that it must have, and others that are left out if they do not fit. */
export function record(required: MemberShapes, further: MemberShapes = {}): MemberShape {
  // Made once: every delta of a stream comes through here.
  const members = Object.entries({ ...required, ...further }).map(([name, shape]) => {
    return { name, shape, must: Object.hasOwn(required, name) }
  })
  return (value) => (isObject(value) ? recordOf(value, members) : undefined)
}

/** One of several objects, told apart by their `type`. */
export function oneOf(kinds: Readonly<Record<string, MemberShape>>): MemberShape {
  const known = new Map(Object.entries(kinds))
  return (value) => {
    if (!isObject(value) || typeof value['type'] !== 'string') return undefined
    const built = known.get(value['type'])?.(value)
    return isObject(built) ? { type: value['type'], ...built } : undefined
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
    const member = Object.hasOwn(value, name) ? shape(value[name]) : undefined
    if (member !== undefined) built[name] = member
    else if (must) return undefined
  }
  return built
}
