// Reads the prompt of a user: the actions that it asks for, and the things that they are about.

import { valuesIn } from './values.ts'
import { FILE, Lexicon, MOST_READ, thingsIn, thingsWithin, wordsOf } from './prompt-reading.ts'
import {
  AMBIGUOUS,
  ASKING_FOR_ANSWER,
  BEFORE_THINGS,
  ACTION_WORDS,
  DELEGATES,
  DELEGATES_UNSPACED,
  SUBJECTS,
  THE_ASKER,
  UNSPACED,
  type RequestedAction,
} from './prompt-words.ts'

/** The result of reading a prompt. */
export interface Prompt {
  /** The requested verbs, as in the lexicon. */
  readonly verbs: ReadonlySet<string>
  readonly actions: ReadonlySet<RequestedAction>
  readonly things: ReadonlySet<string>
  readonly isAboutMoney: boolean
  readonly delegates: boolean
}

const actions = new Lexicon<RequestedAction>()
for (const table of [ACTION_WORDS, UNSPACED]) {
  // Sound: the keys of the tables are exactly the actions.
  for (const [action, words] of Object.entries(table) as [RequestedAction, string][])
    actions.add(words, action)
}

/** Returns the verb of a tool's name: the first one. A word that can be a noun only counts if there is no other verb. */
export function verbOfName(words: readonly string[]): string {
  const verbs = words.filter((word) => actions.of(word).length > 0)
  return [...verbs.filter((word) => !AMBIGUOUS.has(word)), ...verbs][0] ?? ''
}

/** Returns the actions that a verb asks for. */
export function actionsOf(verb: string): readonly RequestedAction[] {
  return actions.of(verb)
}

/** Reads the prompt of a user. Quoted text is content and requests nothing. */
export function readPrompt(text: string): Prompt {
  const plain = withoutValues(unquoted(text.slice(0, MOST_READ).normalize('NFKC'))).replace(FILE, ' ')
  const words = wordsOf(plain.replace(SENTENCE_END, ` ${NO_WORD} `))
  const isAboutMoney = MONEY.test(plain)
  const asked = verbsAsked(words)
  const things = new Set([...thingsIn(words), ...thingsWithin(plain), ...(isAboutMoney ? ['money'] : [])])
  return {
    verbs: new Set(asked),
    actions: new Set([...asked.flatMap((verb) => actions.of(verb)), ...actions.within(plain)]),
    things,
    isAboutMoney: things.has('money'),
    delegates: delegates(words) || DELEGATES_UNSPACED.some((each) => plain.includes(each)),
  }
}

/** Marks the end of a sentence or an address. Words before and after it are unrelated. */
const NO_WORD = '0'
const SENTENCE_END = /[.!?;:](?=\s)|\n/gu

const MONEY =
  /[$€£¥₹₽₺₩]|\b(?:dollars?|euros?|pounds?|usd|eur|gbp|chf|yen|yuan|rupees?|amount|fee|prices?|cost|paid|spent|betrag|montant|importe|importo|valor|bedrag|kwota)\b/iu

function verbsAsked(words: readonly string[]): readonly string[] {
  return words.flatMap((word, i) => (isThing(words, i) || isForAnswer(words, i) ? [] : [stemOf(word)]))
}

/** Returns whether a word is used as a noun, or has a subject before it. */
function isThing(words: readonly string[], i: number): boolean {
  const before = words[i - 1] ?? ''
  return SUBJECTS.has(before) || (AMBIGUOUS.has(words[i] ?? '') && BEFORE_THINGS.has(before))
}

/** Returns whether a verb asks for an answer, as in "tell me". */
function isForAnswer(words: readonly string[], i: number): boolean {
  return ASKING_FOR_ANSWER.has(words[i] ?? '') && THE_ASKER.has(words[i + 1] ?? '')
}

/** Returns the verb in its base form: "sending" becomes "send". Past forms such as "sent" report and request nothing. */
function stemOf(word: string): string {
  if (actions.of(word).length > 0 || !word.endsWith('ing')) return word
  const stem = word.slice(0, -3)
  return [stem, `${stem}e`, stem.slice(0, -1)].find((form) => actions.of(form).length > 0) ?? word
}

// The maximum number of words between the verb and the noun.
const NEAR = 8

function delegates(words: readonly string[]): boolean {
  return DELEGATES.some(([actionWords, objects]) => {
    const [verbs, nouns] = [new Set(actionWords.split(' ')), new Set(objects.split(' '))]
    return words.some(
      (word, i) => verbs.has(word) && words.slice(i + 1, i + 1 + NEAR).some((each) => nouns.has(each)),
    )
  })
}

/** Pairs of quotation marks. An apostrophe is not a quotation mark. */
export const QUOTES: readonly RegExp[] = [
  /"([^"\n]{1,500})"/gu,
  /[“„«»]([^“”„«»\n]{1,500})[”“»«]/gu,
  /[‘‚]([^‘’\n]{1,500})’/gu,
  /(?<=^|[\s(:,])'([^'\n]{1,500})'(?=$|[\s).,:;!?])/gu,
  /[「『]([^「」『』\n]{1,500})[」』]/gu,
  /`([^`\n]{1,500})`/gu,
]

function unquoted(text: string): string {
  return QUOTES.reduce((rest, quote) => rest.replace(quote, ' '), text)
}

/** Removes addresses, because their parts are not words of a request. */
function withoutValues(text: string): string {
  let rest = ''
  let at = 0
  for (const { start, end } of valuesIn(text, 1000)) {
    if (start > at) rest += `${text.slice(at, start)} ${NO_WORD} `
    at = Math.max(at, end)
  }
  return rest + text.slice(at)
}
