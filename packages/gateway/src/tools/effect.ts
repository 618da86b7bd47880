// Guesses the effect class of a tool from its name, description and annotations. Annotations can only make the class
// stricter.

import type { EffectClass, JsonObject } from '@tollgate/evidence'
import { hintOf, isObject, textOf } from './offer.ts'
import { effectWordsInDescription, effectWordsInName, mentionsSecrets, stricter } from './effect-words.ts'

/** The guessed effect of a tool, with its reason. */
export interface Guess {
  readonly effect: EffectClass
  /** The reason, in a few words. */
  readonly because: string
  /** Names of arguments that contain destinations. */
  readonly destinations: readonly string[]
  /** Names of arguments whose values have consequences. */
  readonly sinks: readonly string[]
  /** Whether it may use the network: its annotations do not exclude it. */
  readonly isOpen: boolean
  /** Whether its results may contain secrets. */
  readonly showsSecrets: boolean
}

/** Guesses the effect of a tool. `listed` is the tool as listed by its server. */
export function guess(tool: string, listed: JsonObject): Guess {
  const { effect, because } = effectOf(tool, listed)
  const names = argumentsOf(listed)
  return {
    effect,
    because,
    destinations: names.filter((name) => DESTINATIONS.has(name.toLowerCase())),
    sinks: effect === 'read' ? [] : names.filter((name) => SINKS.has(name.toLowerCase())),
    isOpen: hintOf(listed, 'openWorldHint') !== false,
    showsSecrets: mentionsSecrets(tool, textOf(listed, 'description')),
  }
}

function effectOf(tool: string, listed: JsonObject): Pick<Guess, 'effect' | 'because'> {
  const inName = effectWordsInName(tool)
  const inText = effectWordsInDescription(textOf(listed, 'description'))
  const acts = [...inName, ...inText].filter(({ effect }) => effect !== 'read')
  const worst = acts.find(({ effect }) => acts.every((each) => stricter(effect, each.effect) === effect))
  if (worst) return raised(listed, worst.effect, `its text contains \`${worst.word}\``)
  if (inName.length > 0 && inText.length > 0 && hintOf(listed, 'readOnlyHint') !== false) {
    return raised(listed, 'read', 'name and description mention only reading')
  }
  // The default class of a policy, stated explicitly.
  return { effect: 'admin', because: 'name and description do not say clearly what it does' }
}

function raised(listed: JsonObject, effect: EffectClass, because: string): Pick<Guess, 'effect' | 'because'> {
  const isDestructive = hintOf(listed, 'destructiveHint') === true
  if (!isDestructive || stricter(effect, 'delete') === effect) return { effect, because }
  return { effect: 'delete', because: `${because}, and its server marks it as destructive` }
}

const DESTINATIONS = wordSet(
  'url urls uri endpoint webhook webhook_url host hostname domain to cc bcc recipient recipients email emails',
)
const SINKS = wordSet(
  'command cmd script code sql query path paths file filename source destination url uri endpoint webhook host to cc bcc recipient ' +
    'recipients amount',
)

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(' '))
}

const MAX_ARGUMENTS = 100
const PLAIN = /^[A-Za-z0-9_-]{1,64}$/

/** The argument names of a tool that are plain enough for a policy. */
function argumentsOf({ inputSchema }: JsonObject): readonly string[] {
  const properties = isObject(inputSchema) ? inputSchema['properties'] : undefined
  const names = isObject(properties) ? Object.keys(properties) : []
  return names.filter((name) => PLAIN.test(name)).slice(0, MAX_ARGUMENTS)
}
