// Decodes Morse code. A blank separates letters. A slash, a bar or a wider gap separates words.

import { LETTER, READING } from './characters.ts'
import { codeAt, endOf, startOf, write, writer, written, type View, type Writer } from './view.ts'

// A binary tree of signs: a dot leads from position n to 2n, a dash to 2n + 1.
const TREE =
  '  etianmsurwdkgohvf l pjbxcyzq  54 3   2  +    16=/   ( 7   8 90' +
  '            ?_    "  .    @   \'  -        ;! )     ,    :'
const MAX_SIGN = 6
const MIN_LETTERS = 12

/** Returns whether the text can hold Morse code. This test is cheap. */
export function mayHoldMorse(view: View): boolean {
  if (view.origin !== 'plain') return true
  const { text } = view
  return (text.includes('.-') && text.includes('-.')) || (text.includes('·') && /[-−–—]/.test(text))
}

/** Returns the decoded Morse code of a view; undefined if there is none. */
export function morseView(view: View): View | undefined {
  const out = writer(64)
  for (let i = 0; i < view.length;) i = begins(view, i) ? row(view, i, out) : i + 1
  return out.length === 0 ? undefined : written(out, view.text, 'decoded')
}

/** Returns whether a sign begins a row. A full stop or dash at the end of a word does not. */
function begins(view: View, i: number): boolean {
  return isSign(codeAt(view, i)) && (i === 0 || READING[codeAt(view, i - 1)] !== LETTER)
}

function isDot(code: number): boolean {
  return code === 0x2e || code === 0xb7 || code === 0x2022 || code === 0x2219
}

function isDash(code: number): boolean {
  return code === 0x2d || code === 0x5f || code === 0x2212 || code === 0x2010 || isLongDash(code)
}

function isLongDash(code: number): boolean {
  return code === 0x2013 || code === 0x2014
}

function isSign(code: number): boolean {
  return isDot(code) || isDash(code)
}

/** Reads a row of signs, writes it if it is long enough, and returns where it ends. */
function row(view: View, start: number, out: Writer): number {
  const before = out.length
  let letters = 0
  let i = start
  while (i < view.length) {
    const end = signEnd(view, i)
    const letter = letterAt(view, i, end)
    if (letter === 0) break
    write(out, letter, startOf(view, i), endOf(view, end - 1))
    letters++
    i = gapEnd(view, end)
    if (i - end > 1 || codeAt(view, end) === 10) write(out, 32, startOf(view, end), endOf(view, i - 1))
    if (i === end) break
  }
  if (letters < MIN_LETTERS) out.length = before
  else for (let n = 0; n < 2; n++) write(out, 10, startOf(view, start), endOf(view, start))
  return Math.max(i, signEnd(view, start), start + 1)
}

function signEnd(view: View, start: number): number {
  let end = start
  while (end < view.length && isSign(codeAt(view, end))) end++
  return end
}

/** Returns the letter of a group of signs; 0 if there is none. */
function letterAt(view: View, start: number, end: number): number {
  if (end === start || end - start > MAX_SIGN) return 0
  let place = 1
  for (let i = start; i < end; i++) place = place * 2 + (isDash(codeAt(view, i)) ? 1 : 0)
  const letter = place < TREE.length ? TREE.charCodeAt(place) : 32
  return letter === 32 ? 0 : letter
}

const MAX_GAP = 8

function gapEnd(view: View, start: number): number {
  let end = start
  while (end < start + MAX_GAP && isGap(codeAt(view, end))) end++
  return end
}

function isGap(code: number): boolean {
  return code === 32 || code === 9 || code === 10 || code === 13 || code === 0x2f || code === 0x7c
}
