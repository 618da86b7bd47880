// Finds an argument or a tool name whose words come from a flagged passage. Equal words are no proof, so a hit escalates at most.

import type { ReadText } from '../texts.ts'
import { isSink } from './sinks.ts'
import { piecesOf, rootsOf, wordsIn } from '../../text/phrases.ts'
import { lookUp, type Provenance, type Spoken } from './provenance.ts'

interface SpelledCall {
  readonly name: string
  readonly sinks: readonly string[]
}

/**
 * The path of the first argument whose words come from a flagged passage and not from the user; empty if it is the tool's name.
 * Undefined if there is none, or if a sink has a value from elsewhere: then the call does not follow the passage.
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

const MAX_TEXT_LENGTH = 200
const MAX_WORDS = 16
// Outside sinks, fewer words match too easily by chance.
const MIN_WORDS = 3
const MIN_WORD_LENGTH = 4

function isSpelled(text: string, sink: boolean, provenance: Provenance): boolean {
  const words = text.length > MAX_TEXT_LENGTH ? [] : wordsIn(text)
  if (words.length > MAX_WORDS || words.length < (sink ? 1 : MIN_WORDS)) return false
  if (words.length === 1 && (words[0] ?? '').length < MIN_WORD_LENGTH) return false
  return isFrom(piecesOf(words), provenance)
}

/** Whether a flagged passage contains all words of a tool's name, and the user has not said them. */
function isAskedFor(name: string, provenance: Provenance): boolean {
  const written = name.slice(name.lastIndexOf('/') + 1)
  const own = written.replace(/([a-z])([A-Z])/g, '$1 $2')
  const words = wordsIn(own.replace(/[_.-]/g, ' ')).filter((word) => !STOP_WORDS.has(word))
  if (words.length < 2) return false
  const roots = rootsOf(words)
  if (isFrom(roots, provenance)) return true
  // The name as written, with its separators, unless the user has said all the words.
  const isSaid = roots.every((root) => lookUp(provenance, root).origin === 'said')
  return !isSaid && isFrom(piecesOf(wordsIn(written)), provenance)
}

const STOP_WORDS: ReadonlySet<string> = new Set(
  'a an the to from for of in on by with get set new my user'.split(' '),
)

function isFrom(pieces: readonly Spoken[], provenance: Provenance): boolean {
  const origins = pieces.map((piece) => lookUp(provenance, piece).origin)
  return origins.every((origin) => origin === 'flagged' || origin === 'said') && origins.includes('flagged')
}
