// The one layout of policy files, taken from their schema: the order of keys, and which texts stand in quotes.

import type { Json, JsonObject } from '@tollgate/evidence'
import { POLICY_QUOTED, POLICY_SCHEMA } from '@tollgate/kernel/policy'
import { isObject } from './generate/shape.ts'

/** How one part of a policy file is laid out. */
export interface Layout {
  /** Its place in the file: `*` is any member of a mapping with free names, and items have the place of their list. */
  readonly path: string
  readonly schema: JsonObject
}

/** The layout of a policy file. */
export const POLICY_LAYOUT: Layout = { path: '', schema: POLICY_SCHEMA }

/** The order of the keys of a mapping. Where there is none, order is meaning or taste, and stays. */
export function orderOf({ schema: { properties } }: Layout): readonly string[] | undefined {
  return isObject(properties) ? Object.keys(properties) : undefined
}

/** Whether it is somebody else's format, and stays as it is written. */
export function isForeign({ schema: { additionalProperties } }: Layout): boolean {
  return additionalProperties === true
}

/** Whether the keys of a mapping stand in quotes. */
export function hasQuotedKeys({ path }: Layout): boolean {
  return POLICY_QUOTED.keys.includes(path)
}

/** Whether a text stands in quotes. */
export function isQuoted({ path }: Layout): boolean {
  return POLICY_QUOTED.texts.includes(path)
}

/** The layout of the items of a list. */
export function itemLayout({ path, schema: { items } }: Layout): Layout {
  return { path, schema: resolved(items) }
}

/** The layout of a member of a mapping. */
export function memberLayout({ path, schema }: Layout, name: string): Layout {
  const { properties, additionalProperties } = schema
  if (!isObject(properties) || !Object.hasOwn(properties, name)) {
    return { path: `${path}.*`, schema: resolved(additionalProperties) }
  }
  return { path: path === '' ? name : `${path}.${name}`, schema: resolved(properties[name]) }
}

/** A schema behind its reference; of two forms the mapping, since the other is a text or a list of texts. */
function resolved(schema: Json | undefined): JsonObject {
  if (!isObject(schema)) return {}
  const { $ref, anyOf } = schema
  const { $defs } = POLICY_SCHEMA
  if (typeof $ref === 'string' && isObject($defs)) return resolved($defs[$ref.replace('#/$defs/', '')])
  return (Array.isArray(anyOf) ? anyOf.filter(isObject).find(({ type }) => type === 'object') : schema) ?? {}
}
