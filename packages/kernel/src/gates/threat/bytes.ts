// Decides whether bytes are text, and writes them into a view.

import { endOf, startOf, write, type View, type Writer } from './view.ts'

/** Returns whether a byte is invalid in UTF-8 text, with `more` continuation bytes expected. Zeros are valid, as in UTF-16. */
export function isInvalid(byte: number, more: number): boolean {
  if (byte >= 0x80) return byte >= 0xf5 || byte === 0xc0 || byte === 0xc1 || byte < 0xc0 !== more > 0
  return more > 0 || byte === 127 || (byte < 32 && byte !== 0 && byte !== 9 && byte !== 10 && byte !== 13)
}

/** Returns the number of continuation bytes that are expected after this byte. */
export function moreAfter(byte: number, more: number): number {
  return byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc0 ? 1 : more > 0 ? more - 1 : 0
}

const MIN_TEXT_LENGTH = 8

/** Returns whether nearly all bytes are printable text in UTF-8 or UTF-16. */
export function isText(bytes: Uint8Array): boolean {
  let plain = 0
  let letters = 0
  let zeros = 0
  for (let i = 0; i < bytes.length;) {
    const size = characterSize(bytes, i)
    const byte = bytes[i] ?? 0
    if (byte === 0) zeros++
    else if (size > 0) plain += size
    if (size > 1 || isWordy(byte)) letters += size
    i += Math.max(1, size)
  }
  const wide = zeros * 5 >= bytes.length * 2
  const all = wide ? bytes.length - zeros : bytes.length
  return all >= MIN_TEXT_LENGTH && plain * 20 >= all * 19 && letters * 2 >= all
}

/** Letters, digits, spaces, and the signs of Morse code. */
function isWordy(byte: number): boolean {
  const letter = byte | 32
  return (letter >= 97 && letter <= 122) || byte === 32 || (byte >= 45 && byte < 58)
}

/** Returns the size of the character at an index; 0 if it is not printable. A truncated last character counts. */
function characterSize(bytes: Uint8Array, i: number): number {
  const first = bytes[i] ?? 0
  if (first < 0x80)
    return first >= 32 ? (first === 127 ? 0 : 1) : first === 9 || first === 10 || first === 13 ? 1 : 0
  const size =
    first >= 0xf0 && first < 0xf5
      ? 4
      : first >= 0xe0 && first < 0xf0
        ? 3
        : first >= 0xc2 && first < 0xe0
          ? 2
          : 0
  for (let n = i + 1; n < Math.min(i + size, bytes.length); n++)
    if (((bytes[n] ?? 0) & 0xc0) !== 0x80) return 0
  return Math.min(size, bytes.length - i)
}

/** Writes the text of the bytes. All of it maps to one range of the view. */
export function writeText(view: View, start: number, end: number, bytes: Uint8Array, out: Writer): void {
  const from = startOf(view, start)
  const to = endOf(view, end - 1)
  for (let i = 0; i < bytes.length;) {
    const size = characterSize(bytes, i)
    if (size > 0) writePoint(pointOf(bytes, i, size), from, to, out)
    i += Math.max(1, size)
  }
  write(out, 10, from, to)
  write(out, 10, from, to)
}

function pointOf(bytes: Uint8Array, i: number, size: number): number {
  const first = bytes[i] ?? 0
  if (size === 1) return first
  let point = first & (0xff >> (size + 1))
  for (let n = 1; n < size; n++) point = point * 64 + ((bytes[i + n] ?? 0) & 63)
  return Math.min(point, 0x10ffff)
}

function writePoint(point: number, from: number, to: number, out: Writer): void {
  if (point > 0xffff) write(out, 0xd800 + ((point - 0x10000) >> 10), from, to)
  write(out, point > 0xffff ? 0xdc00 + (point & 0x3ff) : point, from, to)
}
