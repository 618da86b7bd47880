// What comes as base64: which of it is text, and the text that it is. Whoever gets it must not be able to read another text in it.

import { TextDecoder } from 'node:util'
import type { Json, JsonObject } from '@tollgate/evidence'
import { Refused } from '../dialect.ts'

const TEXTS: readonly string[] = ['application/json', 'application/xml', 'image/svg+xml']
const MEDIA = /^[a-z]{1,16}\/[a-z0-9.+-]{1,64}$/
const UTF8 = /^;charset="?(?:utf-?8|us-ascii)"?$/

/**
 * What a source says that it is, and whether that is a text; undefined if it does not say.
 *
 * @throws Refused if it is a text in another alphabet, so that it would be another text.
 */
export function kindOf({ media_type: media }: JsonObject): { text: boolean; media: string } | undefined {
  if (typeof media !== 'string') return undefined
  const [, type = '', parameter = ''] = /^([^;]*)(.*)$/.exec(media.toLowerCase().replaceAll(/\s/g, '')) ?? []
  const text = type.startsWith('text/') || TEXTS.includes(type)
  const plain = MEDIA.test(type) && (parameter === '' || (text && UTF8.test(parameter)))
  if (text && !plain) throw unreadable('a text in base64 is not in UTF-8')
  return plain ? { text, media: type } : undefined
}

/** The text that base64 stands for. @throws Refused if it could be read in two ways. */
export function textIn(data: string): string {
  const bytes = Buffer.from(data, 'base64')
  if (bytes.toString('base64') !== data) throw unreadable('what is said to be base64 is not')
  const text = utf8(bytes)
  // Of another encoding, every other byte is one.
  if (text.includes('\0')) throw unreadable('a text in base64 is not in UTF-8')
  return text
}

/** Base64 of a text. */
export function dataOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}

/** Whether a value is base64, or the mark that stands for it. */
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
  return new Refused(400, 'AMBIGUOUS_INPUT', `${why}; send the text itself`, 'messages')
}
