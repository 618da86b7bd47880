// Decides whether a session has looked up a sink as data. If a scope has `looked_up`, its tools may also act on such sinks. Values from
// text that asks for something, and values that were never seen, do not count.

import type { Snapshot } from '../../road/snapshot.ts'
import { lookUp, type Provenance } from '../taint/provenance.ts'
import { MAX_REMEMBERED } from '../taint/remembered.ts'
import { MOST_VALUES } from '../../text/values.ts'
import type { Sink } from './sinks.ts'

/** The parts of the snapshot that decide it. */
export type LookingUp = Pick<Snapshot, 'effect' | 'sideEffect' | 'provenance' | 'flow'>

/** The sinks that the session has not looked up; all of them if there are too many to check. */
export function notLookedUp(sinks: readonly Sink[], held: LookingUp): readonly Sink[] {
  return sinks.length > MOST_VALUES ? sinks : sinks.filter((sink) => !isLookedUp(sink, held))
}

/** Whether the session has looked up a sink. False if the session has no provenance. */
function isLookedUp(sink: Sink, held: LookingUp): boolean {
  // An executed text is a command, not a name.
  if (held.effect === 'execute') return false
  const provenance = held.provenance()
  if (!provenance) return false
  return sink.values.length > 0 ? isSeen(sink, held, provenance) : isNamed(sink, held, provenance)
}

/** Whether a tool returned all of its values as separate values. For a read, links in running text count, too. */
function isSeen({ values }: Sink, { sideEffect }: LookingUp, provenance: Provenance): boolean {
  // The list may be cut.
  if (values.length >= MOST_VALUES) return false
  // A forgotten value must not count as looked up.
  const remembered = { ...provenance, full: false }
  return values.every((value) => {
    const { origin } = lookUp(remembered, value)
    return origin === 'output' || (origin === 'prose' && !sideEffect)
  })
}

/** Provenance does not show that a name was looked up. So a name counts unless a flagged passage contains it. */
function isNamed({ names }: Sink, held: LookingUp, provenance: Provenance): boolean {
  if (!names.every(isName)) return false
  return knowsFlagged(provenance) && held.flow().spelled === undefined
}

/** Whether the record has kept all words of flagged passages. Words may use half of the record. */
function knowsFlagged({ full, labels, older, newer }: Provenance): boolean {
  return !labels.includes('flagged') || (!full && older.size + newer.size < MAX_REMEMBERED / 2)
}

const MAX_NAME_LENGTH = 200
const LETTER = /\p{L}/u
// Eight digits without a letter in between are a number, such as an account or a telephone number, not a name.
const NUMBER = /(?:\p{N}[^\p{L}\p{N}]{0,3}){8}/u

function isName(name: string): boolean {
  return name.length <= MAX_NAME_LENGTH && LETTER.test(name) && !NUMBER.test(name)
}
