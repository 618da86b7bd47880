// Bytes that may be text: whether they are, and how they are written into a reading.

import { endOf, startOf, write, type View, type Writer } from './view.ts'

/** A control character, or a byte out of place in UTF-8 where so many more are due. Zeros are half of a longer unit. */
export function isBad(byte: number, more: number): boolean {
  if (byte >= 0x80) return byte >= 0xf5 || byte === 0xc0 || byte === 0xc1 || byte < 0xc0 !== more > 0
  return more > 0 || byte === 127 || (byte < 32 && byte !== 0 && byte !== 9 && byte !== 10 && byte !== 13)
}

/** How many more bytes the character has, of which this is one. */
export function moreAfter(byte: number, more: number): number {
  return byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : byte >= 0xc0 ? 1 : more > 0 ? more - 1 : 0
}

const SHORTEST_TEXT = 8

/** Whether nearly all of it is text: printable, or the bytes of longer characters. Text of two bytes each has zeros. */
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
  return all >= SHORTEST_TEXT && plain * 20 >= all * 19 && letters * 2 >= all
}

/** Letters, digits, blanks, and the signs of Morse code. */
function isWordy(byte: number): boolean {
  const letter = byte | 32
  return (letter >= 97 && letter <= 122) || byte === 32 || (byte >= 45 && byte < 58)
}

/** How many bytes the character at a place takes; 0 if it is none that is shown. A cut end counts as whole. */
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

/** Writes the text of the bytes; all of it stands for one stretch of the view. */
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
