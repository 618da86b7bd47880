// Finds the actions of a sentence: the verb at its start, and the verbs that continue it in the same form. "Get the send totals"
// sends nothing, and "Wait until it deletes" deletes nothing; "Get a file, then send it" sends.

import type { ProseWord } from './effect-clauses.ts'
import { setOf, spoken } from './effect-verbs.ts'
import type { EffectWord } from './effect-words.ts'

interface Action extends EffectWord {
  readonly verb: string
  /** Whether a query is executed. */
  readonly isQuery: boolean
  /** Whether the sentence says that the tool does it: "Sends a mail", "This will send a mail". */
  readonly isTold: boolean
}

/** The words of a sentence. */
export type Sentence = readonly ProseWord[]

/** The verb at the start of a sentence, and those that continue it. */
export function actionsOf(sentence: Sentence): readonly Action[] {
  const start = startOf(sentence)
  // "Reverse geocoding: find an address".
  const at = spoken.has(stem(sentence[start]?.word ?? ''))
    ? start
    : sentence.findIndex(({ word, mark }) => (mark === ':' || mark === '—') && spoken.has(stem(word)))
  const head = sentence[at]
  if (head === undefined) return []
  const first = actionAt(sentence, at)
  const isThing = ARTICLES.has(sentence[at - 1]?.word ?? '')
  if (first === undefined || (isThing && first.effect !== 'read')) return []
  const form = formOf(head.word)
  const verbs = [at]
  for (let i = at + 1; i < sentence.length; i++) if (continues(sentence, i, form, verbs)) verbs.push(i)
  return verbs.flatMap((i) => actionAt(sentence, i) ?? [])
}

const LEADING = setOf(
  'a an the this tool function utility endpoint it will can use used to that which for by then also optionally allows lets enables helps you users please',
)
const ARTICLES = setOf('a an the')

/** The place of the first word that says something: not in "This function will …" or "A simple tool to …". */
function startOf(sentence: Sentence): number {
  const tool = sentence.findIndex(({ word }, i) => i < 5 && TOOLS.has(word))
  const isLed = PURPOSE.has(sentence[tool + 1]?.word ?? '')
  return sentence.findIndex(
    ({ word }, i) => !LEADING.has(word) && !isAdverb(word) && (tool === -1 || !isLed || i > tool),
  )
}

const TOOLS = setOf('tool function utility endpoint')
const PURPOSE = setOf('to for that which used')

/** Whether a word continues the verb of its sentence: after a comma or "and", in the same form, and as a verb. */
function continues(sentence: Sentence, at: number, form: string, verbs: readonly number[]): boolean {
  if (!isJoined(sentence, at)) return false
  const isSame = formOf(sentence[at]?.word ?? '') === form && !isNoun(sentence, at, verbs)
  return isSame || wordBefore(sentence, at) === 'which'
}

/** Whether a word follows a comma or a word such as "and". */
export function isJoined(sentence: Sentence, at: number): boolean {
  return sentence[at]?.mark !== '' || JOINING.has(wordBefore(sentence, at))
}

/** The word before, without adverbs. */
function wordBefore(sentence: Sentence, at: number): string {
  return sentence.slice(Math.max(0, at - 3), at).findLast(({ word }) => !isAdverb(word))?.word ?? ''
}

const JOINING = setOf('and or then also optionally which')

/** Whether a word that is often a noun is one: nothing tells that it has an object, and it is in no list of verbs. */
function isNoun(sentence: Sentence, at: number, verbs: readonly number[]): boolean {
  if (!NOUNS.has(stem(sentence[at]?.word ?? ''))) return false
  if (OBJECTS.has(sentence[at + 1]?.word ?? '')) return false
  return !verbs.includes(sentence.findLastIndex(({ word }, i) => i < at && !JOINING.has(word)))
}

const OBJECTS = setOf('a an the it its them this these that all any each your new one to')
const NOUNS = setOf(
  'record stage link copy draft schedule store stop commit merge change build call control post share charge set mark update import upload ' +
    'format switch click scale transition signal trigger run reply fill export display query refund purchase answer monitor load map watch start read write',
)

function actionAt(sentence: Sentence, at: number): Action | undefined {
  const word = sentence[at]?.word ?? ''
  const verb = stem(word)
  const next = sentence[at + 1]?.word ?? ''
  const after = sentence.slice(at + 1, at + 6).map((each) => each.word)
  if (isAside(verb, next) || NOTHING.has(next)) return undefined
  const isQuery = verb === 'execute' && after.some((each) => QUERIES.has(each))
  const isTold = formOf(word) === 'third' || sentence[at - 1]?.word === 'will'
  const isLook = PERFORMING.has(verb) && after.some((each) => LOOKS.has(each))
  const isReturn = verb === 'return' && next === 'to'
  const effect = isReturn ? 'write' : isLook ? 'read' : spoken.get(verb)
  return effect && { word, verb, effect, isQuery, isTold }
}

const NOTHING = setOf('nothing no')

/** Whether a verb is not an action of the tool: "start playing", "call this tool first". */
function isAside(verb: string, next: string): boolean {
  // The second verb counts in "start playing".
  if (verb === 'start' && next.endsWith('ing')) return true
  if (verb === 'call') return INSTRUCTING.has(next)
  return next === 'this' && RUNNING.has(verb)
}

const PERFORMING = setOf('run execute start perform')
/** Whether a sentence tells the caller what to do: "Call this first". */
export function isInstruction([first, second]: Sentence): boolean {
  return first?.word === 'use' || (first?.word === 'call' && INSTRUCTING.has(second?.word ?? ''))
}

const RUNNING = setOf('run execute invoke trigger start perform')
const QUERIES = setOf('query queries aggregation')
const INSTRUCTING = setOf('this the it before after when once first')
// These only look when they are run.
const LOOKS = setOf(
  'search searches retrieval lookup audit check checks analysis lint validation comparison diagnostics select read-only',
)

function formOf(word: string): 'base' | 'third' | 'ing' {
  const verb = stem(word)
  if (word === verb) return 'base'
  return word.endsWith('ing') ? 'ing' : 'third'
}

function isAdverb(word: string): boolean {
  return word.endsWith('ly') && !spoken.has(word)
}

/** A verb without the endings `s`, `es` and `ing`. "Created" stays: it describes an object, not an action. */
export function stem(word: string): string {
  const forms = [word, cut(word, 's'), cut(word, 'es'), cut(word, 'ing'), `${cut(word, 'ing')}e`]
  return forms.find((form) => spoken.has(form)) ?? word
}

function cut(word: string, ending: string): string {
  return word.endsWith(ending) ? word.slice(0, -ending.length) : word
}
