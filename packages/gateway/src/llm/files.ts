// Reads files and images in requests: recognizes text in base64 or data URLs, and encodes replaced text in the same form.

import { TextDecoder } from 'node:util'

export type FileContent =
  /** `encode` puts another text into the original form. */
  | { readonly kind: 'text'; readonly text: string; encode(text: string): string }
  /** A document or an image, which is not read. */
  | { readonly kind: 'other' }
  /** It may be text, but cannot be decoded reliably. */
  | { readonly kind: 'unreadable' }

const OTHER: FileContent = { kind: 'other' }
const UNREADABLE: FileContent = { kind: 'unreadable' }

interface Packed {
  /** The settings of a data URL, such as `text/plain;charset=utf-8`. */
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
  // Content that decodes as text is text, whatever media type it claims.
  if (!isText && !looksLikeText(text)) return OTHER
  return { kind: 'text', text, encode: (other) => pack(other.toWellFormed()) }
}

/** Reads the URL of an image: a data URL, or a link, which is text. */
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
  // Base64 may have line breaks. With spaces it is more likely prose.
  const bare = /[\r\n]/.test(body) ? body.replaceAll(/[\r\n]/g, '') : body
  if (!isBase64(bare)) return undefined
  const form = /[-_]/.test(bare) ? 'base64url' : 'base64'
  return {
    settings,
    bytes: Buffer.from(bare, 'base64'),
    pack: (text) => head + Buffer.from(text).toString(form),
  }
}

/** A data URL with percent-encoded text. */
function unescaped(head: string, settings: string, body: string): Packed | undefined {
  try {
    const bytes = Buffer.from(decodeURIComponent(body))
    return { settings, bytes, pack: (text) => head + encodeURIComponent(text) }
  } catch {
    return undefined
  }
}

// Decoders disagree about other characters.
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

/** Whether the declared charset is UTF-8 or ASCII. */
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

// A PDF may consist of ASCII only, and is still no text.
const DOCUMENT = '%PDF-'

function looksLikeText(text: string): boolean {
  return text !== '' && !text.includes('\0') && !text.startsWith(DOCUMENT)
}
