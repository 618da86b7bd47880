// What tools have answered, as a request of Chat Completions hands it to the model: nothing of it goes on unread.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import type { Restored, Result, ReadResult } from '../dialect.ts'
import { isLink, isPicture } from './pictures.ts'
import { plainName } from './names.ts'
import { unreadable } from './tools.ts'

/** A part of a result, as far as it goes on. */
interface Piece {
  readonly part: JsonObject
  /** What a model would read of it; undefined for a picture. */
  readonly text: string | undefined
  /** The part with another text. */
  with(text: string): JsonObject
}

/** Reads the message of a result, and takes out of it what is not known. @throws Refused */
export function readResult(
  message: JsonObject,
  of: Pick<Result, 'ref' | 'tool'>,
  restored: Restored,
): ReadResult {
  const { content = null } = message
  const parts = partsOf(message)
  const pieces = parts.map((part) => pieceOf(part, restored))
  const texts = pieces.flatMap(({ text }) => text ?? [])
  // The body is ours, and is changed where the result stands.
  const open: Record<string, Json> = message
  const isCut = pieces.some(({ part }, at) => part !== parts[at])
  if (isCut) open['content'] = pieces.map(({ part }) => part)
  const changed = takeOut(open) || isCut
  const result: Result = {
    kind: 'result',
    ...of,
    failed: false,
    content,
    texts,
    rewrite(others) {
      if (others.length !== texts.length) throw new RangeError('a result keeps the number of its texts')
      if (typeof content === 'string') open['content'] = others[0] ?? ''
      else if (pieces.length > 0) open['content'] = withTexts(pieces, others)
    },
    withhold(note) {
      open['content'] = note
    },
  }
  return { result, changed }
}

/** A content as parts: a text is one. @throws Refused */
export function partsOf({ content = null }: JsonObject): readonly JsonObject[] {
  if (content === null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!isList(content) || !content.every(isObject)) {
    throw unreadable('the content of a message is neither a text nor a list of parts', 'messages')
  }
  return content
}

/** Members that nobody has read do not go on: a server may show them to the model. */
function takeOut(message: Record<string, Json>): boolean {
  const strange = Object.keys(message).filter((name) => !isKnown(name, message))
  for (const name of strange) Reflect.deleteProperty(message, name)
  return strange.length > 0
}

function isKnown(name: string, message: JsonObject): boolean {
  if (name === 'role' || name === 'content') return true
  // The id of a tool's message was read; a function's has none, unless a client gives it one.
  if (name === 'tool_call_id' && message['role'] === 'tool') return true
  return (name === 'name' || name === 'tool_call_id') && plainName(message[name]) !== undefined
}

/** Pictures are not read. Anything else could hide a text, so that it does not go on. */
function pieceOf(part: JsonObject, restored: Restored): Piece {
  const { type, text } = part
  if (type === 'image_url') return pictureOf(part, restored)
  if (type !== 'text' || typeof text !== 'string') {
    throw unreadable('a tool message has a part that is neither text nor picture', 'messages')
  }
  const kept = keep(part, ['type', 'text'])
  return { part: kept, text, with: (other) => ({ ...kept, text: other }) }
}

function pictureOf(part: JsonObject, restored: Restored): Piece {
  const { image_url: image } = part
  const url = isObject(image) ? image['url'] : image
  if (typeof url !== 'string') throw unreadable('a picture in a tool message has no URL', 'messages')
  // Where a picture is can say something by itself. What is no URL any more after a rewriting goes on as the text that it is.
  const text = isLink(url) ? url : undefined
  if (text === undefined && !isPicture(restored(url))) {
    throw unreadable(
      'a picture in a tool message is neither a picture in base64 (`data:image/png;base64,...`) nor a link',
      'messages',
    )
  }
  const outer = keep(part, ['type', 'image_url'])
  const inner = isObject(image) ? keep(image, ['url']) : image
  const kept = inner === undefined || inner === image ? outer : { ...outer, image_url: inner }
  return { part: kept, text, with: (other) => (other === url ? kept : { type: 'text', text: other }) }
}

/** What clients say about a part besides what it holds: how it is cached. */
const SETTINGS: Readonly<Record<string, readonly string[]>> = {
  cache_control: ['type ephemeral', 'ttl 5m', 'ttl 1h'],
  prompt_cache_breakpoint: ['mode explicit'],
}
/** How closely a picture is looked at. */
const DETAILS: readonly Json[] = ['auto', 'low', 'high', 'original']

function isSetting(name: string, value: Json): boolean {
  const known = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined
  if (!known || !isObject(value)) return name === 'detail' && DETAILS.includes(value)
  return Object.entries(value).every(
    ([member, set]) => typeof set === 'string' && known.includes(`${member} ${set}`),
  )
}

/** An object with these members and what is known to be set; the same one if it has no others. */
function keep(object: JsonObject, names: readonly string[]): JsonObject {
  const members = Object.entries(object)
  const kept = members.filter(([name, value]) => names.includes(name) || isSetting(name, value))
  return kept.length === members.length ? object : Object.fromEntries(kept)
}

function withTexts(pieces: readonly Piece[], texts: readonly string[]): readonly JsonObject[] {
  let at = 0
  return pieces.map((piece) => (piece.text === undefined ? piece.part : piece.with(texts[at++] ?? '')))
}
