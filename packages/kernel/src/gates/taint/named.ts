// What a user's first words name: addresses, accounts, and every word for itself. A target that is put together of such words was
// named; one that nobody has named was found, or made up, by the agent.

import { readPrompt } from '../../text/prompt.ts'
import type { RequestedAction } from '../../text/prompt-words.ts'
import { lookUp, type Provenance, type Spoken } from './remembered.ts'
import type { Value } from '../../text/scan.ts'
import { valuesIn } from '../../text/values.ts'

const MOST_READ = 8192
const MOST_VALUES = 128
const MOST_NAMES = 240
/** Stands for all of them: whether the session knows any words of its user. */
const VOICE: Spoken = { kind: 'name', text: '' }

/** What is remembered of a user's first words. */
export function namesIn(text: string): readonly Spoken[] {
  const found = new Set<string>([''])
  for (const { text: value } of outerOf(valuesIn(text.slice(0, MOST_READ), MOST_VALUES))) found.add(value)
  for (const token of tokensOf(text.slice(0, MOST_READ))) {
    if (found.size >= MOST_NAMES) break
    found.add(token)
    for (const part of partsOf(token)) found.add(part)
  }
  const read = readPrompt(text)
  const money: readonly RequestedAction[] = read.isAboutMoney ? ['pay'] : []
  // Who leaves it to a text what is to be done has asked for whatever that is.
  const anything: readonly RequestedAction[] = read.delegates ? ['change'] : []
  const deeds = new Set<RequestedAction>([...read.actions, ...money, ...anything])
  return [...[...deeds].sort().map(actionName), ...found].map((name) => ({ kind: 'name', text: name }))
}

/** What is asked for has a space in its name, as no word has. */
function actionName(deed: RequestedAction): string {
  return `to ${deed}`
}

/** Whether the user's first words ask for any of these. */
export function isAskedFor(provenance: Provenance, deeds: readonly RequestedAction[]): boolean {
  return deeds.some((deed) => isName(provenance, actionName(deed)))
}

/** Values without those inside of others: who names a page has not named all of its host. */
export function outerOf(values: readonly Value[]): readonly Value[] {
  let end = 0
  return values.filter((value) => {
    const isInside = value.start < end
    end = Math.max(end, value.end)
    return !isInside
  })
}

const TOKEN = /[\p{L}\p{M}\p{N}_]+/gu
const CAMEL = /(\p{Ll})(\p{Lu})/gu
// Words of statements and sentences that name nothing.
const FILLING: ReadonlySet<string> = new Set(
  'a an the to from for of in on at by with and or where is'.split(' '),
)

/** The words of a text, with low lines inside as programs have them, in one spelling. */
export function tokensOf(text: string): readonly string[] {
  const plain = text.normalize('NFKC').replace(CAMEL, '$1_$2').toLowerCase()
  return (plain.match(TOKEN) ?? []).filter((token) => !FILLING.has(token))
}

function partsOf(token: string): readonly string[] {
  return token.includes('_') ? token.split('_').filter((part) => part !== '') : []
}

/** Whether the session knows any words of its user. */
export function isVoiced(provenance: Provenance): boolean {
  return isName(provenance, '')
}

/** Whether the user's first words have exactly this. */
export function isName(provenance: Provenance, text: string): boolean {
  return lookUp(provenance, text === '' ? VOICE : { kind: 'name', text }).origin === 'said'
}

/** Whether a word of a target is one of the user's, or put together of them. */
export function isNamedToken(provenance: Provenance, token: string): boolean {
  if (isName(provenance, token)) return true
  const parts = partsOf(token)
  return parts.length > 1 && parts.every((part) => isName(provenance, part))
}
