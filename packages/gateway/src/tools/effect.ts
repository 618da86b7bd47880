// Guesses the effect class of a tool from its name, description and annotations. Annotations can only make the class
// stricter.

import type { EffectClass, JsonObject } from '@tollgate/evidence'
import { hintOf, textOf } from './offer.ts'
import { argumentsOf, choicesOf, takesId, valuesOf } from './effect-arguments.ts'
import { effectWordInName, type NameWord } from './effect-name.ts'
import { actionsIn, beginsWithRead, strongActionsIn } from './effect-text.ts'
import { firm, READING_LANGUAGES, type VagueVerb } from './effect-verbs.ts'
import {
  claimsReading,
  MAX_READ,
  mentionsSecrets,
  stricter,
  wordsOf,
  type EffectWord,
} from './effect-words.ts'

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

/** Guesses the effect of a tool. `listed` is the tool as listed by its server, `server` the server's name. */
export function guess(tool: string, listed: JsonObject, server = ''): Guess {
  const { effect, because } = effectOf(tool, listed, server)
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

type Judged = Pick<Guess, 'effect' | 'because'>

/** The class by the name, then by the arguments and the description, then by the annotations. Each step only raises it. */
function effectOf(tool: string, listed: JsonObject, server: string): Judged {
  const name = effectWordInName(tool, server)
  const named =
    name === undefined
      ? unnamed(tool, listed)
      : name.vague
        ? vague(tool, name, name.vague, listed)
        : clear(tool, name, listed)
  // The choices of a reading tool are often filters, such as `build_failed`.
  const isReading = name?.effect === 'read' && !name.vague
  const choices = choicesOf(tool, listed).filter(({ word }) => !isReading || firm.has(word))
  return hinted(listed, name, byArguments(listed, name, worst(named, choices, OFFERS)))
}

/** A name with a clear verb. A description can only raise it. */
function clear(tool: string, name: NameWord, listed: JsonObject): Judged {
  const description = textOf(listed, 'description')
  const own = { effect: name.effect, because: `its name contains \`${name.word}\`` }
  if (name.word === 'query' && isOpenSql(description)) return { effect: 'execute', because: 'it takes SQL' }
  const strong = strongActionsIn(description)
  if (name.effect === 'execute' && isReadingQuery(tool, description))
    return worst({ ...own, effect: 'read' }, strong)
  // A download is saved somewhere.
  if (name.word === 'download')
    return worst(
      own,
      strong.filter(({ effect }) => effect !== 'write'),
    )
  if (name.effect === 'read') return worst(own, strong)
  // "Create" is vague: the description of `create_call` begins with "place a call".
  if (ADDING.has(name.word)) return worst(own, [...actionsIn(description).slice(0, 1), ...strong])
  // Accepting a claim may refund it.
  return worst(
    own,
    strong.filter(({ effect }) => effect === 'pay'),
  )
}

/** Whether it runs queries in a language in which nothing can be written, such as PromQL. */
function isReadingQuery(tool: string, description: string): boolean {
  const [first = ''] = description.slice(0, MAX_READ).toLowerCase().split('.')
  const words = wordsOf(first)
  return (
    wordsOf(tool.slice(0, MAX_NAME)).at(-1) === 'query' && words.some((each) => READING_LANGUAGES.has(each))
  )
}

const MAX_NAME = 256

/** Whether a description mentions SQL that may also write. */
function isOpenSql(description: string): boolean {
  const words = wordsOf(description.slice(0, MAX_READ))
  return words.includes('sql') && !claimsReading(words)
}

/** A name with a vague verb, such as "manage": the strictest action of the description, but not below the verb's floor. */
function vague(
  tool: string,
  { word, isNoun }: NameWord,
  { floor, otherwise }: VagueVerb,
  listed: JsonObject,
): Judged {
  if (word === 'convert' && !takesId(listed)) return unnamed(tool, listed)
  const description = textOf(listed, 'description')
  if (isNoun === true && beginsWithRead(description)) {
    return worst(
      { effect: 'read', because: 'its description begins with reading' },
      strongActionsIn(description),
    )
  }
  const actions = actionsIn(description).filter((each) => !each.word.startsWith(word))
  // A noun that is an action elsewhere, and a description that names none: the noun counts.
  const isUnclear = isNoun === true && actions.every(({ effect }) => effect === 'read')
  const least = isUnclear ? stricter(floor, otherwise) : floor
  if (actions.length === 0 && choicesOf(tool, listed).length === 0)
    return { effect: otherwise, because: `its name contains only \`${word}\`` }
  return worst({ effect: least, because: `its name contains \`${word}\`` }, actions)
}

/** A name without a verb: the strictest action of the description. */
function unnamed(tool: string, listed: JsonObject): Judged {
  const description = textOf(listed, 'description')
  const [first, ...more] = [...actionsIn(description), ...strongActionsIn(description)]
  if (first === undefined) return chosen(tool, listed)
  return worst({ effect: first.effect, because: `its description contains \`${first.word}\`` }, more)
}

/** A tool that only its choices describe. A choice without a known verb may do anything. */
function chosen(tool: string, listed: JsonObject): Judged {
  const [first, ...more] = choicesOf(tool, listed)
  if (first === undefined || more.length + 1 < valuesOf(listed).length) return UNCLEAR
  return worst({ effect: first.effect, because: `${OFFERS} \`${first.word}\`` }, more, OFFERS)
}

// The default class of a policy, stated explicitly.
const UNCLEAR: Judged = { effect: 'admin', because: 'name and description do not say clearly what it does' }

function worst(own: Judged, actions: readonly EffectWord[], source = 'its description contains'): Judged {
  return actions.reduce<Judged>(
    (before, { word, effect }) =>
      stricter(before.effect, effect) === before.effect
        ? before
        : { effect, because: `${source} \`${word}\`` },
    own,
  )
}

/** Commands and code as arguments run, unless the verb only looks at them. A request with a free method can do anything. */
function byArguments(listed: JsonObject, name: NameWord | undefined, before: Judged): Judged {
  const names = new Set(argumentsOf(listed).map((each) => each.toLowerCase()))
  const [command] = [...names].filter((each) => COMMANDS.has(each))
  const isRequest = names.has('method') && (names.has('endpoint') || names.has('url'))
  const given = command ?? (isRequest ? 'method' : undefined)
  // A thing that is created with a code often has a number.
  if (given === 'code' && before.effect === 'write' && name?.effect === 'write' && !name.vague) return before
  const isClaimed = claimsReading(wordsOf(textOf(listed, 'description').slice(0, MAX_READ)))
  const isLooking = name?.effect === 'read' && (name.word !== 'query' || isClaimed)
  if (given === undefined || isLooking || stricter(before.effect, 'execute') === before.effect) return before
  return { effect: 'execute', because: `it takes the argument \`${given}\`` }
}

const OFFERS = 'it offers the action'
/** Annotations come from the server, so they never make a class milder. */
function hinted(listed: JsonObject, name: NameWord | undefined, before: Judged): Judged {
  const { effect, because } = before
  if (effect === 'read' && hintOf(listed, 'readOnlyHint') === false) {
    return { effect: 'admin', because: `${because}, but its server does not mark it as read-only` }
  }
  const isDestructive = hintOf(listed, 'destructiveHint') === true
  // A destructive write is a change. Reading and adding change nothing.
  const isChange = effect === 'write' && !ADDING.has(name?.word ?? '')
  if (!isDestructive || isChange || stricter(effect, 'delete') === effect) return before
  return { effect: 'delete', because: `${because}, and its server marks it as destructive` }
}

const ADDING = wordSet('create add insert append make new')
const COMMANDS = wordSet('command cmd commands cli_command script code sql statement')
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
