// Decodes quoted-printable, the encoding of mail: `=69` is a byte, and `=` at the end of a line joins it with the next.

import { isAlphanumeric } from './characters.ts'
import { byteAt, escapedBytes } from './escapes.ts'
import { codeAt, endOf, startOf, write, writer, written, type View } from './view.ts'

const EQUALS = 0x3d
// A single one occurs by chance, such as a number after its name.
const MIN_CODES = 2

/** Returns the view with decoded bytes and joined lines; undefined if it is not quoted-printable. */
export function quotedPrintableView(view: View): View | undefined {
  if (view.origin === 'plain' && !view.text.includes('=')) return undefined
  if (!isQuotedPrintable(view)) return undefined
  const out = writer(view.length)
  for (let i = 0; i < view.length;) {
    const code = codeAt(view, i)
    const read = code === EQUALS ? softBreak(view, i) || escapedBytes(view, i, EQUALS, out) : 0
    if (read === 0) write(out, code, startOf(view, i), endOf(view, i))
    i += Math.max(1, read)
  }
  return written(out, view.text, 'decoded')
}

/** Returns whether two or more codes are directly followed by another code or a letter. */
function isQuotedPrintable(view: View): boolean {
  let count = 0
  for (let i = 0; i < view.length && count < MIN_CODES; i++) {
    if (view.codes[i] !== EQUALS) continue
    if (softBreak(view, i) > 0) count++
    else if (byteAt(view, i, EQUALS) >= 0 && isWordAfter(codeAt(view, i + 3))) count++
  }
  return count >= MIN_CODES
}

function isWordAfter(code: number): boolean {
  return code === EQUALS || (code > 57 && isAlphanumeric(code))
}

/** Returns the length of a soft line break; 0 if there is none. */
function softBreak(view: View, i: number): number {
  const next = codeAt(view, i + 1)
  if (next === 10) return 2
  return next === 13 && codeAt(view, i + 2) === 10 ? 3 : 0
}
