// Tool results in a Chat Completions request. Everything that is forwarded has been read.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { ambiguous, type Restored, type Result, type ReadResult } from '../dialect.ts'
import { entryOf } from '../filter.ts'
import { plainName } from './calls.ts'

/** A part of a result that is forwarded. */
interface Piece {
  readonly part: JsonObject
  /** The text that a model would read; undefined for an image. */
  readonly text: string | undefined
  /** The part with another text. */
  with(text: string): JsonObject
}

/** Reads the message of a result and removes unknown members. @throws Refused */
export function readResult(
  message: JsonObject,
  of: Pick<Result, 'ref' | 'tool'>,
  restored: Restored,
): ReadResult {
  const { content = null } = message
  const parts = partsOf(message)
  const pieces = parts.map((part) => pieceOf(part, restored))
  const texts = pieces.flatMap(({ text }) => text ?? [])
  // The body may be changed in place.
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
      if (others.length !== texts.length) throw new RangeError('the number of texts must stay the same')
      if (typeof content === 'string') open['content'] = others[0] ?? ''
      else if (pieces.length > 0) open['content'] = withTexts(pieces, others)
    },
    withhold(note) {
      open['content'] = note
    },
  }
  return { result, changed }
}

/** A content as parts. A string is one part. @throws Refused */
export function partsOf({ content = null }: JsonObject): readonly JsonObject[] {
  if (content === null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!isList(content) || !content.every(isObject)) {
    throw ambiguous('the content of a message must be a string or a list of parts', 'messages')
  }
  return content
}

/** Removes unknown members, because a server may show them to the model. */
function takeOut(message: Record<string, Json>): boolean {
  const unknown = Object.keys(message).filter((name) => !isKnown(name, message))
  for (const name of unknown) Reflect.deleteProperty(message, name)
  return unknown.length > 0
}

function isKnown(name: string, message: JsonObject): boolean {
  if (name === 'role' || name === 'content') return true
  // The id of a `tool` message is its reference. A `function` message has one only if the client adds it.
  if (name === 'tool_call_id' && message['role'] === 'tool') return true
  return (name === 'name' || name === 'tool_call_id') && plainName(message[name]) !== undefined
}

/** Images are not read. Other parts could hide text and are refused. */
function pieceOf(part: JsonObject, restored: Restored): Piece {
  const { type, text } = part
  if (type === 'image_url') return pictureOf(part, restored)
  if (type !== 'text' || typeof text !== 'string') {
    throw ambiguous('a tool message has a part that is neither text nor image', 'messages')
  }
  const kept = keep(part, ['type', 'text'])
  return { part: kept, text, with: (other) => ({ ...kept, text: other }) }
}

function pictureOf(part: JsonObject, restored: Restored): Piece {
  const { image_url: image } = part
  const url = isObject(image) ? image['url'] : image
  if (typeof url !== 'string') throw ambiguous('an image in a tool message has no URL', 'messages')
  // A link can carry text too. If rewriting changed it, it is forwarded as text.
  const text = isLink(url) ? url : undefined
  if (text === undefined && !isPicture(restored(url))) {
    throw ambiguous(
      'an image in a tool message must be base64 (`data:image/png;base64,...`) or a link',
      'messages',
    )
  }
  const outer = keep(part, ['type', 'image_url'])
  const inner = isObject(image) ? keep(image, ['url']) : image
  const kept = inner === undefined || inner === image ? outer : { ...outer, image_url: inner }
  return { part: kept, text, with: (other) => (other === url ? kept : { type: 'text', text: other }) }
}

/** Whether a URL is a link. */
export function isLink(url: string): boolean {
  return /^https?:\/\//i.test(url)
}

const PICTURE = /^data:image\/(?:png|jpe?g|gif|webp|avif|bmp|tiff?|hei[cf]);base64,/i
const HEAD_LENGTH = 64
const NO_BASE64 = /[^A-Za-z0-9+/_=-]/

/** Whether a URL is an inline image without readable text. */
function isPicture(url: string): boolean {
  const [head] = PICTURE.exec(url.slice(0, HEAD_LENGTH)) ?? []
  return head !== undefined && !NO_BASE64.test(url.slice(head.length))
}

/** Known cache settings of a part. */
const SETTINGS: Readonly<Record<string, readonly string[]>> = {
  cache_control: ['type ephemeral', 'ttl 5m', 'ttl 1h'],
  prompt_cache_breakpoint: ['mode explicit'],
}
/** Known detail levels of an image. */
const DETAILS: readonly Json[] = ['auto', 'low', 'high', 'original']

function isSetting(name: string, value: Json): boolean {
  const known = entryOf(SETTINGS, name)
  if (!known || !isObject(value)) return name === 'detail' && DETAILS.includes(value)
  return Object.entries(value).every(
    ([member, set]) => typeof set === 'string' && known.includes(`${member} ${set}`),
  )
}

/** An object with these members and known settings; the same object if it has no others. */
function keep(object: JsonObject, names: readonly string[]): JsonObject {
  const members = Object.entries(object)
  const kept = members.filter(([name, value]) => names.includes(name) || isSetting(name, value))
  return kept.length === members.length ? object : Object.fromEntries(kept)
}

function withTexts(pieces: readonly Piece[], texts: readonly string[]): readonly JsonObject[] {
  let at = 0
  return pieces.map((piece) => (piece.text === undefined ? piece.part : piece.with(texts[at++] ?? '')))
}
