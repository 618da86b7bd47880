// Compiles and matches phrases. A phrase is a row of words or word sets, with a limited number of other words in between.

import { CLUES, PHRASES, SETS } from './phrases-data.ts'
import type { ThreatCode } from './finding.ts'
import { learn } from './lexicon.ts'
import { HIGH, LOW, MEDIUM, NONE, type Grade } from './report.ts'
import type { ViewReading } from './reading.ts'
import { machineOf, matchRows, stepsOf, type RowStep } from './rows.ts'

/** The grades of a phrase, as an order and in any other form. */
export type Weight = 'order' | 'strong' | 'strong-order' | 'hint' | 'hint-order'

/** A compiled phrase. */
export interface Phrase {
  readonly code: ThreatCode
  readonly asOrder: Grade
  readonly otherwise: Grade
  /** The phrase only counts directly before a colon, a dash or a line break. */
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

/** Compiles a row such as `override 4 prior 2 orders`. A number is the maximum of other words between two steps. */
function compileRow(code: ThreatCode, weight: Weight, row: string): readonly RowStep[] {
  const headline = row.endsWith(' :')
  const [asOrder, otherwise] = GRADES[weight]
  phrases.push({ code, asOrder, otherwise, headline })
  return stepsOf(headline ? row.slice(0, -2) : row, wordsOf)
}

function wordsOf(step: string): readonly string[] {
  return Object.hasOwn(SETS, step) ? (SETS[step] ?? '').split(' ').filter(Boolean) : [step]
}

const machine = machineOf(
  PHRASES.flatMap(({ code, weight, rows }) => rows.map((row) => compileRow(code, weight, row))),
)

/** The word turns the next verb into an order: "please", "must". */
export const LEAD = 1
/** The word negates the next one: "not", "never". */
export const NEGATION = 2
/** The text discusses attacks or gives an example. */
export const TALK = 4

/** The word shows that the next one is no order: "they", "can". */
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

/** Returns the clues that a word gives about the next one. */
export function clueOf(id: number): number {
  return clues[id] ?? 0
}

/** Receives each match with its first and last word. */
type OnPhrase = (phrase: Phrase, first: number, last: number) => void

/** Finds the phrases in the words of a view. */
export function matchPhrases(reading: ViewReading, found: OnPhrase): void {
  matchRows(machine, reading, (row, first, last) => {
    const phrase = phrases[row]
    if (phrase) found(phrase, first, last)
  })
}
