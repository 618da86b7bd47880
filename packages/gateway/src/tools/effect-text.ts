// Finds the actions that a description names. A verb counts at the beginning of a clause only: "Get the send totals" sends
// nothing, "Get a file, then send it" does. It reads letter by letter, because the texts come from servers.

import { proseOf } from './effect-prose.ts'
import type { EffectWord } from './effect-words.ts'
import { PLAIN, setOf, spoken, STRONG } from './effect-verbs.ts'

interface ClauseWord {
  readonly word: string
  /** Whether a clause begins with it. */
  readonly opens: boolean
  readonly sentence: number
}

/** The actions in the first sentence of a description that has some. */
export function actionsIn(description: string): readonly EffectWord[] {
  const words = clausesOf(proseOf(description))
  const found = words.flatMap(({ word, opens, sentence }, i) => {
    const verb = stem(word)
    const effect = opens && !isAside(verb, words, i) ? spoken.get(verb) : undefined
    if (effect === undefined) return []
    if (verb === 'return' && words[i + 1]?.word === 'to')
      return [{ word, effect: 'write' as const, sentence }]
    return [
      { word, effect: isSearch(verb, words.slice(i + 1, i + 5)) ? ('read' as const) : effect, sentence },
    ]
  })
  return found.filter(({ sentence }) => sentence === found[0]?.sentence)
}

/** Whether the first verb of a description reads: "Get a list", "This tool will get a list". */
export function beginsWithRead(description: string): boolean {
  const first = clausesOf(proseOf(description)).find(({ word }) => !LEADING.has(word))
  return first !== undefined && spoken.get(stem(first.word)) === 'read'
}

const LEADING = setOf('a an the this tool function will can use used to that which')

/** Whether a verb is not an action of the tool: "are subject to change", "call this tool first". */
function isAside(verb: string, words: readonly ClauseWord[], at: number): boolean {
  if (words[at - 1]?.word === 'to' && words[at - 2]?.word === 'subject') return true
  const next = words[at + 1]?.word
  // The second verb counts in "start playing".
  if (verb === 'start' && next?.endsWith('ing') === true) return true
  if (verb === 'call') return INSTRUCTING.has(next ?? '')
  return next === 'this' && CALLING.has(verb)
}

const CALLING = setOf('run execute invoke trigger start')
const INSTRUCTING = setOf('this the it before after when once first')

/** The serious actions in the description of a tool that reads. Lists of things and purposes do not count. */
export function strongActionsIn(description: string): readonly EffectWord[] {
  const words = clausesOf(proseOf(description))
  return words.flatMap(({ word, sentence, opens }, i) => {
    const verb = stem(word)
    // "Creates tables" tells what the tool does, "Create a table first" what its caller should do.
    const isPlain = PLAIN.has(verb) && (sentence === 0 || (verb !== word && word.endsWith('s')))
    const isAction = (STRONG.has(verb) || isPlain) && !isAside(verb, words, i)
    const before = words.slice(Math.max(0, i - 3), i).findLast((each) => !isAdverb(each.word))
    const isJoined = before?.sentence !== sentence || (opens && ACTING.has(before.word))
    const effect =
      isAction && isJoined && !isQuery(verb, words.slice(i + 1, i + 6)) ? spoken.get(verb) : undefined
    return effect === undefined ? [] : [{ word, effect }]
  })
}

/** Whether a search is run, as in "run a web search". A query can also write. */
function isSearch(verb: string, after: readonly ClauseWord[]): boolean {
  return RUNNING.has(verb) && after.some(({ word }) => SEARCHES.has(word))
}

const RUNNING = setOf('run execute start perform')
const SEARCHES = setOf('search searches retrieval lookup')
const ACTING = setOf('and then also will which')
const QUERIES = setOf('query queries search searches select aggregation read-only')

/** Whether a query is executed, as in "execute a search". */
function isQuery(verb: string, after: readonly ClauseWord[]): boolean {
  return verb === 'execute' && after.some(({ word }) => QUERIES.has(word))
}

// A clause begins after these words: "and delete", "to send", "then run", "for managing".
const JOINING = setOf('and or then which to also optionally will can may for by tool')

function clausesOf(text: string): readonly ClauseWord[] {
  const words: ClauseWord[] = []
  let word = ''
  let opens = true
  let sentence = 0
  const end = (): void => {
    if (word === '') return
    const lower = word.toLowerCase()
    words.push({ word: lower, opens, sentence })
    // An adverb changes nothing: "permanently delete".
    opens = JOINING.has(lower) || (opens && isAdverb(lower))
    word = ''
  }
  for (const letter of text) {
    if (isLetter(letter)) {
      word += letter
      continue
    }
    // A hyphen inside of a word joins it: "real-time", "on-call".
    if (letter === '-' && word !== '') word += letter
    else {
      end()
      if (letter !== ' ') opens = true
      if (letter === '.' || letter === '\n') sentence++
    }
  }
  end()
  return words
}

function isAdverb(word: string): boolean {
  return word.endsWith('ly') && !spoken.has(word)
}

function isLetter(letter: string): boolean {
  return (
    (letter >= 'a' && letter <= 'z') ||
    (letter >= 'A' && letter <= 'Z') ||
    letter > '\u007f' ||
    letter === '’' ||
    letter === "'"
  )
}

/** A verb without the endings `s`, `es` and `ing`. "Created" stays: it describes an object, not an action. */
function stem(word: string): string {
  const forms = [word, cut(word, 's'), cut(word, 'es'), cut(word, 'ing'), `${cut(word, 'ing')}e`]
  return forms.find((form) => spoken.has(form)) ?? word
}

function cut(word: string, ending: string): string {
  return word.endsWith(ending) ? word.slice(0, -ending.length) : word
}
