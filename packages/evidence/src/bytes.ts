// Text and bytes, strictly: one spelling for each value, so that no two encodings mean the same thing.

import { EvidenceError } from './error.ts'
import { nodeBuffer, type NodeBuffer, type NodeBytes } from './host.ts'

const encoder = new TextEncoder()
// ignoreBOM keeps a byte-order mark in the text, where the parser then refuses it.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** UTF-8 bytes of `text`. The text must be well formed. */
export function utf8(text: string): Uint8Array {
  return nodeBuffer ? nodeBuffer.from(text, 'utf8') : encoder.encode(text)
}

/** How many bytes of UTF-8 a well-formed text takes. */
export function utf8Length(text: string): number {
  return nodeBuffer ? nodeBuffer.byteLength(text, 'utf8') : encoder.encode(text).length
}

/** Bytes of a text that is ASCII. */
export function ascii(text: string): Uint8Array {
  return nodeBuffer ? nodeBuffer.from(text, 'latin1') : encoder.encode(text)
}

/** The text of UTF-8 `bytes`, or undefined if they are not UTF-8. A byte-order mark is kept. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    // The decoder has one way to fail: bytes that are not UTF-8.
    return undefined
  }
}

/** Text with one character for each byte: for formats that are ASCII, where any other byte then fails to match. */
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

/** Bytes of lower-case hexadecimal, or undefined if `text` is anything else. */
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
 * Only the one canonical spelling is accepted: padded, no white space, unused bits zero. Otherwise a changed
 * bit could leave the decoded value, and so a signature, as it was.
 */
export function fromBase64(text: string): Uint8Array | undefined {
  if (nodeBuffer) {
    // Buffer decodes leniently; encoding again and comparing leaves exactly the canonical spelling.
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

/** As `fromBase64`, for callers to whom a wrong spelling or length is a fault. */
export function requireBase64(text: string, length: number, what: string): Uint8Array {
  const bytes = fromBase64(text)
  if (bytes?.length !== length) {
    throw new EvidenceError('BASE64_MALFORMED', `${what} is not ${length} bytes in base64`)
  }
  return bytes
}

/** Whether two byte strings are the same. Not constant in time: nothing compared here is secret. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** One byte string out of several. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  return join(parts)
}

/** One byte string out of a list, however long. */
export function join(parts: readonly Uint8Array[]): Uint8Array {
  // Small buffers of Node come out of a pool, which is several times cheaper than an allocation of their own.
  if (nodeBuffer) return nodeBuffer.concat(parts)
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}
