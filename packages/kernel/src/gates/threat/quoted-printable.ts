// Quoted-printable, as in mail: `=69` for a byte, and lines that end with `=` and go on in the next.

import { isAlphanumeric } from './characters.ts'
import { byteAt, escapedBytes } from './escapes.ts'
import { codeAt, endOf, startOf, write, writer, written, type View } from './view.ts'

const EQUALS = 0x3d
// One is chance: a number after its name.
const FEWEST = 2

/** The view with its bytes decoded and its lines joined; undefined if it is not written so. */
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

/** Whether there are two or more that are hardly anything else: a word goes on right after them. */
function isQuotedPrintable(view: View): boolean {
  let count = 0
  for (let i = 0; i < view.length && count < FEWEST; i++) {
    if (view.codes[i] !== EQUALS) continue
    if (softBreak(view, i) > 0) count++
    else if (byteAt(view, i, EQUALS) >= 0 && goesOn(codeAt(view, i + 3))) count++
  }
  return count >= FEWEST
}

function goesOn(code: number): boolean {
  return code === EQUALS || (code > 57 && isAlphanumeric(code))
}

/** How many units a line break takes that is none; 0 if there is none. */
function softBreak(view: View, i: number): number {
  const next = codeAt(view, i + 1)
  if (next === 10) return 2
  return next === 13 && codeAt(view, i + 2) === 10 ? 3 : 0
}
