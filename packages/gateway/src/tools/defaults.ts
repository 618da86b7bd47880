// Fills in arguments that a tool requires and has a default for. Some generators of schemas call every argument with a default
// required, and clients leave these arguments out.

import type { Json, JsonObject } from '@tollgate/evidence'
import { isList, isObject } from './offer.ts'

/** The defaults of the required members of an object, and of the objects in it. */
export interface Defaults {
  readonly own: readonly (readonly [name: string, value: Json])[]
  readonly inside: readonly (readonly [name: string, defaults: Defaults])[]
}

/**
 * The defaults in a schema of arguments; undefined if there are none. Follows `properties` only: with references, alternatives and
 * items of lists it is not certain which default applies.
 */
export function defaultsIn(schema: Json | undefined): Defaults | undefined {
  if (!isObject(schema)) return undefined
  const { required, properties } = schema
  if (!isObject(properties)) return undefined
  const members = Object.entries(properties)
  const own = members.flatMap(([name, member]) => {
    const isNeeded = isList(required) && required.includes(name) && isObject(member)
    return isNeeded && member['default'] !== undefined ? [[name, member['default']] as const] : []
  })
  const inside = members.flatMap(([name, member]) => {
    const inner = defaultsIn(member)
    return inner ? [[name, inner] as const] : []
  })
  return own.length + inside.length === 0 ? undefined : { own, inside }
}

/** The arguments with each missing member that has a default. Never changes a member that is there. */
export function withDefaults(args: JsonObject, defaults: Defaults | undefined): JsonObject {
  if (!defaults) return args
  const missing = defaults.own.filter(([name]) => !Object.hasOwn(args, name))
  const filled = missing.length === 0 ? args : { ...args, ...Object.fromEntries(missing) }
  const changed = defaults.inside.flatMap(([name, inner]) => {
    const value = Object.hasOwn(filled, name) ? filled[name] : undefined
    const next = isObject(value) ? withDefaults(value, inner) : value
    return next === undefined || next === value ? [] : [[name, next] as const]
  })
  return changed.length === 0 ? filled : { ...filled, ...Object.fromEntries(changed) }
}
