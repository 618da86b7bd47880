// What a session has looked up as data: where a scope has `looked_up`, its tools may act on that as well. What a text asks for was
// not looked up, and neither is what nobody has seen before.

import type { Snapshot } from '../../road/snapshot.ts'
import { lookUp, type Provenance } from '../taint/provenance.ts'
import { MOST_REMEMBERED } from '../taint/remembered.ts'
import { MOST_VALUES } from '../../text/values.ts'
import type { Sink } from './sinks.ts'

/** What it is known by. */
export type LookingUp = Pick<Snapshot, 'effect' | 'sideEffect' | 'provenance' | 'flow'>

/** Those of the sinks that the session has not looked up. Where there are too many to look up, all of them. */
export function notLookedUp(sinks: readonly Sink[], held: LookingUp): readonly Sink[] {
  return sinks.length > MOST_VALUES ? sinks : sinks.filter((sink) => !isLookedUp(sink, held))
}

/** Whether a sink is something that the session has looked up. Where nothing is remembered of its data, nothing is. */
function isLookedUp(sink: Sink, held: LookingUp): boolean {
  // What is executed is told what to do by its text, and is nobody's name.
  if (held.effect === 'execute') return false
  const provenance = held.provenance()
  if (!provenance) return false
  return sink.values.length > 0 ? isSeen(sink, held, provenance) : isNamed(sink, held, provenance)
}

/** Whether all of its values stood by themselves in some output; to be read only, a link in running text does as well. */
function isSeen({ values }: Sink, { sideEffect }: LookingUp, provenance: Provenance): boolean {
  // There may be more than are listed.
  if (values.length >= MOST_VALUES) return false
  // One that may be among those forgotten is not known to have been looked up.
  const remembered = { ...provenance, full: false }
  return values.every((value) => {
    const { origin } = lookUp(remembered, value)
    return origin === 'output' || (origin === 'prose' && !sideEffect)
  })
}

/** A name can be put into words by anybody, so nothing shows that it was looked up: only that no flagged passage has spelled it out. */
function isNamed({ names }: Sink, held: LookingUp, provenance: Provenance): boolean {
  if (!names.every(isName)) return false
  return knowsFlagged(provenance) && held.flow().spelled === undefined
}

/** Whether there was room for all that flagged passages spell out: words get half of the record. */
function knowsFlagged({ full, labels, older, newer }: Provenance): boolean {
  return !labels.includes('flagged') || (!full && older.size + newer.size < MOST_REMEMBERED / 2)
}

const MAX_NAME = 200
const LETTER = /\p{L}/u
// So many digits with no letter between are a sink by themselves, as they are alone: an account, a telephone number.
const NUMBER = /(?:\p{N}[^\p{L}\p{N}]{0,3}){8}/u

function isName(name: string): boolean {
  return name.length <= MAX_NAME && LETTER.test(name) && !NUMBER.test(name)
}
