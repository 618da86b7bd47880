// Decodes base64 sources that are text. A text that another reader could decode differently is refused.

import { TextDecoder } from 'node:util'
import type { Json, JsonObject } from '@tollgate/evidence'
import { ambiguous, type Refused } from '../dialect.ts'

const TEXTS: readonly string[] = ['application/json', 'application/xml', 'image/svg+xml']
const MEDIA = /^[a-z]{1,16}\/[a-z0-9.+-]{1,64}$/
const UTF8 = /^;charset="?(?:utf-?8|us-ascii)"?$/

/**
 * The media type of a source, and whether it is text; undefined if it has none.
 * @throws Refused if it is text in another charset than UTF-8.
 */
export function kindOf({ media_type: media }: JsonObject): { text: boolean; media: string } | undefined {
  if (typeof media !== 'string') return undefined
  const [, type = '', parameter = ''] = /^([^;]*)(.*)$/.exec(media.toLowerCase().replaceAll(/\s/g, '')) ?? []
  const text = type.startsWith('text/') || TEXTS.includes(type)
  const plain = MEDIA.test(type) && (parameter === '' || (text && UTF8.test(parameter)))
  if (text && !plain) throw unreadable('a text in base64 is not in UTF-8')
  return plain ? { text, media: type } : undefined
}

/** The text in base64 data. @throws Refused if it is ambiguous. */
export function textIn(data: string): string {
  const bytes = Buffer.from(data, 'base64')
  if (bytes.toString('base64') !== data) throw unreadable('the data is not valid base64')
  const text = utf8(bytes)
  // Other encodings have zero bytes.
  if (text.includes('\0')) throw unreadable('a text in base64 is not in UTF-8')
  return text
}

/** Base64 of a text. */
export function dataOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}

/** Whether a value is base64, or a mark for it. */
export function isBase64(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '' && !/[^A-Za-z0-9+/_=\r\n-]/.test(value)
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw unreadable('a text in base64 is not in UTF-8')
  }
}

function unreadable(why: string): Refused {
  return ambiguous(`${why}; send the text itself`, 'messages')
}
