// Finds demands and cues. One cue says little, but a demand with a target and several cues in one passage addresses the
// reader of the text, in any wording.

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

/** The cues that count next to a demand. The index is the number of the cue. */
export const COUNTED: readonly Cue[] = ['reader', 'tie', 'person', 'void', 'form', 'pressure', 'decode']
/** The number of the `decode` cue. */
export const DECODE: number = COUNTED.indexOf('decode')
/** The maximum distance between a demand and a cue, in characters. */
export const REACH = 400
/** Every weight is smaller than this. */
export const WEIGHTS = 4

// Word numbers of the lexicon have sixteen bits.
const MAX_WORDS = 1 << 16

// The cue number and weight of each row.
const meanings: number[] = []

function compileEntry({ cue, weight, words = '', rows = [] }: CueEntry): (readonly RowStep[])[] {
  const number = COUNTED.indexOf(cue)
  const single = { words: words.split(' ').filter(Boolean), maxGap: -1 }
  const all = [...(single.words.length > 0 ? [[single]] : []), ...rows.map((row) => stepsOf(row, wordsOf))]
  meanings.push(...all.map(() => number * WEIGHTS + weight))
  return all
}

function wordsOf(step: string): readonly string[] {
  return step.split('|').flatMap((word) => CUE_SETS[word]?.split('|') ?? [word])
}

const ALL = [...ENGLISH, ...WESTERN, ...EASTERN]
const machine = machineOf(ALL.filter(({ cue }) => cue !== 'demand').flatMap(compileEntry))
// The weight of each verb: 2 for a word that is always a verb.
const VERBS = new Uint8Array(MAX_WORDS)
for (const { weight, words = '' } of ALL.filter(({ cue }) => cue === 'demand')) {
  for (const word of words.split(' ')) {
    const id = learn(word)
    // A word of two languages gets the lower weight, which comes first.
    if (VERBS[id] === 0) VERBS[id] = weight
  }
}
const MEANINGS = Uint8Array.from(meanings)
const LEADING = marked(LEADS)
const AFTER_NOUN = marked(AFTER_NOUNS)

function marked(words: string): Uint8Array {
  const table = new Uint8Array(MAX_WORDS)
  for (const word of words.split(' ')) table[learn(word)] = 1
  return table
}

/** The demands and cues of a view, in text order. The lists are reused for the next view. */
export interface Cues {
  /** Cue number and weight of each cue; its end is in `places`. */
  readonly kinds: Ints
  readonly places: Ints
  /** The words that demand an action. */
  readonly demands: Ints
}

const cues: Cues = { kinds: ints(), places: ints(), demands: ints() }

/** Finds the demands in the words of a view, and the cues near them. */
export function cuesIn(view: View, reading: ViewReading): Cues {
  for (const list of [cues.kinds, cues.places, cues.demands]) clear(list)
  const ids = reading.ids.data
  for (let word = 0; word < reading.ids.length; word++) {
    const verb = VERBS[ids[word] ?? 0] ?? 0
    if (verb !== 0 && isDemand(view, reading, word, verb)) push(cues.demands, word)
  }
  // Encoded text may come with a request to decode it, with any verb.
  if (reading.long.length > 0) matchRows(machine, reading, note(reading))
  else if (cues.demands.length > 0) matchNear(reading)
  return cues
}

/** Looks for cues near the demands. Cues further away do not count. */
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
    // The range touches the previous one, so a row that began there can continue.
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

/** Returns whether a verb asks for something. A word that is also a noun must start a clause or follow a leading word. */
function isDemand(view: View, reading: ViewReading, word: number, weight: number): boolean {
  const start = at(reading.starts, word)
  const end = at(reading.ends, word)
  return (
    isOrder(reading, word, weight) &&
    isStandalone(view, start, end) &&
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

/** Returns whether the next word shows that this one is a noun: "a message that", "the call is". */
function isNoun(reading: ViewReading, word: number): boolean {
  if (word + 1 >= reading.ids.length) return false
  const near = at(reading.ordinals, word + 1) - at(reading.ordinals, word) === 1
  return near && AFTER_NOUN[at(reading.ids, word + 1)] === 1
}

/** Returns whether a word is not part of a name, a path or an address, and more text follows. */
function isStandalone(view: View, start: number, end: number): boolean {
  const before = start === 0 ? 32 : codeAt(view, start - 1)
  if (JOINS.has(before)) return false
  const next = codeAt(view, end)
  // Ideographs, and languages with the verb at the end.
  if (codeAt(view, start) > 127) return !JOINS.has(next) || (next === 0x2e && isLast(view, end))
  if (next !== 32 && next !== 10) return (CLOSES.has(next) && isLast(view, end)) || next === 0
  // An HTTP request: `POST /v1/…`.
  return codeAt(view, end + 1) !== 0x2f && codeAt(view, end + 1) !== 0x3d
}

const CLOSES: ReadonlySet<number> = new Set('.!'.split('').map((sign) => sign.charCodeAt(0)))

/** Returns whether a sign after a verb ends a clause. */
function isLast(view: View, end: number): boolean {
  return isSpace(codeAt(view, end + 1) || 32)
}

const JOINS: ReadonlySet<number> = new Set('._/-@#$(={\\&'.split('').map((sign) => sign.charCodeAt(0)))
