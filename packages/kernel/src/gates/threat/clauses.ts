// Clauses with words that are known once each is read in another way: turned by thirteen letters, or from its end.

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

/** A known word, each letter turned by thirteen. */
export const TURNED = 1
/** A known word from its end. */
export const BACKWARDS = 2

// By the number of the word.
const kinds: number[] = []

// Words that a sentence of some length cannot do without, and those of most attacks. Few, as each makes reading a little slower.
const WORDS =
  'your this that with from have will must please should before after following everything never instead ignore disregard ' +
  'forget override previous prior above instructions instruction system prompt assistant reveal password passwords secret ' +
  'secrets credentials message messages email send user about rules'

for (const word of WORDS.split(' ')) {
  for (const [form, kind] of [
    [turned(word), TURNED],
    [word.split('').reverse().join(''), BACKWARDS],
  ] as const) {
    const id = learn(form)
    kinds[id] = (kinds[id] ?? 0) | kind
  }
}

const KINDS = Uint8Array.from(kinds)

function turned(word: string): string {
  return word.replace(/[a-z]/g, (letter) => String.fromCharCode(turn(letter.charCodeAt(0))))
}

/** A letter turned by thirteen; anything else as it is. */
function turn(code: number): number {
  const lower = code | 32
  if (code > 127 || lower < 97 || lower > 122) return code
  return lower < 110 ? code + 13 : code - 13
}

// One such word is chance: "resu" or "loot".
const FEWEST = 2

/** Starts and ends of the clauses that hold at least two such words; undefined if there are none. */
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
    if (++count !== FEWEST) continue
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

/** A line break, a double quote, or a stop with white space on one of its sides: a clause from its end has it before the first word. */
function isEnd(view: View, i: number): boolean {
  const code = codeAt(view, i)
  if (code === 10 || code === 0x22) return true
  if (code !== 0x2e && code !== 0x21 && code !== 0x3f) return false
  const before = i === 0 ? 32 : codeAt(view, i - 1)
  const after = i + 1 >= view.length ? 32 : codeAt(view, i + 1)
  return isSpace(before) || isSpace(after)
}

/** What clauses say with each letter turned: the same letters in the same places, so nothing moves. */
export function turnedView(view: View, clauses: Ints): View {
  return eachClause(view, clauses, (start, end, out) => {
    for (let i = start; i < end; i++) write(out, turn(codeAt(view, i)), startOf(view, i), endOf(view, i))
  })
}

/** What clauses say from their ends. A finding is all of its clause: places cannot run backwards. */
export function backwardsView(view: View, clauses: Ints): View {
  return eachClause(view, clauses, (start, end, out) => turnRound(view, start, end, out))
}

/** What clauses say if each word is read from its end. */
export function wordsBackwardsView(view: View, clauses: Ints): View {
  return eachClause(view, clauses, (start, end, out) => {
    for (let i = start; i < end;) {
      let last = i + 1
      if (isLetter(view, i)) while (last < end && isLetter(view, last)) last++
      turnRound(view, i, last, out)
      i = last
    }
  })
}

function isLetter(view: View, i: number): boolean {
  return READING[codeAt(view, i)] === LETTER
}

function turnRound(view: View, start: number, end: number, out: Writer): void {
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
