// Room: analyses texts for all gates. It visits the texts of a value and recognises values, personal data, fields, phrases and
// prompts. It has no verdicts and no state.
//
// Visits the texts in a value in a fixed order, each with its path, and replaces them in the same order.

import type { Json, JsonObject } from '@tollgate/evidence'

/** Whether images and audio of MCP are read as text. In an answer they are not. */
export type Pictures = 'read' | 'skip'

/** Visits every text in a value, in a fixed order. The path of a member name is that of its object. */
export function walk(
  value: Json,
  path: string,
  pictures: Pictures,
  visit: (path: string, text: string) => void,
): void {
  const text = textOf(value)
  if (text !== undefined) visit(path, text)
  if (typeof value !== 'object' || value === null) return
  if (isList(value)) {
    for (const item of value) walk(item, path, pictures, visit)
    return
  }
  for (const name of Object.keys(value)) {
    if (!isPlainName(name)) visit(path, name)
    const member = value[name] ?? null
    if (pictures === 'skip' && isPicture(name, value)) continue
    walk(member, path === '' ? name : `${path}.${name}`, pictures, visit)
  }
}

/** Returns a copy of a value with every text replaced by the result of `change`. It visits texts like `walk` with `skip`. */
export function rewrite(value: Json, change: (text: string) => string): Json {
  const text = textOf(value)
  if (text !== undefined) {
    const changed = change(text)
    return changed === text ? value : changed
  }
  if (typeof value !== 'object' || value === null) return value
  if (isList(value)) return value.map((item) => rewrite(item, change))
  const members = Object.keys(value).map((name): [string, Json] => {
    const renamed = isPlainName(name) ? name : change(name)
    const member = value[name] ?? null
    return [renamed, isPicture(name, value) ? member : rewrite(member, change)]
  })
  return Object.fromEntries(members)
}

// Eight digits or more.
const MIN_NUMBER = 10_000_000

/** Returns the text of a scalar. A large number can be an account, a small one says nothing. */
function textOf(value: Json): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  return typeof value === 'number' && Math.abs(value) >= MIN_NUMBER ? String(value) : undefined
}

const PLAIN_NAME = /^[A-Za-z_-]{1,32}$/

/** Returns whether it is an ordinary name of a schema and not text. A name with digits can be an account or a key. */
function isPlainName(name: string): boolean {
  return PLAIN_NAME.test(name)
}

const PICTURE = /^(?:image|audio|video)\//
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
// Smaller data could be a secret or a sentence.
const MIN_PICTURE_LENGTH = 128

/** Returns whether a member is an image or audio of MCP. */
function isPicture(name: string, { [name]: member, mimeType }: JsonObject): boolean {
  if (name !== 'data' && name !== 'blob') return false
  if (typeof mimeType !== 'string' || !PICTURE.test(mimeType) || typeof member !== 'string') return false
  return member.length >= MIN_PICTURE_LENGTH && member.length % 4 === 0 && BASE64.test(member)
}

/** Returns whether every part of a path is an ordinary name of a schema. */
function isPlainPath(path: string): boolean {
  return path.split('.').every(isPlainName)
}

const MAX_PATH = 200

/** Returns a path for messages. A member name can contain data, so only ordinary schema names are shown. */
export function shownPath(path: string): string {
  return isPlainPath(path) ? path.slice(0, MAX_PATH) : '(a member)'
}

/** `Array.isArray` does not narrow a readonly array. */
function isList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value)
}
