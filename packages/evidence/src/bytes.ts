// Strict conversions of text and bytes: each value has exactly one accepted encoding.

import { EvidenceError } from './error.ts'
import { nodeBuffer, type NodeBuffer, type NodeBytes } from './host.ts'

const encoder = new TextEncoder()
// `ignoreBOM` keeps a byte-order mark in the text, so that the parser refuses it.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** UTF-8 bytes of `text`. The text must be well formed. */
export function utf8(text: string): Uint8Array {
  return nodeBuffer ? nodeBuffer.from(text, 'utf8') : encoder.encode(text)
}

/** The UTF-8 length of a well-formed text. */
export function utf8Length(text: string): number {
  return nodeBuffer ? nodeBuffer.byteLength(text, 'utf8') : encoder.encode(text).length
}

/** Bytes of an ASCII text. */
export function ascii(text: string): Uint8Array {
  return nodeBuffer ? nodeBuffer.from(text, 'latin1') : encoder.encode(text)
}

/** The text of UTF-8 `bytes`, or undefined if they are not UTF-8. A byte-order mark is kept. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    // The decoder fails only for bytes that are not UTF-8.
    return undefined
  }
}

/** Text with one character per byte, for ASCII formats. Other bytes then fail to match. */
export function latin1(bytes: Uint8Array): string {
  if (nodeBuffer) return asBuffer(nodeBuffer, bytes).toString('latin1')
  let text = ''
  for (let at = 0; at < bytes.length; at += 4096)
    text += String.fromCharCode(...bytes.subarray(at, at + 4096))
  return text
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Lower-case hexadecimal. */
export function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += HEX[byte] ?? ''
  return text
}

const HEX_PAIRS = /^(?:[0-9a-f]{2})*$/

/** Bytes of lower-case hexadecimal, or undefined for any other text. */
export function fromHex(text: string): Uint8Array | undefined {
  if (!HEX_PAIRS.test(text)) return undefined
  const bytes = new Uint8Array(text.length / 2)
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)
  return bytes
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const VALUES = new Int8Array(128).fill(-1)
for (let i = 0; i < 64; i++) VALUES[ALPHABET.charCodeAt(i)] = i

/** Standard base64 with padding (RFC 4648, 4). */
export function toBase64(bytes: Uint8Array): string {
  if (nodeBuffer) return asBuffer(nodeBuffer, bytes).toString('base64')
  let text = ''
  for (let i = 0; i < bytes.length; i += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(i, i + 3)
    const group = (a << 16) | (b << 8) | c
    text += ALPHABET.charAt(group >> 18) + ALPHABET.charAt((group >> 12) & 63)
    text += i + 1 < bytes.length ? ALPHABET.charAt((group >> 6) & 63) : '='
    text += i + 2 < bytes.length ? ALPHABET.charAt(group & 63) : '='
  }
  return text
}

/**
 * Bytes of standard base64, or undefined.
 *
 * Accepts only the canonical form: padded, no white space, unused bits zero. Otherwise a changed bit could leave the decoded
 * value, and so a signature, unchanged.
 */
export function fromBase64(text: string): Uint8Array | undefined {
  if (nodeBuffer) {
    // Buffer decodes leniently. Encoding again and comparing accepts only the canonical form.
    const bytes = nodeBuffer.from(text, 'base64')
    return bytes.toString('base64') === text ? bytes : undefined
  }
  return decodeBase64(text)
}

function decodeBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const digits = text.length - padding
  const bytes = new Uint8Array((text.length / 4) * 3 - padding)
  let bits = 0
  let held = 0
  let at = 0
  for (let i = 0; i < digits; i++) {
    const value = VALUES[text.charCodeAt(i)] ?? -1
    if (value < 0) return undefined
    held = ((held << 6) | value) & 0xffff
    bits += 6
    if (bits >= 8) {
      bits -= 8
      bytes[at++] = (held >> bits) & 255
    }
  }
  return (held & ((1 << bits) - 1)) === 0 ? bytes : undefined
}

/** The same bytes as a Buffer, without copying them. */
function asBuffer(buffer: NodeBuffer, bytes: Uint8Array): NodeBytes {
  if (buffer.isBuffer(bytes)) return bytes
  return buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** As `fromBase64`, but throws `BASE64_MALFORMED` for a wrong form or length. */
export function requireBase64(text: string, length: number, what: string): Uint8Array {
  const bytes = fromBase64(text)
  if (bytes?.length !== length) {
    throw new EvidenceError('BASE64_MALFORMED', `${what} is not ${length} bytes in base64`)
  }
  return bytes
}

/** Whether two byte strings are equal. Not constant-time: nothing compared here is secret. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Concatenates byte strings. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return join(parts)
}

/** Concatenates a list of byte strings. */
export function join(parts: readonly Uint8Array[]): Uint8Array {
  // Node takes small buffers from a pool, which is several times faster than an allocation.
  if (nodeBuffer) return nodeBuffer.concat(parts)
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}
