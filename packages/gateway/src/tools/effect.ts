// Guesses the effect class of a tool from its name, description and annotations. Annotations can only make the class
// stricter.

import type { EffectClass, JsonObject } from '@tollgate/evidence'
import { hintOf, textOf } from './offer.ts'
import { argumentsOf, choicesOf, takesId, valuesOf } from './effect-arguments.ts'
import { foreignAction } from './effect-foreign.ts'
import type { NameWord } from './effect-idioms.ts'
import { effectWordInName } from './effect-name.ts'
import {
  actionsIn,
  beginsWithRead,
  consequencesIn,
  isThing,
  onlyReads,
  strongActionsIn,
} from './effect-text.ts'
import { isOpenSql, isReadingQuery } from './effect-queries.ts'
import { byArguments, byFlags, hinted, type Judged } from './effect-signs.ts'
import { firm, setOf, type VagueVerb } from './effect-verbs.ts'
import { mentionsSecrets, stricter, type EffectWord } from './effect-words.ts'

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

/** The class by the name, then by the arguments and the description, then by the annotations. Each step only raises it. */
function effectOf(tool: string, listed: JsonObject, server: string): Judged {
  const name = effectWordInName(tool, server)
  const named =
    name === undefined || (name.isShown === true && textOf(listed, 'description') !== '')
      ? unnamed(tool, listed)
      : name.vague
        ? vague(tool, name, name.vague, listed)
        : clear(tool, name, listed)
  // The choices of a reading tool are often filters, such as `build_failed`.
  const isReading = name?.effect === 'read' && !name.vague && name.isShown !== true
  const choices = choicesOf(tool, listed).filter(({ word }) => !isReading || firm.has(word))
  return hinted(listed, byFlags(listed, name, byArguments(tool, listed, name, worst(named, choices, OFFERS))))
}

/** A name with a clear verb. A description can only raise it. */
function clear(tool: string, name: NameWord, listed: JsonObject): Judged {
  const description = textOf(listed, 'description')
  const own = { effect: name.effect, because: `its name contains \`${name.word}\`` }
  if (name.word === 'query' && isOpenSql(description)) return { effect: 'execute', because: 'it takes SQL' }
  const strong = strongActionsIn(description)
  if (name.effect === 'execute' && isReadingQuery(tool, description))
    return worst({ ...own, effect: 'read' }, strong)
  // A copy of what was read is saved somewhere.
  if (COPYING.has(name.word))
    return worst(
      own,
      strong.filter(({ effect }) => effect !== 'write'),
    )
  if (name.effect === 'read') return worst(own, strong)
  if (name.word === 'add' && computes(listed)) return { effect: 'read', because: 'it calculates' }
  // "Create" is vague: the description of `create_call` begins with "place a call".
  if (ADDING.has(name.word)) return worst(own, [...actionsIn(description).slice(0, 1), ...strong])
  // Accepting a claim may refund it.
  return worst(own, consequencesIn(description))
}

/** A name with a vague verb, such as "manage": the strictest action of the description, but not below the verb's floor. */
function vague(
  tool: string,
  { word, isNoun }: NameWord,
  { floor, otherwise, isMild }: VagueVerb,
  listed: JsonObject,
): Judged {
  if (word === 'convert' && !takesId(listed)) return unnamed(tool, listed)
  const description = textOf(listed, 'description')
  if ((isNoun === true && beginsWithRead(description)) || (isMild === true && onlyReads(description, word))) {
    return worst(
      { effect: 'read', because: 'its description begins with reading' },
      strongActionsIn(description),
    )
  }
  const actions = actionsIn(description).filter((each) => !each.word.startsWith(word))
  // A noun that is an action elsewhere, and a description that names none: the noun counts.
  const isUnclear = isNoun === true && actions.every(({ effect }) => effect === 'read')
  const least = isUnclear ? stricter(floor, otherwise) : floor
  if (actions.length === 0 && choicesOf(tool, listed).length === 0) {
    // `page_scan` may be a scan of a page, or something else.
    const isKnown = isThing(description) || foreignAction(description)?.effect === 'read'
    return otherwise === 'read' && description !== '' && !isKnown
      ? UNCLEAR
      : { effect: otherwise, because: `its name contains only \`${word}\`` }
  }
  return worst({ effect: least, because: `its name contains \`${word}\`` }, actions)
}

/** A name without a verb: the strictest action of the description. */
function unnamed(tool: string, listed: JsonObject): Judged {
  const description = textOf(listed, 'description')
  const [first = foreignAction(description), ...more] = [
    ...actionsIn(description),
    ...strongActionsIn(description),
  ]
  if (first === undefined) return isThing(description) ? THING : chosen(tool, listed)
  return worst({ effect: first.effect, because: `its description contains \`${first.word}\`` }, more)
}

const THING: Judged = { effect: 'read', because: 'its description names information' }

const OFFERS = 'it offers the action'

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

/** Whether its arguments are those of a calculation: `add(a, b)`. */
function computes(listed: JsonObject): boolean {
  const names = argumentsOf(listed)
  return names.length > 1 && names.every((name) => OPERANDS.has(name.toLowerCase()))
}

const OPERANDS = setOf('a b c x y num1 num2 number1 number2 numbers')
const COPYING = setOf('download screenshot capture scrape crawl')
const ADDING = setOf('create add insert append make new')
const DESTINATIONS = setOf(
  'url urls uri endpoint webhook webhook_url host hostname domain to cc bcc recipient recipients email emails',
)
const SINKS = setOf(
  'command cmd script code sql query path paths file filename source destination url uri endpoint webhook host to cc bcc recipient ' +
    'recipients amount',
)
