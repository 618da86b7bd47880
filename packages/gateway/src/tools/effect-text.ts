// Finds the actions that a description names. A verb counts at the beginning of a clause only: "Get the send totals" sends
// nothing, "Get a file, then send it" does. It reads letter by letter, because the texts come from servers.

import type { EffectClass } from '@tollgate/evidence'
import { MAX_READ } from './effect-words.ts'
import { PLAIN, setOf, spoken, STRONG } from './effect-verbs.ts'

/** A word that implies an effect class. */
export interface EffectWord {
  readonly word: string
  readonly effect: EffectClass
}

interface ClauseWord {
  readonly word: string
  /** Whether a clause begins with it. */
  readonly opens: boolean
  readonly sentence: number
}

/** The actions in the first sentence of a description that has some. */
export function actionsIn(description: string): readonly EffectWord[] {
  const words = clausesOf(description.slice(0, MAX_READ))
  const found = words.flatMap(({ word, opens, sentence }, i) => {
    const verb = stem(word)
    const effect = opens ? spoken.get(verb) : undefined
    if (effect === undefined) return []
    return [
      { word, effect: isSearch(verb, words.slice(i + 1, i + 5)) ? ('read' as const) : effect, sentence },
    ]
  })
  return found.filter(({ sentence }) => sentence === found[0]?.sentence)
}

/** Whether the first word of a description is a verb that reads. */
export function beginsWithRead(description: string): boolean {
  const [first] = clausesOf(description.slice(0, MAX_READ))
  return first !== undefined && spoken.get(stem(first.word)) === 'read'
}

/** The serious actions in the description of a tool that reads. Lists of things and purposes do not count. */
export function strongActionsIn(description: string): readonly EffectWord[] {
  const words = clausesOf(description.slice(0, MAX_READ))
  return words.flatMap(({ word, sentence, opens }, i) => {
    const verb = stem(word)
    const isAction = STRONG.has(verb) || (sentence === 0 && PLAIN.has(verb))
    const before = words[i - 1]
    const isJoined = before?.sentence !== sentence || (opens && ACTING.has(before.word))
    const effect =
      isAction && isJoined && !isQuery(verb, words.slice(i + 1, i + 6)) ? spoken.get(verb) : undefined
    return effect === undefined ? [] : [{ word, effect }]
  })
}

/** Whether a search is run, as in "run a web search". A query can also write. */
function isSearch(verb: string, after: readonly ClauseWord[]): boolean {
  return RUNNING.has(verb) && after.some(({ word }) => word === 'search' || word === 'searches')
}

const RUNNING = setOf('run execute start')
const ACTING = setOf('and then also will which')
const QUERIES = setOf('query queries search searches select')

/** Whether a query is executed, as in "execute a search". */
function isQuery(verb: string, after: readonly ClauseWord[]): boolean {
  return verb === 'execute' && after.some(({ word }) => QUERIES.has(word))
}

// A clause begins after these words: "and delete", "to send", "then run", "for managing".
const JOINING = setOf('and or then to also optionally will can may for by tool')

function clausesOf(text: string): readonly ClauseWord[] {
  const words: ClauseWord[] = []
  let word = ''
  let opens = true
  let sentence = 0
  const end = (): void => {
    if (word === '') return
    const lower = word.toLowerCase()
    words.push({ word: lower, opens, sentence })
    opens = JOINING.has(lower)
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
