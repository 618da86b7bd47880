// Finds clauses that are written in ROT13 or backwards, and decodes them.

import { isSpace, LETTER, READING } from './characters.ts'
import {
  at,
  ints,
  push,
  type Ints,
  codeAt,
  type View,
  endOf,
  startOf,
  write,
  writer,
  written,
  type Writer,
} from './view.ts'
import { learn } from './lexicon.ts'
import type { ViewReading } from './reading.ts'

/** A known word in ROT13. */
export const ROT13 = 1
/** A known word written backwards. */
export const REVERSED = 2

// The kinds of each word, by word number.
const kinds: number[] = []

// Words that most longer sentences and most attacks contain. The list is short, because each word slows the scan down.
const WORDS =
  'your this that with from have will must please should before after following everything never instead ignore disregard ' +
  'forget override previous prior above instructions instruction system prompt assistant reveal password passwords secret ' +
  'secrets credentials message messages email send user about rules'

for (const word of WORDS.split(' ')) {
  for (const [form, kind] of [
    [rot13Word(word), ROT13],
    [word.split('').reverse().join(''), REVERSED],
  ] as const) {
    const id = learn(form)
    kinds[id] = (kinds[id] ?? 0) | kind
  }
}

const KINDS = Uint8Array.from(kinds)

function rot13Word(word: string): string {
  return word.replace(/[a-z]/g, (letter) => String.fromCharCode(rot13(letter.charCodeAt(0))))
}

/** Applies ROT13 to a letter and returns other units unchanged. */
function rot13(code: number): number {
  const lower = code | 32
  if (code > 127 || lower < 97 || lower > 122) return code
  return lower < 110 ? code + 13 : code - 13
}

// A single such word occurs by chance, such as "resu" or "loot".
const MIN_WORDS = 2

/** Returns starts and ends of the clauses with at least two such words; undefined if there are none. */
export function clausesOf(view: View, reading: ViewReading, kind: number): Ints | undefined {
  let found: Ints | undefined
  let [start, end] = [0, 0]
  let count = 0
  for (let word = 0; word < reading.ids.length; word++) {
    if (((KINDS[at(reading.ids, word)] ?? 0) & kind) === 0) continue
    const place = at(reading.starts, word)
    if (place >= end) {
      start = startFrom(view, place, end)
      end = endFrom(view, place)
      count = 0
    }
    if (++count !== MIN_WORDS) continue
    found ??= ints()
    push(found, start)
    push(found, end)
  }
  return found
}

function startFrom(view: View, place: number, least: number): number {
  let start = place
  while (start > least && !isEnd(view, start - 1)) start--
  return start
}

function endFrom(view: View, place: number): number {
  let end = place
  while (end < view.length && !isEnd(view, end)) end++
  return end
}

/** A line break, a double quote, or a stop next to white space. Backwards text has the stop before its first word. */
function isEnd(view: View, i: number): boolean {
  const code = codeAt(view, i)
  if (code === 10 || code === 0x22) return true
  if (code !== 0x2e && code !== 0x21 && code !== 0x3f) return false
  const before = i === 0 ? 32 : codeAt(view, i - 1)
  const after = i + 1 >= view.length ? 32 : codeAt(view, i + 1)
  return isSpace(before) || isSpace(after)
}

/** Returns the clauses decoded from ROT13. Positions do not change. */
export function rot13View(view: View, clauses: Ints): View {
  return eachClause(view, clauses, (start, end, out) => {
    for (let i = start; i < end; i++) write(out, rot13(codeAt(view, i)), startOf(view, i), endOf(view, i))
  })
}

/** Returns the clauses read backwards. A finding covers its whole clause, because positions cannot run backwards. */
export function reversedView(view: View, clauses: Ints): View {
  return eachClause(view, clauses, (start, end, out) => writeReversed(view, start, end, out))
}

/** Returns the clauses with each word read backwards. */
export function reversedWordsView(view: View, clauses: Ints): View {
  return eachClause(view, clauses, (start, end, out) => {
    for (let i = start; i < end;) {
      let last = i + 1
      if (isLetter(view, i)) while (last < end && isLetter(view, last)) last++
      writeReversed(view, i, last, out)
      i = last
    }
  })
}

function isLetter(view: View, i: number): boolean {
  return READING[codeAt(view, i)] === LETTER
}

function writeReversed(view: View, start: number, end: number, out: Writer): void {
  const from = startOf(view, start)
  const to = endOf(view, end - 1)
  for (let i = end - 1; i >= start; i--) write(out, codeAt(view, i), from, to)
}

type Each = (start: number, end: number, out: Writer) => void

function eachClause(view: View, clauses: Ints, each: Each): View {
  const out = writer(64)
  for (let n = 0; n + 1 < clauses.length; n += 2) {
    const end = at(clauses, n + 1)
    each(at(clauses, n), end, out)
    for (let times = 0; times < 2; times++) write(out, 10, startOf(view, end - 1), endOf(view, end - 1))
  }
  return written(out, view.text, 'decoded')
}
