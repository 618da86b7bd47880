// Phrases over known words: each is a row of words or sets of words, with room for a few others in between.

import { CLUES, PHRASES, SETS } from './phrases-data.ts'
import type { ThreatCode } from './finding.ts'
import { learn } from './lexicon.ts'
import { HIGH, LOW, MEDIUM, NONE, type Grade } from './report.ts'
import type { ViewReading } from './reading.ts'
import { machineOf, matchRows, stepsOf, type RowStep } from './rows.ts'

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

/** A row such as `override 4 prior 2 orders`: sets or words, and between them how many others there may be. */
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

/** Called for each phrase that is found, with its first and last word. */
type OnPhrase = (phrase: Phrase, first: number, last: number) => void

/** Finds the phrases in the words of a view. */
export function matchPhrases(reading: ViewReading, found: OnPhrase): void {
  matchRows(machine, reading, (row, first, last) => {
    const phrase = phrases[row]
    if (phrase) found(phrase, first, last)
  })
}
