// Cues that say little one by one. A demand that names its target, next to several of them in one passage, is how a text
// speaks to whoever processes it, in whichever words.

import { AFTER_NOUNS, CUE_SETS, ENGLISH, LEADS, type Cue, type CueEntry } from './cues-data.ts'
import { namesTarget } from './cues-target.ts'
import { EASTERN } from './cues-data-east.ts'
import { WESTERN } from './cues-data-west.ts'
import { isSpace } from './characters.ts'
import { at, clear, ints, push, type Ints, codeAt, type View } from './view.ts'
import { learn } from './lexicon.ts'
import { clueOf, NEGATION, STATEMENT } from './phrases.ts'
import { FRESH, SPACED, type ViewReading } from './reading.ts'
import { machineOf, matchRows, stepsOf, type OnRow, type RowStep } from './rows.ts'

/** The cues that are counted beside a demand, in the order of their numbers. */
export const COUNTED: readonly Cue[] = ['reader', 'tie', 'person', 'void', 'form', 'pressure', 'decode']
/** The number of the cue that something is to be decoded. */
export const DECODE: number = COUNTED.indexOf('decode')
/** How far from a demand a cue may stand, in characters. */
export const REACH = 400
/** Weights are smaller than this. */
export const WEIGHTS = 4

// The lexicon numbers its words with sixteen bits.
const MOST_WORDS = 1 << 16

// For each row, the number of its cue and its weight.
const meanings: number[] = []

function compileEntry({ cue, weight, words = '', rows = [] }: CueEntry): (readonly RowStep[])[] {
  const number = COUNTED.indexOf(cue)
  const single = { words: words.split(' ').filter(Boolean), room: -1 }
  const all = [...(single.words.length > 0 ? [[single]] : []), ...rows.map((row) => stepsOf(row, wordsOf))]
  meanings.push(...all.map(() => number * WEIGHTS + weight))
  return all
}

function wordsOf(step: string): readonly string[] {
  return step.split('|').flatMap((word) => CUE_SETS[word]?.split('|') ?? [word])
}

const ALL = [...ENGLISH, ...WESTERN, ...EASTERN]
const machine = machineOf(ALL.filter(({ cue }) => cue !== 'demand').flatMap(compileEntry))
// Verbs, with 2 for those that can be nothing else.
const VERBS = new Uint8Array(MOST_WORDS)
for (const { weight, words = '' } of ALL.filter(({ cue }) => cue === 'demand')) {
  for (const word of words.split(' ')) {
    const id = learn(word)
    // A word of two languages is as little sure as in the less sure one, which comes first.
    if (VERBS[id] === 0) VERBS[id] = weight
  }
}
const MEANINGS = Uint8Array.from(meanings)
const LEADING = marked(LEADS)
const AFTER_NOUN = marked(AFTER_NOUNS)

function marked(words: string): Uint8Array {
  const table = new Uint8Array(MOST_WORDS)
  for (const word of words.split(' ')) table[learn(word)] = 1
  return table
}

/** What was found in a view, in its order. Kept and used again, like what is read. */
export interface Cues {
  /** Number of the cue and weight, and where it ends. */
  readonly kinds: Ints
  readonly places: Ints
  /** The words that demand. */
  readonly demands: Ints
}

const cues: Cues = { kinds: ints(), places: ints(), demands: ints() }

/** Finds the demands in the words of a view, and the cues that are close to one. */
export function cuesIn(view: View, reading: ViewReading): Cues {
  for (const list of [cues.kinds, cues.places, cues.demands]) clear(list)
  const ids = reading.ids.data
  for (let word = 0; word < reading.ids.length; word++) {
    const verb = VERBS[ids[word] ?? 0] ?? 0
    if (verb !== 0 && isDemand(view, reading, word, verb)) push(cues.demands, word)
  }
  // Where something is encoded, it may be demanded to decode it, with any verb.
  if (reading.long.length > 0) matchRows(machine, reading, note(reading))
  else if (cues.demands.length > 0) matchNear(reading)
  return cues
}

/** Looks for cues in the words around the demands. What is far from each of them cannot count. */
function matchNear(reading: ViewReading): void {
  const found = note(reading)
  let to = 0
  for (let i = 0; i < cues.demands.length; i++) {
    const word = at(cues.demands, i)
    const place = at(reading.starts, word)
    let from = word
    while (from > to && at(reading.starts, from - 1) >= place - REACH) from--
    let end = Math.max(to, word)
    while (end < reading.ids.length && at(reading.ends, end) <= place + REACH) end++
    // Next to the stretch before it, a row may go on from there.
    if (from <= to && to > 0) matchRows(machine, reading, found, to, end)
    else matchRows(machine, reading, found, from, end)
    to = end
  }
}

function note(reading: ViewReading): OnRow {
  return (row, _, last) => {
    push(cues.kinds, MEANINGS[row] ?? 0)
    push(cues.places, at(reading.ends, last))
  }
}

/** Whether a verb asks for something. One that is also a noun has to start a clause, or to come after a word that leads. */
function isDemand(view: View, reading: ViewReading, word: number, weight: number): boolean {
  const start = at(reading.starts, word)
  const end = at(reading.ends, word)
  return (
    isOrder(reading, word, weight) &&
    standsAlone(view, start, end) &&
    namesTarget(view, start, end, weight > 1)
  )
}

function isOrder(reading: ViewReading, word: number, weight: number): boolean {
  const flags = at(reading.flags, word)
  if (weight === 1 && isNoun(reading, word)) return false
  if ((flags & FRESH) !== 0) return true
  const near = word > 0 && at(reading.ordinals, word) - at(reading.ordinals, word - 1) === 1
  const before = near ? at(reading.ids, word - 1) : 0
  if (near && (clueOf(before) & (NEGATION | STATEMENT)) !== 0) return false
  return (flags & SPACED) !== 0 && (weight > 1 || LEADING[before] === 1)
}

/** Whether the word after it says that it is a thing: "a message that", "the call is". */
function isNoun(reading: ViewReading, word: number): boolean {
  if (word + 1 >= reading.ids.length) return false
  const near = at(reading.ordinals, word + 1) - at(reading.ordinals, word) === 1
  return near && AFTER_NOUN[at(reading.ids, word + 1)] === 1
}

/** Whether a word is no part of a name, a path or an address, and something comes after it. */
function standsAlone(view: View, start: number, end: number): boolean {
  const before = start === 0 ? 32 : codeAt(view, start - 1)
  if (JOINS.has(before)) return false
  const next = codeAt(view, end)
  // Ideographs, and languages that have their verb last.
  if (codeAt(view, start) > 127) return !JOINS.has(next) || (next === 0x2e && isLast(view, end))
  if (next !== 32 && next !== 10) return (CLOSES.has(next) && isLast(view, end)) || next === 0
  // A request as programs write it: `POST /v1/…`.
  return codeAt(view, end + 1) !== 0x2f && codeAt(view, end + 1) !== 0x3d
}

const CLOSES: ReadonlySet<number> = new Set('.!'.split('').map((sign) => sign.charCodeAt(0)))

/** Whether a sign after a verb ends a clause. */
function isLast(view: View, end: number): boolean {
  return isSpace(codeAt(view, end + 1) || 32)
}

const JOINS: ReadonlySet<number> = new Set('._/-@#$(={\\&'.split('').map((sign) => sign.charCodeAt(0)))
