// Files and pictures that a request brings along: which of them are text in another form, and how other text takes on the same form.

import { TextDecoder } from 'node:util'

/** What a file turns out to be. */
export type FileContent =
  /** `encode` puts other text into the form that this one came in. */
  | { readonly kind: 'text'; readonly text: string; encode(text: string): string }
  /** A document or a picture, which nobody here reads. */
  | { readonly kind: 'other' }
  /** It may be text, and cannot be told from what came. */
  | { readonly kind: 'unreadable' }

const OTHER: FileContent = { kind: 'other' }
const UNREADABLE: FileContent = { kind: 'unreadable' }

/** Bytes as they were packed into a text. */
interface Packed {
  /** What a data URL says of them, such as `text/plain;charset=utf-8`. */
  readonly settings: string | undefined
  readonly bytes: Buffer
  readonly pack: (text: string) => string
}

const DATA_URL = /^\s*data:([^,]*),/i

/** Reads the data of a file: a data URL, or bare base64. */
export function readFileData(data: string): FileContent {
  const packed = unpack(data)
  if (!packed) return UNREADABLE
  const { settings, bytes, pack } = packed
  const isText = settings !== undefined && isTextMedia(settings)
  if (isText && !isUtf8(settings)) return UNREADABLE
  const text = decoded(bytes)
  if (text === undefined) return isText ? UNREADABLE : OTHER
  // What says that it is something else is text all the same if it can be read as such.
  if (!isText && !looksWritten(text)) return OTHER
  return { kind: 'text', text, encode: (other) => pack(other.toWellFormed()) }
}

/** Reads the address of a picture: a picture as a data URL, or where one lies, which is a text. */
export function readPicture(url: string): FileContent {
  const [, settings] = DATA_URL.exec(url) ?? []
  if (settings !== undefined) {
    const media = mediaOf(settings)
    if (!media.startsWith('image/')) return UNREADABLE
    return isTextMedia(media) ? readFileData(url) : OTHER
  }
  return /^https?:/i.test(url) ? { kind: 'text', text: url, encode: (other) => other } : UNREADABLE
}

function unpack(data: string): Packed | undefined {
  const [head = '', settings] = DATA_URL.exec(data) ?? []
  const body = data.slice(head.length)
  if (settings !== undefined && !/;\s*base64\s*$/i.test(settings)) return unescaped(head, settings, body)
  // It may come in lines; with spaces in it, it is rather words.
  const bare = /[\r\n]/.test(body) ? body.replaceAll(/[\r\n]/g, '') : body
  if (!isBase64(bare)) return undefined
  const form = /[-_]/.test(bare) ? 'base64url' : 'base64'
  return {
    settings,
    bytes: Buffer.from(bare, 'base64'),
    pack: (text) => head + Buffer.from(text).toString(form),
  }
}

/** A data URL that holds its text as such. */
function unescaped(head: string, settings: string, body: string): Packed | undefined {
  try {
    const bytes = Buffer.from(decodeURIComponent(body))
    return { settings, bytes, pack: (text) => head + encodeURIComponent(text) }
  } catch {
    return undefined
  }
}

// Decoders do not agree on what else there may be.
function isBase64(text: string): boolean {
  const end = text.indexOf('=')
  return !/[^\w+/=-]/.test(text) && (end < 0 || /^={1,2}$/.test(text.slice(end)))
}

function mediaOf(settings: string): string {
  const [media = ''] = settings.split(';', 1)
  return media.trim().toLowerCase() || 'text/plain'
}

const TEXT_MEDIA =
  /^text\/|^application\/(?:(?:x-)?(?:json|ndjson|jsonl|json5|yaml|toml|sh|javascript|typescript|httpd-php|python|tex)|xml|xhtml|ecmascript|sql|graphql|csv)$|\+(?:json|xml|yaml)$/

function isTextMedia(settings: string): boolean {
  return TEXT_MEDIA.test(mediaOf(settings))
}

/** Whether a text, by what it says of itself, is in the only alphabet that is read here. */
function isUtf8(settings: string): boolean {
  const [, charset] = /;\s*charset\s*=\s*"?([^";]*)/i.exec(settings) ?? []
  return charset === undefined || /^(?:utf-?8|us-ascii|ascii)\s*$/i.test(charset)
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

// A document of this kind may have been written in letters alone, and is still not read as such.
const DOCUMENT = '%PDF-'

function looksWritten(text: string): boolean {
  return text !== '' && !text.includes('\0') && !text.startsWith(DOCUMENT)
}
