// Drafts policy entries for tools that were seen in calls but that no server describes.

import type { EffectClass, JsonObject } from '@tollgate/evidence'
import { guess } from './effect.ts'
import { excerpt } from './hidden.ts'
import { toolOf } from './offer.ts'
import type { SeenArgument, SeenTool } from './seen.ts'
import { effectWordInName } from './effect-name.ts'

/**
 * The style of a draft. `attended`: a person is present and approves every call that acts. `unattended`: no person is
 * present. Calls that act are allowed unless a gate objects; a person approves those that untrusted text may have caused.
 */
export type DraftStyle = 'attended' | 'unattended'

/** The assumed effect of a tool, and why. */
interface SeenEffect {
  readonly effect: EffectClass
  readonly because: string
  readonly destinations: readonly string[]
  readonly sinks: readonly string[]
}

/** The tools that fit into a number of characters, most called first. */
export function fitting(
  tools: readonly SeenTool[],
  characters: number,
  style: DraftStyle,
): readonly SeenTool[] {
  let left = characters
  return tools.filter((tool) => {
    // Its name is also in the two rules.
    left -= declaration(tool, style).length + 2 * tool.name.length
    return left > 0
  })
}

/** The declarations as lines of `tools`. `many` is the total number of tools. */
export function observedSection(
  all: readonly SeenTool[],
  many: number,
  style: DraftStyle,
): readonly string[] {
  if (many === 0) return []
  const tools = all.filter(isDraftable)
  const left = all.length - tools.length
  return [
    '  # Seen in calls, but not described by a server. The values are samples from your own calls: remove them, or do',
    '  # not share this file.',
    ...tools.map((tool) => declaration(tool, style)),
    ...(left > 0 ? [`  # left out because of their names: ${left} tools seen in calls`] : []),
    ...(many > all.length ? [`  # left out: ${many - all.length} more tools seen in calls`] : []),
    '',
  ]
}

/** The rules. The dot keeps their ids distinct from those of any server. */
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

// A star would be a pattern, and non-ASCII names can look like other names.
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
  const doubt = 'review: strictest class by default; set the effect class of this tool'
  const lines = [`${effect}: ${because}`, ...(effect === 'admin' ? [doubt] : []), ...seenLines(tool)]
  return [
    ...lines.map((line) => `  #   ${line}`),
    `  ${JSON.stringify(tool.name)}: { ${fields.join(', ')} }`,
  ].join('\n')
}

/** The effect class from the policy at the time of the call, otherwise a guess from the name and the arguments. */
function takenFor(tool: SeenTool, style: DraftStyle): SeenEffect {
  const { name, effect, arguments: known } = tool
  const properties = Object.fromEntries(known.map((each): [string, JsonObject] => [each.name, {}]))
  const guessed = guess(toolOf(name) ?? name, { inputSchema: { type: 'object', properties } })
  const named =
    effect !== 'admin' ? { effect, because: 'the effect class in the policy when it was called' } : undefined
  const taken = named ?? (style === 'unattended' ? takenByName(toolOf(name) ?? name) : guessed)
  return {
    effect: taken.effect,
    because: taken.because,
    destinations: destinationsOf(guessed, known),
    sinks: taken.effect === 'read' ? [] : sinksOf(guessed, known),
  }
}

/** By name, unless the values contradict it (`from` and `to` are often dates); otherwise by value. */
function destinationsOf(
  { destinations }: Pick<SeenEffect, 'destinations'>,
  known: readonly SeenArgument[],
): readonly string[] {
  const named = known.filter(({ name, looks }) => destinations.includes(name) && !NOWHERE.has(looks))
  const found = named.length > 0 ? named : known.filter((each) => isPlain(each) && each.looks === 'address')
  return found.map(({ name }) => name)
}

const NOWHERE: ReadonlySet<SeenArgument['looks']> = new Set(['moment', 'other'])

/** The effect class from the name only. A name without known words counts as a write. */
function takenByName(name: string): Pick<SeenEffect, 'effect' | 'because'> {
  const found = effectWordInName(name)
  if (!found) return { effect: 'write', because: 'its name does not say what it does' }
  return { effect: found.effect, because: `its name contains \`${found.word}\`` }
}

const PLAIN_ARGUMENT = /^[A-Za-z0-9_-]{1,64}$/

function isPlain({ name }: SeenArgument): boolean {
  return PLAIN_ARGUMENT.test(name)
}

/** By name and by value; otherwise short texts. */
function sinksOf({ sinks }: Pick<SeenEffect, 'sinks'>, known: readonly SeenArgument[]): readonly string[] {
  const plain = known.filter((each) => isPlain(each) && each.looks !== 'moment')
  const found = plain.filter(
    ({ name, looks }) => sinks.includes(name) || looks === 'address' || looks === 'opaque',
  )
  const short = plain.filter(({ name, looks }) => looks === 'name' && !CONTENT.has(name.toLowerCase()))
  return [...new Set([...found, ...short].map(({ name }) => name))]
}

/** Names of arguments that are content, not targets. */
const CONTENT: ReadonlySet<string> = new Set(
  'subject title body text content message description comment note notes summary reason'.split(' '),
)

const MAX_ARGUMENTS = 20

/** How a tool was called, as comment lines. */
export function seenLines({ calls, kept, arguments: known }: SeenTool): readonly string[] {
  const more = known.length - MAX_ARGUMENTS
  return [
    `seen in ${calls} ${calls === 1 ? 'call' : 'calls'}${kept < calls ? `, of which ${kept} were kept` : ''}`,
    ...known.slice(0, MAX_ARGUMENTS).map((each) => `  ${argumentLine(each, kept)}`),
    ...(more > 0 ? [`  and ${more} more arguments`] : []),
  ]
}

function argumentLine({ name, types, calls, samples }: SeenArgument, kept: number): string {
  const often = calls < kept ? `, in ${calls} of ${kept}` : ''
  const values = samples.length > 0 ? `, such as ${samples.join(' ')}` : ', values not shown'
  return `${excerpt(name, 60)}: ${types.join(' or ')}${often}${values}`
}
