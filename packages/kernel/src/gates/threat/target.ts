// Recognises web and mail addresses in running text, which phrases treat as one word.

import { isAlphanumeric } from './characters.ts'
import { learn } from './lexicon.ts'
import { codeAt, type View } from './view.ts'

/** The word for an address in phrases. No word of a text has this spelling. */
export const TARGET_WORD: string = '*address*'
const TARGET = learn(TARGET_WORD)
const MAX_NAME = 64

/** Returns the number of the address word if this colon or at sign is inside an address, else 0. */
export function targetAt(view: View, i: number): number {
  if (i === 0 || !isAlphanumeric(codeAt(view, i - 1))) return 0
  if (codeAt(view, i) === 0x3a)
    return codeAt(view, i + 1) === 0x2f && codeAt(view, i + 2) === 0x2f ? TARGET : 0
  return isDomain(view, i + 1) ? TARGET : 0
}

/** Returns whether a name, a dot and a letter follow. "pkg@1.2.3" is not an address. */
function isDomain(view: View, start: number): boolean {
  for (let i = start; i < start + MAX_NAME; i++) {
    const code = codeAt(view, i)
    if (code === 0x2e && i > start) {
      const next = codeAt(view, i + 1) | 32
      return next >= 0x61 && next <= 0x7a
    }
    if (!isAlphanumeric(code) && code !== 0x2d && code < 128) return false
  }
  return false
}
