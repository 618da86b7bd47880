// Room: texts are taken apart here, for all gates. It holds the walk through a value and the recognisers of values, personal data,
// fields, phrases and prompts. It holds no verdicts and remembers nothing.
//
// The texts in a value: visited in a fixed order, each with its path, and put back in the same order when some are changed.

import type { Json, JsonObject } from '@tollgate/evidence'

/** Whether pictures and sounds, as MCP carries them, are texts like any other. In an answer nobody reads them as such. */
export type Pictures = 'read' | 'skip'

/** Visits every text in a value, in a fixed order. A name of a member stands at the path of its object. */
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

/** A copy of a value in which every text that `walk` visits without pictures, in its order, is what `change` makes of it. */
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

// Of eight digits or more.
const LARGE = 10_000_000

/** What there is to read in a scalar. An account may come as a number; a small one says nothing. */
function textOf(value: Json): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value
  return typeof value === 'number' && Math.abs(value) >= LARGE ? String(value) : undefined
}

const PLAIN_NAME = /^[A-Za-z_-]{1,32}$/

/** Whether it is a name as schemas have them, and no text. With digits it may be an account or a key. */
function isPlainName(name: string): boolean {
  return PLAIN_NAME.test(name)
}

const PICTURE = /^(?:image|audio|video)\//
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
// No picture is smaller; a secret or a sentence might look like one.
const SMALLEST_PICTURE = 128

/** Whether a member is a picture or a sound as MCP carries them, and could be one: nobody reads it as text. */
function isPicture(name: string, { [name]: member, mimeType }: JsonObject): boolean {
  if (name !== 'data' && name !== 'blob') return false
  if (typeof mimeType !== 'string' || !PICTURE.test(mimeType) || typeof member !== 'string') return false
  return member.length >= SMALLEST_PICTURE && member.length % 4 === 0 && BASE64.test(member)
}

/** Whether every part of a path is a name as schemas have them. */
function isPlainPath(path: string): boolean {
  return path.split('.').every(isPlainName)
}

const MAX_PATH = 200

/** A path as it may be told. A name of a member can be a value as well as any text: only what a schema would call one is shown. */
export function shownPath(path: string): string {
  return isPlainPath(path) ? path.slice(0, MAX_PATH) : '(a member)'
}

/** `Array.isArray` does not narrow a readonly array. */
function isList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value)
}
