// Reads the input of `tollgate threat scan` as a stream: files, gzip files and standard input.

import { createReadStream } from 'node:fs'
import process from 'node:process'
import type { Readable } from 'node:stream'
import { TextDecoder } from 'node:util'
import { createGunzip } from 'node:zlib'

/** A line of a file, or the number of a line that is too long. */
export type InputLine =
  | { readonly ok: true; readonly number: number; readonly text: string }
  | { readonly ok: false; readonly number: number }

/** The name of standard input. */
export const STDIN = '-'

/** Yields the text of a file, or of standard input for `-`, in pieces. @throws if it cannot be read. */
export async function* piecesOf(file: string): AsyncGenerator<string> {
  yield* decoded(bytesOf(file))
}

function bytesOf(file: string): AsyncIterable<Buffer> {
  const source: Readable = file === STDIN ? process.stdin : createReadStream(file)
  if (!file.endsWith('.gz')) return source
  const unpacked = createGunzip()
  // Forward a read error of the file to the decompressed stream.
  source.on('error', (fault) => unpacked.destroy(fault))
  return source.pipe(unpacked)
}

/** Decodes bytes as UTF-8, or as UTF-16 with a byte order mark. Invalid bytes become replacement characters. */
export async function* decoded(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined
  let head: Uint8Array = new Uint8Array(0)
  for await (const chunk of bytes) {
    if (decoder) {
      yield decoder.decode(chunk, { stream: true })
      continue
    }
    head = Buffer.concat([head, chunk])
    if (head.length < 2) continue
    decoder = decoderFor(head)
    yield decoder.decode(head, { stream: true })
  }
  yield decoder ? decoder.decode() : new TextDecoder().decode(head)
}

function decoderFor([first = 0, second = 0]: Uint8Array): TextDecoder {
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le')
  return new TextDecoder(first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8')
}

/** The longest line that is read, in UTF-16 units. */
const MAX_LINE: number = 1 << 24

/** Yields the lines of a text in pieces. A line that is too long is reported without its text. */
export async function* linesOf(
  pieces: AsyncIterable<string>,
  maxLength: number = MAX_LINE,
): AsyncGenerator<InputLine> {
  let parts: string[] = []
  let size = 0
  let number = 1
  const line = (): InputLine => {
    const text = parts.join('').replace(/\r$/, '')
    const result: InputLine = size > maxLength ? { ok: false, number } : { ok: true, number, text }
    parts = []
    size = 0
    number++
    return result
  }
  const take = (part: string): void => {
    size += part.length
    if (size <= maxLength) parts.push(part)
    else parts = []
  }
  for await (const piece of pieces) {
    let start = 0
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', start)) {
      take(piece.slice(start, end))
      yield line()
      start = end + 1
    }
    take(piece.slice(start))
  }
  if (size > 0) yield line()
}

interface TextPart {
  readonly text: string
  readonly start: number
}

/** Length of a part in UTF-16 units, and of the overlap with the next part. */
const PART_LENGTH: number = 1 << 19
const OVERLAP = 1 << 12

/** Yields a text in overlapping parts, so that no finding is lost at a boundary. */
export async function* partsOf(
  pieces: AsyncIterable<string>,
  size: number = PART_LENGTH,
): AsyncGenerator<TextPart> {
  let text = ''
  let start = 0
  for await (const piece of pieces) {
    text += piece
    while (text.length > size) {
      yield { text: text.slice(0, size), start }
      const next = cutBefore(text, size - Math.min(OVERLAP, size >> 1))
      text = text.slice(next)
      start += next
    }
  }
  if (text !== '' || start === 0) yield { text, start }
}

/** Returns the start of the next part: after a line break if one is near, and never within a character. */
function cutBefore(text: string, place: number): number {
  const line = text.lastIndexOf('\n', place)
  if (line > place >> 1) return line + 1
  const code = text.charCodeAt(place)
  return code >= 0xdc00 && code <= 0xdfff ? place + 1 : place
}
