// The part of a draft for tools that no server describes: all that is known of them is how they were called.

import type { EffectClass, JsonObject } from '@tollgate/evidence'
import { guess } from './effect.ts'
import { excerpt } from './hidden.ts'
import { toolOf } from './offer.ts'
import type { SeenArgument, SeenTool } from './seen.ts'
import { sayingsOfName, stricter } from './effect-words.ts'

/**
 * For whom a draft is. `attended`: a person sits beside the agent and is asked about everything that acts. `unattended`: nobody
 * does; what acts is allowed unless a gate objects, and a person is asked about what untrusted text seems to be behind.
 */
export type DraftStyle = 'attended' | 'unattended'

/** What a tool is taken for, and why. */
interface SeenEffect {
  readonly effect: EffectClass
  readonly because: string
  readonly destinations: readonly string[]
  readonly sinks: readonly string[]
}

/** The tools that a draft has room for, those that were called most first. A policy has its limits, and so has its reader. */
export function roomFor(
  tools: readonly SeenTool[],
  characters: number,
  style: DraftStyle,
): readonly SeenTool[] {
  let left = characters
  return tools.filter((tool) => {
    // Its name stands in the two rules too.
    left -= declaration(tool, style).length + 2 * tool.name.length
    return left > 0
  })
}

/** The declarations, as lines of `tools`; of so many tools in all. */
export function observedSection(
  all: readonly SeenTool[],
  many: number,
  style: DraftStyle,
): readonly string[] {
  if (many === 0) return []
  const tools = all.filter(isDraftable)
  const left = all.length - tools.length
  return [
    '  # Seen in calls, and described by no server. The values are samples from your own calls: keep this file to yourself, or',
    '  # remove them.',
    ...tools.map((tool) => declaration(tool, style)),
    ...(left > 0 ? [`  # left out, for their names: ${left} tools that were seen in calls`] : []),
    ...(many > all.length ? [`  # left out: ${many - all.length} more tools that were seen in calls`] : []),
    '',
  ]
}

/** The rules. A dot keeps their ids apart from those of any server. */
export function observedRules(all: readonly SeenTool[], style: DraftStyle): readonly string[] {
  const names = all.filter(isDraftable).map(({ name }) => JSON.stringify(name))
  if (names.length === 0) return []
  const list = names.map((name) => `      - ${name}`)
  return [
    ['  - id: observed.reading', '    allow:', ...list, `    when: 'effect == "read"'`].join('\n'),
    style === 'unattended'
      ? ['  - id: observed.acting', '    allow:', ...list, ''].join('\n')
      : ['  - id: observed.acting', '    require:', ...list, '    expires: 15m', ''].join('\n'),
  ]
}

// A star would be a pattern, and beyond ASCII a name may look like another one.
const PLAIN = /^[!-~](?:[ -~]{0,254}[!-~])?$/

function isDraftable({ name }: SeenTool): boolean {
  return PLAIN.test(name) && !name.includes('*')
}

function declaration(tool: SeenTool, style: DraftStyle): string {
  const { effect, because, destinations, sinks } = takenFor(tool, style)
  const fields = [
    `effect: ${effect}`,
    ...(destinations.length > 0 ? [`destinations: ${JSON.stringify(destinations)}`] : []),
    ...(sinks.length > 0 ? [`sinks: ${JSON.stringify(sinks)}`] : []),
  ]
  const doubt = 'review: the strictest class stands here until you say what it does'
  const lines = [`${effect}: ${because}`, ...(effect === 'admin' ? [doubt] : []), ...seenLines(tool)]
  return [
    ...lines.map((line) => `  #   ${line}`),
    `  ${JSON.stringify(tool.name)}: { ${fields.join(', ')} }`,
  ].join('\n')
}

/** What the policy said of it when it was called, or else what its name and its arguments say. */
function takenFor(tool: SeenTool, style: DraftStyle): SeenEffect {
  const { name, effect, arguments: known } = tool
  const properties = Object.fromEntries(known.map((each): [string, JsonObject] => [each.name, {}]))
  const guessed = guess(toolOf(name) ?? name, { inputSchema: { type: 'object', properties } })
  const named = effect !== 'admin' ? { effect, because: 'the policy said so when it was called' } : undefined
  const taken = named ?? (style === 'unattended' ? takenByName(toolOf(name) ?? name) : guessed)
  return {
    effect: taken.effect,
    because: taken.because,
    destinations: destinationsOf(guessed, known),
    sinks: taken.effect === 'read' ? [] : sinksOf(guessed, known),
  }
}

/** By their names, unless what they hold says otherwise: `from` and `to` are often days; or else by what they hold. */
function destinationsOf(
  { destinations }: Pick<SeenEffect, 'destinations'>,
  known: readonly SeenArgument[],
): readonly string[] {
  const named = known.filter(({ name, looks }) => destinations.includes(name) && !NOWHERE.has(looks))
  const found = named.length > 0 ? named : known.filter((each) => isPlain(each) && each.looks === 'address')
  return found.map(({ name }) => name)
}

const NOWHERE: ReadonlySet<SeenArgument['looks']> = new Set(['moment', 'other'])

/** What a name alone says. One that says nothing changes something. */
function takenByName(name: string): Pick<SeenEffect, 'effect' | 'because'> {
  const sayings = sayingsOfName(name)
  const acts = sayings.filter(({ effect }) => effect !== 'read')
  const worst = acts.find(({ effect }) => acts.every((each) => stricter(effect, each.effect) === effect))
  if (worst) return { effect: worst.effect, because: `it says \`${worst.word}\`` }
  return sayings.length > 0
    ? { effect: 'read', because: 'its name speaks of reading alone' }
    : { effect: 'write', because: 'nothing says what it does' }
}

const PLAIN_ARGUMENT = /^[A-Za-z0-9_-]{1,64}$/

function isPlain({ name }: SeenArgument): boolean {
  return PLAIN_ARGUMENT.test(name)
}

/** By their names and by what they hold; where neither says anything, short texts. */
function sinksOf({ sinks }: Pick<SeenEffect, 'sinks'>, known: readonly SeenArgument[]): readonly string[] {
  const plain = known.filter((each) => isPlain(each) && each.looks !== 'moment')
  const found = plain.filter(
    ({ name, looks }) => sinks.includes(name) || looks === 'address' || looks === 'opaque',
  )
  const short = plain.filter(({ name, looks }) => looks === 'name' && !CONTENT.has(name.toLowerCase()))
  return [...new Set([...found, ...short].map(({ name }) => name))]
}

/** What is said, not to whom. */
const CONTENT: ReadonlySet<string> = new Set(
  'subject title body text content message description comment note notes summary reason'.split(' '),
)

const MOST_ARGUMENTS = 20

/** How a tool was called, as comments. */
export function seenLines({ calls, kept, arguments: known }: SeenTool): readonly string[] {
  const more = known.length - MOST_ARGUMENTS
  return [
    `seen in ${calls} ${calls === 1 ? 'call' : 'calls'}${kept < calls ? `, of which ${kept} were kept` : ''}`,
    ...known.slice(0, MOST_ARGUMENTS).map((each) => `  ${argumentLine(each, kept)}`),
    ...(more > 0 ? [`  and ${more} more arguments`] : []),
  ]
}

function argumentLine({ name, types, calls, samples }: SeenArgument, kept: number): string {
  const often = calls < kept ? `, in ${calls} of ${kept}` : ''
  const values = samples.length > 0 ? `, such as ${samples.join(' ')}` : ', values not shown'
  return `${excerpt(name, 60)}: ${types.join(' or ')}${often}${values}`
}
