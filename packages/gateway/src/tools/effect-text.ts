// Finds what a description says that its tool does.

import { actionsOf, isInstruction, isJoined, stem, type Sentence } from './effect-actions.ts'
import { sentencesOf } from './effect-clauses.ts'
import { proseOf } from './effect-prose.ts'
import { BINDING } from './effect-object.ts'
import { loose, PLAIN, setOf, shown, spoken, STRONG } from './effect-verbs.ts'
import type { EffectWord } from './effect-words.ts'

/**
 * The actions of the first sentence that names some. After a sentence that is not understood, reading is none: "Zaps a page.
 * Returns its name." does not only read.
 */
export function actionsIn(description: string): readonly EffectWord[] {
  const sentences = sentencesOf(proseOf(description))
  const at = sentences.findIndex((sentence) => actionsOf(sentence).length > 0)
  const actions = actionsOf(sentences[at] ?? [])
  const isClear = sentences.slice(0, Math.max(0, at)).every((each) => isInstruction(each) || namesThing(each))
  return isClear ? actions : actions.filter(({ effect }) => effect !== 'read')
}

/** Whether the first verb of a description reads: "Get a list", "This tool will get a list". */
export function beginsWithRead(description: string): boolean {
  const [first = []] = sentencesOf(proseOf(description))
  return actionsOf(first)[0]?.effect === 'read'
}

/** Whether the first sentence of a description only reads, with another verb than `named`. Nouns in lists count as actions. */
export function onlyReads(description: string, named: string): boolean {
  const [first = []] = sentencesOf(proseOf(description))
  const [head] = actionsOf(first)
  const acts = first.some((_, i) => i > 0 && isJoined(first, i) && isAction(first[i]?.word ?? ''))
  return head?.effect === 'read' && head.verb !== named && !acts
}

function isAction(word: string): boolean {
  const effect = spoken.get(stem(word)) ?? loose.get(word)
  return effect !== undefined && effect !== 'read'
}

/** Whether a description begins with the name of information: "Information about a page", "Full details of …". */
export function isThing(description: string): boolean {
  return namesThing(sentencesOf(proseOf(description))[0] ?? [])
}

function namesThing(sentence: Sentence): boolean {
  const words = sentence.map(({ word }) => word)
  const end = words.findIndex((word) => BINDING.has(word))
  const phrase = end === -1 ? words : words.slice(0, end)
  return shown.has(phrase.at(-1) ?? '') && phrase.every((word) => shown.has(word) || QUALIFIERS.has(word))
}

const QUALIFIERS = setOf(
  'a an the all full complete detailed current latest recent past historical general basic public raw structured fast quick read-only daily weekly monthly annual',
)

/** The serious actions in the description of a tool that reads. Such a tool executes its queries. */
export function strongActionsIn(description: string): readonly EffectWord[] {
  return sentencesOf(proseOf(description)).flatMap((sentence, i) =>
    actionsOf(sentence).filter(
      // "Creates tables" tells what the tool does, "Create a table first" what its caller should do.
      ({ verb, word, isQuery }) =>
        (STRONG.has(verb) && !isQuery) || (PLAIN.has(verb) && (i === 0 || word !== verb)),
    ),
  )
}

/** The mails and payments that are a consequence: "Cancels a booking. This will send a mail." */
export function consequencesIn(description: string): readonly EffectWord[] {
  return sentencesOf(proseOf(description)).flatMap((sentence) =>
    actionsOf(sentence).filter(
      ({ effect, verb, isTold }) => effect === 'pay' || (MAILING.has(verb) && isTold),
    ),
  )
}

const MAILING = setOf('send notify publish email broadcast invite')
