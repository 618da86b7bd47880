// What a user's words ask to be done, and what they are about.

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

/** A prompt as it was read. */
export interface Prompt {
  /** Its verbs, as the lexicon has them. */
  readonly verbs: ReadonlySet<string>
  readonly deeds: ReadonlySet<RequestedAction>
  readonly things: ReadonlySet<string>
  readonly isAboutMoney: boolean
  readonly delegates: boolean
}

const deeds = new Lexicon<RequestedAction>()
for (const table of [ACTION_WORDS, UNSPACED]) {
  // Sound: the tables have exactly the deeds as their keys.
  for (const [deed, words] of Object.entries(table) as [RequestedAction, string][]) deeds.add(words, deed)
}

/** The verb of a tool's name: its first. What can also be a thing is one, unless nothing else is a verb. */
export function verbOfName(words: readonly string[]): string {
  const verbs = words.filter((word) => deeds.of(word).length > 0)
  return [...verbs.filter((word) => !AMBIGUOUS.has(word)), ...verbs][0] ?? ''
}

/** What a verb asks for. */
export function actionsOf(verb: string): readonly RequestedAction[] {
  return deeds.of(verb)
}

/** Reads what a user asks for. What stands in quotation marks is content, and asks for nothing. */
export function readPrompt(text: string): Prompt {
  const plain = withoutValues(unquoted(text.slice(0, MOST_READ).normalize('NFKC'))).replace(FILE, ' ')
  const words = wordsOf(plain.replace(SENTENCE_END, ` ${NO_WORD} `))
  const isAboutMoney = MONEY.test(plain)
  const asked = verbsAsked(words)
  const things = new Set([...thingsIn(words), ...thingsWithin(plain), ...(isAboutMoney ? ['money'] : [])])
  return {
    verbs: new Set(asked),
    deeds: new Set([...asked.flatMap((verb) => deeds.of(verb)), ...deeds.within(plain)]),
    things,
    isAboutMoney: things.has('money'),
    delegates: delegates(words) || DELEGATES_UNSPACED.some((each) => plain.includes(each)),
  }
}

/** Stands where a sentence or an address ended: what comes next does not belong to what came before. */
const NO_WORD = '0'
const SENTENCE_END = /[.!?;:](?=\s)|\n/gu

const MONEY =
  /[$€£¥₹₽₺₩]|\b(?:dollars?|euros?|pounds?|usd|eur|gbp|chf|yen|yuan|rupees?|amount|fee|prices?|cost|paid|spent|betrag|montant|importe|importo|valor|bedrag|kwota)\b/iu

function verbsAsked(words: readonly string[]): readonly string[] {
  return words.flatMap((word, i) => (isThing(words, i) || isForAnswer(words, i) ? [] : [stemOf(word)]))
}

/** Whether an ambiguous word stands where a thing does, or somebody else is said to do it. */
function isThing(words: readonly string[], i: number): boolean {
  const before = words[i - 1] ?? ''
  return SUBJECTS.has(before) || (AMBIGUOUS.has(words[i] ?? '') && BEFORE_THINGS.has(before))
}

/** "Tell me" asks for an answer. */
function isForAnswer(words: readonly string[], i: number): boolean {
  return ASKING_FOR_ANSWER.has(words[i] ?? '') && THE_ASKER.has(words[i + 1] ?? '')
}

/** A verb as it stands in the lexicon: "sending" is to send. What is past, as "sent", is told and not asked for. */
function stemOf(word: string): string {
  if (deeds.of(word).length > 0 || !word.endsWith('ing')) return word
  const stem = word.slice(0, -3)
  return [stem, `${stem}e`, stem.slice(0, -1)].find((form) => deeds.of(form).length > 0) ?? word
}

// How many words may stand between what is to be done and the text that says what.
const NEAR = 8

function delegates(words: readonly string[]): boolean {
  return DELEGATES.some(([doing, said]) => {
    const [verbs, texts] = [new Set(doing.split(' ')), new Set(said.split(' '))]
    return words.some(
      (word, i) => verbs.has(word) && words.slice(i + 1, i + 1 + NEAR).some((each) => texts.has(each)),
    )
  })
}

/** Pairs of quotation marks. An apostrophe is none. */
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

/** An address is no word: nothing is asked for by its parts. */
function withoutValues(text: string): string {
  let rest = ''
  let at = 0
  for (const { start, end } of valuesIn(text, 1000)) {
    if (start > at) rest += `${text.slice(at, start)} ${NO_WORD} `
    at = Math.max(at, end)
  }
  return rest + text.slice(at)
}
