// Collects the names in the first message of a user: addresses, accounts and single words. A target that consists of such words counts
// as named by the user.

import { readPrompt } from '../../text/prompt.ts'
import type { RequestedAction } from '../../text/prompt-words.ts'
import { lookUp, type Provenance, type Spoken } from './remembered.ts'
import type { Value } from '../../text/scan.ts'
import { valuesIn } from '../../text/values.ts'

const MAX_READ = 8192
const MAX_VALUES = 128
const MAX_NAMES = 240
/** An entry that every first message adds. It shows that the session has a user message. */
const VOICE: Spoken = { kind: 'name', text: '' }

/** The values that a session keeps of the first message of its user. */
export function namesIn(text: string): readonly Spoken[] {
  const found = new Set<string>([''])
  for (const { text: value } of outerOf(valuesIn(text.slice(0, MAX_READ), MAX_VALUES))) found.add(value)
  for (const token of tokensOf(text.slice(0, MAX_READ))) {
    if (found.size >= MAX_NAMES) break
    found.add(token)
    for (const part of partsOf(token)) found.add(part)
  }
  const read = readPrompt(text)
  const money: readonly RequestedAction[] = read.isAboutMoney ? ['pay'] : []
  // A user who delegates the choice of actions to a text requests any change.
  const anything: readonly RequestedAction[] = read.delegates ? ['change'] : []
  const actions = new Set<RequestedAction>([...read.actions, ...money, ...anything])
  return [...[...actions].sort().map(actionName), ...found].map((name) => ({ kind: 'name', text: name }))
}

/** The name of a requested action. It contains a space, so it never equals a word. */
function actionName(action: RequestedAction): string {
  return `to ${action}`
}

/** Whether the first message of the user requests any of these actions. */
export function isAskedFor(provenance: Provenance, actions: readonly RequestedAction[]): boolean {
  return actions.some((action) => isName(provenance, actionName(action)))
}

/** The values that are not inside other values: naming a page does not name its whole hostname. */
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
// Words that name nothing.
const STOP_WORDS: ReadonlySet<string> = new Set(
  'a an the to from for of in on at by with and or where is'.split(' '),
)

/** The words of a text in lower case. Underscores stay inside words, and `camelCase` becomes `camel_case`. */
export function tokensOf(text: string): readonly string[] {
  const plain = text.normalize('NFKC').replace(CAMEL, '$1_$2').toLowerCase()
  return (plain.match(TOKEN) ?? []).filter((token) => !STOP_WORDS.has(token))
}

function partsOf(token: string): readonly string[] {
  return token.includes('_') ? token.split('_').filter((part) => part !== '') : []
}

/** Whether the session has a message of its user. */
export function isVoiced(provenance: Provenance): boolean {
  return isName(provenance, '')
}

/** Whether the first message of the user contains exactly this name. */
export function isName(provenance: Provenance, text: string): boolean {
  return lookUp(provenance, text === '' ? VOICE : { kind: 'name', text }).origin === 'said'
}

/** Whether a word, or every part of it between underscores, is in the first message of the user. */
export function isNamedToken(provenance: Provenance, token: string): boolean {
  if (isName(provenance, token)) return true
  const parts = partsOf(token)
  return parts.length > 1 && parts.every((part) => isName(provenance, part))
}
