// Decodes signs that replace letters inside words: "in$truct!ons". Digits are decoded in `disguise.ts`.

import { isSpace } from './characters.ts'
import { targetAt } from './target.ts'
import { codeAt, endOf, startOf, write, writer, written, type View, type Writer } from './view.ts'

const SIGNS = '@$!'
const LETTERS = new Uint8Array(128)
for (const [sign, letter] of ['@a', '$s', '!i'])
  LETTERS[(sign ?? '').charCodeAt(0)] = (letter ?? '').charCodeAt(0)

// A single sign occurs by chance: an address, a price, the name of a variable.
const MIN_SIGNS = 2

/** Returns the lines that have signs inside words, with letters in their place; undefined if there are none. */
export function leetView(view: View): View | undefined {
  if (view.origin === 'plain' && !mayHoldLeet(view.text)) return undefined
  const out = writer(64)
  for (let start = 0; start < view.length;) {
    let end = start
    while (end < view.length && view.codes[end] !== 10) end++
    if (isLeet(view, start, end)) writeLine(view, start, end, out)
    start = end + 1
  }
  return out.length === 0 ? undefined : written(out, view.text, view.origin)
}

/** Returns whether a sign is between two letters anywhere. */
function mayHoldLeet(text: string): boolean {
  for (const sign of SIGNS) {
    for (let i = text.indexOf(sign); i >= 0; i = text.indexOf(sign, i + 1)) {
      if (isLetter(text.charCodeAt(i - 1)) && isLetter(text.charCodeAt(i + 1))) return true
    }
  }
  return false
}

function isLetter(code: number): boolean {
  return (code | 32) >= 97 && (code | 32) <= 122
}

function unitBefore(view: View, i: number): number {
  return i === 0 ? 32 : codeAt(view, i - 1)
}

function isLeet(view: View, start: number, end: number): boolean {
  let count = 0
  let between = false
  for (let i = start; i < end && !(between && count >= MIN_SIGNS); i++) {
    const code = view.codes[i] ?? 0
    if (code > 127 || LETTERS[code] === 0 || letterAt(view, i) === 0) continue
    count++
    between ||= isLetter(unitBefore(view, i)) && isLetter(codeAt(view, i + 1))
  }
  return between && count >= MIN_SIGNS
}

/** Returns the letter that a sign replaces; 0 if it replaces none. */
function letterAt(view: View, i: number): number {
  const code = codeAt(view, i)
  const letter = code < 128 ? (LETTERS[code] ?? 0) : 0
  if (letter === 0) return 0
  const last = unitBefore(view, i)
  const next = codeAt(view, i + 1)
  if (isLetter(next)) return (isPart(last) || isOpening(last)) && targetAt(view, i) === 0 ? letter : 0
  // At the end of a word, `!` is punctuation and `$` a letter.
  return isLetter(last) && (isPart(next) ? !isSpace(next) : code === 0x24) ? letter : 0
}

/** Returns whether this unit can be next to a sign inside a word, or before such a word. */
function isPart(code: number): boolean {
  return isLetter(code) || isSpace(code) || (code >= 48 && code < 58) || (code < 128 && LETTERS[code] !== 0)
}

/** Quotes and brackets before a word. */
function isOpening(code: number): boolean {
  return code === 0x22 || code === 0x27 || code === 0x28 || code === 0x60 || code === 0x3e
}

function writeLine(view: View, start: number, end: number, out: Writer): void {
  for (let i = start; i < end; i++)
    write(out, letterAt(view, i) || codeAt(view, i), startOf(view, i), endOf(view, i))
  for (let n = 0; n < 2; n++) write(out, 10, startOf(view, end - 1), endOf(view, end - 1))
}
