// Makes the other views of a text: decoded runs, ROT13, reversed text, Morse code and leetspeak.

import { reversedView, reversedWordsView, REVERSED, clausesOf, ROT13, rot13View } from './clauses.ts'
import { decodeBase85 } from './base85.ts'
import { decodeDataUrls, decodeRuns } from './runs.ts'
import { type Ints, writer, written, type View } from './view.ts'
import { leetView } from './leet.ts'
import { mayHoldMorse, morseView } from './morse.ts'
import type { UnpackBudget } from './packed.ts'
import type { ViewReading } from './reading.ts'

/** Returns the decoded runs of a view; undefined if there are none. `plain` is the view before its escapes were decoded. */
export function unpackedView(view: View, plain: View, long: Ints, budget: UnpackBudget): View | undefined {
  const out = writer(64)
  if (long.length > 0) decodeRuns(view, long, out, budget)
  decodeDataUrls(view, out, budget)
  decodeBase85(plain, out)
  // Base85 can contain escape-like sequences and can be escaped, so both views are checked.
  if (view !== plain) decodeBase85(view, out)
  return out.length === 0 ? undefined : written(out, view.text, 'decoded')
}

/** Returns views of clauses in ROT13 or backwards. They only count if an attack is found in them. */
export function clauseViews(view: View, reading: ViewReading): readonly View[] {
  const rot13 = clausesOf(view, reading, ROT13)
  const reversed = clausesOf(view, reading, REVERSED)
  if (!rot13 && !reversed) return NONE
  return [
    rot13 && rot13View(view, rot13),
    reversed && reversedView(view, reversed),
    reversed && reversedWordsView(view, reversed),
  ].filter((each) => each !== undefined)
}

const NONE: readonly View[] = []

/** Returns views of Morse code and of signs that replace letters. They only count if an attack is found in them. */
export function signViews(view: View): readonly View[] {
  return [mayHoldMorse(view) ? morseView(view) : undefined, leetView(view)].filter(
    (each) => each !== undefined,
  )
}
