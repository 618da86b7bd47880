// The layout of policy files, derived from their schema: key order and quoting.

import type { Json, JsonObject } from '@tollgate/evidence'
import { POLICY_QUOTED, POLICY_SCHEMA } from '@tollgate/kernel/policy'
import { isObject } from './generate/shape.ts'

/** The layout of one part of a policy file. */
export interface Layout {
  /** Its path: `*` is any member of a mapping with free names. Items have the path of their list. */
  readonly path: string
  readonly schema: JsonObject
}

export const POLICY_LAYOUT: Layout = { path: '', schema: POLICY_SCHEMA }

/** The order of the keys of a mapping; undefined if the order must be kept. */
export function orderOf({ schema: { properties } }: Layout): readonly string[] | undefined {
  return isObject(properties) ? Object.keys(properties) : undefined
}

/** Whether the content has a foreign format and is kept as written. */
export function isForeign({ schema: { additionalProperties } }: Layout): boolean {
  return additionalProperties === true
}

/** Whether the keys of a mapping are quoted. */
export function hasQuotedKeys({ path }: Layout): boolean {
  return POLICY_QUOTED.keys.includes(path)
}

/** Whether a text is quoted. */
export function isQuoted({ path }: Layout): boolean {
  return POLICY_QUOTED.texts.includes(path)
}

export function itemLayout({ path, schema: { items } }: Layout): Layout {
  return { path, schema: resolved(items) }
}

export function memberLayout({ path, schema }: Layout, name: string): Layout {
  const { properties, additionalProperties } = schema
  if (!isObject(properties) || !Object.hasOwn(properties, name)) {
    return { path: `${path}.*`, schema: resolved(additionalProperties) }
  }
  return { path: path === '' ? name : `${path}.${name}`, schema: resolved(properties[name]) }
}

/** Resolves references. Of alternatives it takes the mapping, because the others are texts or lists of texts. */
function resolved(schema: Json | undefined): JsonObject {
  if (!isObject(schema)) return {}
  const { $ref, anyOf } = schema
  const { $defs } = POLICY_SCHEMA
  if (typeof $ref === 'string' && isObject($defs)) return resolved($defs[$ref.replace('#/$defs/', '')])
  return (Array.isArray(anyOf) ? anyOf.filter(isObject).find(({ type }) => type === 'object') : schema) ?? {}
}
