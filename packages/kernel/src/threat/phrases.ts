// Phrases over known words: each is a row of words or sets of words, with room for a few others in between. A phrase keeps
// only its latest beginnings, so the time is linear whatever the text repeats.

import { CLUES, PHRASES, SETS } from './phrases-data.ts'
import { at } from './ints.ts'
import type { ThreatCode } from './finding.ts'
import { learn, lexiconSize } from './lexicon.ts'
import { HIGH, LOW, MEDIUM, NONE, type Grade } from './report.ts'
import type { ViewReading } from './reading.ts'

/** How sure a phrase is: said as an order, and said otherwise. */
export type Weight = 'order' | 'strong' | 'strong-order' | 'hint' | 'hint-order'

/** A phrase as it is compiled. */
export interface Phrase {
  readonly code: ThreatCode
  readonly asOrder: Grade
  readonly otherwise: Grade
  /** Only counts if a colon, a dash or a line break comes right after. */
  readonly headline: boolean
}

const GRADES: Readonly<Record<Weight, readonly [Grade, Grade]>> = {
  order: [HIGH, MEDIUM],
  strong: [MEDIUM, MEDIUM],
  'strong-order': [MEDIUM, LOW],
  hint: [LOW, LOW],
  'hint-order': [LOW, NONE],
}

const phrases: Phrase[] = []
// For each state, how many words may stand between it and the one before; -1 for the first of a phrase.
const rooms: number[] = []
const owners: number[] = []
const finals: boolean[] = []
const statesByWord: number[][] = []

function compile(): void {
  for (const { code, weight, rows } of PHRASES) {
    for (const row of rows) compileRow(code, weight, row)
  }
}

/** A row such as `override 4 prior 2 orders`: sets or words, and between them how many others there may be. */
function compileRow(code: ThreatCode, weight: Weight, row: string): void {
  const headline = row.endsWith(' :')
  const steps = (headline ? row.slice(0, -2) : row).split(' ')
  const [asOrder, otherwise] = GRADES[weight]
  const phrase = phrases.push({ code, asOrder, otherwise, headline }) - 1
  let room = -1
  for (const [i, step] of steps.entries()) {
    if (/^[0-9]$/.test(step)) {
      room = Number(step)
      continue
    }
    const state = rooms.push(room) - 1
    owners.push(phrase)
    finals.push(i === steps.length - 1)
    for (const word of wordsOf(step)) (statesByWord[learn(word)] ??= []).push(state)
    room = 0
  }
}

function wordsOf(step: string): readonly string[] {
  return Object.hasOwn(SETS, step) ? (SETS[step] ?? '').split(' ').filter(Boolean) : [step]
}

compile()

/** The word before makes an order of a verb: "please", "must". */
export const LEAD = 1
/** The word before turns it around: "not", "never". */
export const NEGATION = 2
/** The text talks about attacks or gives an example. */
export const TALK = 4

/** The word before says that it is no order: "they", "can". */
export const STATEMENT = 8

const clues: number[] = []
for (const [words, clue] of [
  [CLUES.lead, LEAD],
  [CLUES.negation, NEGATION],
  [CLUES.talk, TALK],
  [CLUES.statement, STATEMENT],
] as const) {
  for (const word of words.split(' ').filter(Boolean)) {
    const id = learn(word)
    clues[id] = (clues[id] ?? 0) | clue
  }
}

/** What a word says about the one after it. */
export function clueOf(id: number): number {
  return clues[id] ?? 0
}

// The word numbers are dense, so plain tables will do: where the states of each word begin, and the states.
const HEADS = new Int32Array(lexiconSize() + 1)
const STATES = Int32Array.from(
  Array.from({ length: lexiconSize() }, (_, id) => {
    // The last step first: one word must not be two steps of a phrase.
    const states = [...(statesByWord[id] ?? [])].sort((a, b) => b - a)
    HEADS[id + 1] = (HEADS[id] ?? 0) + states.length
    return states
  }).flat(),
)
const ROOMS = Int32Array.from(rooms)
// Where each state was reached last: the ordinal, and the word that the phrase began with.
const reached = new Int32Array(rooms.length)
const begun = new Int32Array(rooms.length)
const NEVER = -1_000_000

/** Called for each phrase that is found, with its first and last word. */
export type OnPhrase = (phrase: Phrase, first: number, last: number) => void

/** Finds the phrases in the words of a view. */
export function matchPhrases(reading: ViewReading, found: OnPhrase): void {
  reached.fill(NEVER)
  const { length } = reading.ids
  for (let word = 0; word < length; word++) {
    const id = at(reading.ids, word)
    // A word that was learned after the phrases belongs to none.
    const end = id < HEADS.length - 1 ? (HEADS[id + 1] ?? 0) : 0
    for (let i = end === 0 ? 0 : (HEADS[id] ?? 0); i < end; i++) step(reading, STATES[i] ?? 0, word, found)
  }
}

function step(reading: ViewReading, state: number, word: number, found: OnPhrase): void {
  const ordinal = at(reading.ordinals, word)
  const room = ROOMS[state] ?? 0
  if (room < 0) begun[state] = word
  else {
    const gap = ordinal - (reached[state - 1] ?? NEVER) - 1
    if (gap < 0 || gap > room) return
    begun[state] = begun[state - 1] ?? 0
  }
  reached[state] = ordinal
  const phrase = finals[state] === true ? phrases[owners[state] ?? 0] : undefined
  if (phrase) found(phrase, begun[state] ?? 0, word)
}
