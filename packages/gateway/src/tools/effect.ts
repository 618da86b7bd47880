// What a tool seems to do, from its own words. Words of a server can make a class stricter; they never make it milder than the
// name and the description together, and nobody takes an annotation's word for it.

import type { EffectClass, JsonObject } from '@tollgate/evidence'
import { hintOf, isObject, textOf } from './offer.ts'
import { sayingsOfDescription, sayingsOfName, speaksOfSecrets, stricter } from './effect-words.ts'

/** What a tool seems to do, and why one would think so. */
export interface Guess {
  readonly effect: EffectClass
  /** Why, in a few words. */
  readonly because: string
  /** Names of arguments that say where data goes. */
  readonly destinations: readonly string[]
  /** Names of arguments whose values have consequences. */
  readonly sinks: readonly string[]
  /** Whether it may reach the network: its annotations do not deny it. */
  readonly isOpen: boolean
  /** Whether what it reads may be secrets. */
  readonly showsSecrets: boolean
}

/** What a tool seems to do. `said` is the tool as its server lists it. */
export function guess(tool: string, said: JsonObject): Guess {
  const { effect, because } = effectOf(tool, said)
  const names = argumentsOf(said)
  return {
    effect,
    because,
    destinations: names.filter((name) => DESTINATIONS.has(name.toLowerCase())),
    sinks: effect === 'read' ? [] : names.filter((name) => SINKS.has(name.toLowerCase())),
    isOpen: hintOf(said, 'openWorldHint') !== false,
    showsSecrets: speaksOfSecrets(tool, textOf(said, 'description')),
  }
}

function effectOf(tool: string, said: JsonObject): Pick<Guess, 'effect' | 'because'> {
  const inName = sayingsOfName(tool)
  const inText = sayingsOfDescription(textOf(said, 'description'))
  const acts = [...inName, ...inText].filter(({ effect }) => effect !== 'read')
  const worst = acts.find(({ effect }) => acts.every((each) => stricter(effect, each.effect) === effect))
  if (worst) return raised(said, worst.effect, `it says \`${worst.word}\``)
  if (inName.length > 0 && inText.length > 0 && hintOf(said, 'readOnlyHint') !== false) {
    return raised(said, 'read', 'name and description speak of reading alone')
  }
  // What a policy that says nothing means, said aloud.
  return { effect: 'admin', because: 'nothing says clearly what it does' }
}

function raised(said: JsonObject, effect: EffectClass, because: string): Pick<Guess, 'effect' | 'because'> {
  const isDestructive = hintOf(said, 'destructiveHint') === true
  if (!isDestructive || stricter(effect, 'delete') === effect) return { effect, because }
  return { effect: 'delete', because: `${because}, and its server calls it destructive` }
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

const MOST_ARGUMENTS = 100
const PLAIN = /^[A-Za-z0-9_-]{1,64}$/

/** The names of a tool's arguments, as far as they are plain enough for a policy. */
function argumentsOf({ inputSchema }: JsonObject): readonly string[] {
  const properties = isObject(inputSchema) ? inputSchema['properties'] : undefined
  const names = isObject(properties) ? Object.keys(properties) : []
  return names.filter((name) => PLAIN.test(name)).slice(0, MOST_ARGUMENTS)
}
