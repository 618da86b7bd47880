// Files and pictures as a request brings them along: which of them are texts.

import { isUtf8 } from 'node:buffer'

const PICTURE = /^data:image\/(?:png|jpe?g|gif|webp|avif|bmp|tiff?|hei[cf]);base64,/i
const HEAD_LENGTH = 64
const NO_BASE64 = /[^A-Za-z0-9+/_=-]/

/** Whether a URL holds a picture itself, and nothing that a model would read as text. */
export function isPicture(url: string): boolean {
  const [head] = PICTURE.exec(url.slice(0, HEAD_LENGTH)) ?? []
  return head !== undefined && !NO_BASE64.test(url.slice(head.length))
}

/** Whether a URL says where something is. */
export function isLink(url: string): boolean {
  return /^https?:\/\//i.test(url)
}

/** What a file says that is given as a data URL or as base64; undefined if it is no text. */
export function textInFile(data: string): string | undefined {
  if (isLink(data)) return undefined
  const comma = data.indexOf(',')
  if (!/^data:/i.test(data) || comma < 0) {
    // Many encoders break lines.
    return NO_BASE64.test(data.replaceAll(/[\r\n]/g, '')) ? data : textIn(Buffer.from(data, 'base64'))
  }
  const [type = '', ...settings] = data
    .slice('data:'.length, comma)
    .split(';')
    .map((setting) => setting.trim().toLowerCase())
  const rest = data.slice(comma + 1)
  const bytes = settings.includes('base64') ? Buffer.from(rest, 'base64') : Buffer.from(unescaped(rest))
  return TEXT_TYPE.test(type) ? bytes.toString('utf8') : textIn(bytes)
}

const TEXT_TYPE = /^text\/|[/+](?:json|xml|yaml)$/
const PDF = '%PDF-'

/** Whatever a file is said to be: what can be read as text is one. */
function textIn(bytes: Buffer): string | undefined {
  const isText =
    isUtf8(bytes) && !bytes.includes(0) && !bytes.subarray(0, PDF.length).equals(Buffer.from(PDF))
  return isText && bytes.length > 0 ? bytes.toString('utf8') : undefined
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
