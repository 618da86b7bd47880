// What a flagged passage spells out, word for word: an argument, or the tool itself. Words are no proof, and anybody may use them:
// what is found here asks a person at most.

import type { ReadText } from '../texts.ts'
import { isSink } from './sinks.ts'
import { piecesOf, rootsOf, wordsIn } from '../../text/phrases.ts'
import { lookUp, type Provenance, type Spoken } from './provenance.ts'

/** The tool that is called. */
interface SpelledCall {
  readonly name: string
  readonly sinks: readonly string[]
}

/**
 * What a flagged passage spells out and nobody has said: the path of an argument, or empty for the tool. Undefined if nothing, and
 * where the call has a target of its own: then it does not serve the passage.
 */
export function spelledOut(
  texts: readonly ReadText[],
  { name, sinks }: SpelledCall,
  provenance: Provenance,
): string | undefined {
  if (!provenance.labels.includes('flagged')) return undefined
  const isOwn = ({ path, values }: ReadText): boolean =>
    isSink(path, sinks) && values.some((value) => lookUp(provenance, value).origin !== 'flagged')
  if (texts.some(isOwn)) return undefined
  const argument = texts.find(({ path, text }) => isSpelled(text, isSink(path, sinks), provenance))
  return argument ? argument.path : isAskedFor(name, provenance) ? '' : undefined
}

const LONGEST = 200
const MOST_WORDS = 16
// Beside the sinks, fewer words are too easily those of somebody else.
const FEWEST_WORDS = 3
const SHORTEST_WORD = 4

function isSpelled(text: string, sink: boolean, provenance: Provenance): boolean {
  const words = text.length > LONGEST ? [] : wordsIn(text)
  if (words.length > MOST_WORDS || words.length < (sink ? 1 : FEWEST_WORDS)) return false
  if (words.length === 1 && (words[0] ?? '').length < SHORTEST_WORD) return false
  return isFrom(piecesOf(words), provenance)
}

/** Whether a flagged passage has all the words of a tool's name, and what was said has not. */
function isAskedFor(name: string, provenance: Provenance): boolean {
  const written = name.slice(name.lastIndexOf('/') + 1)
  const own = written.replace(/([a-z])([A-Z])/g, '$1 $2')
  const words = wordsIn(own.replace(/[_.-]/g, ' ')).filter((word) => !FILLING.has(word))
  if (words.length < 2) return false
  const roots = rootsOf(words)
  if (isFrom(roots, provenance)) return true
  // As it is written, with what joins its words; unless what was said has the words.
  const isSaid = roots.every((root) => lookUp(provenance, root).origin === 'said')
  return !isSaid && isFrom(piecesOf(wordsIn(written)), provenance)
}

const FILLING: ReadonlySet<string> = new Set(
  'a an the to from for of in on by with get set new my user'.split(' '),
)

function isFrom(pieces: readonly Spoken[], provenance: Provenance): boolean {
  const origins = pieces.map((piece) => lookUp(provenance, piece).origin)
  return origins.every((origin) => origin === 'flagged' || origin === 'said') && origins.includes('flagged')
}
