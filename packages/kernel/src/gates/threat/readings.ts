// Every other way to read a view: what is packed in it, and what it says if it is turned, mirrored or keyed.

import { backwardsView, wordsBackwardsView, BACKWARDS, clausesOf, TURNED, turnedView } from './clauses.ts'
import { decodeBase85 } from './base85.ts'
import { decodeDataUrls, decodeRuns } from './runs.ts'
import { type Ints, writer, written, type View } from './view.ts'
import { leetView } from './leet.ts'
import { mayHoldMorse, morseView } from './morse.ts'
import type { UnpackBudget } from './packed.ts'
import type { ViewReading } from './reading.ts'

/** What was encoded in a view, as one text; undefined if nothing was. `plain` is the view before its escapes were decoded. */
export function unpack(view: View, plain: View, long: Ints, budget: UnpackBudget): View | undefined {
  const out = writer(64)
  if (long.length > 0) decodeRuns(view, long, out, budget)
  decodeDataUrls(view, out, budget)
  decodeBase85(plain, out)
  // Base85 is full of what looks like an escape, and may itself be escaped.
  if (view !== plain) decodeBase85(view, out)
  return out.length === 0 ? undefined : written(out, view.text, 'decoded')
}

/** Readings that are only worth a word if an attack is found in them: of clauses that are turned, or written from their ends. */
export function turnedReadings(view: View, reading: ViewReading): readonly View[] {
  const turned = clausesOf(view, reading, TURNED)
  const backwards = clausesOf(view, reading, BACKWARDS)
  if (!turned && !backwards) return NONE
  return [
    turned && turnedView(view, turned),
    backwards && backwardsView(view, backwards),
    backwards && wordsBackwardsView(view, backwards),
  ].filter((each) => each !== undefined)
}

const NONE: readonly View[] = []

/** Readings of the same kind: Morse code, and signs that stand for letters. */
export function signReadings(view: View): readonly View[] {
  return [mayHoldMorse(view) ? morseView(view) : undefined, leetView(view)].filter(
    (each) => each !== undefined,
  )
}
