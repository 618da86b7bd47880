// The part of a draft for tools that no server describes: all that is known of them is how they were called.

import type { EffectClass, JsonObject } from '@tollgate/evidence'
import { guess } from './effect.ts'
import { excerpt } from './hidden.ts'
import { toolOf } from './offer.ts'
import type { SeenArgument, SeenTool } from './seen.ts'

/** What a tool is taken for, and why. */
interface Taken {
  readonly effect: EffectClass
  readonly because: string
  readonly destinations: readonly string[]
  readonly sinks: readonly string[]
}

/** The tools that a draft has room for, those that were called most first. A policy has its limits, and so has its reader. */
export function roomFor(tools: readonly SeenTool[], characters: number): readonly SeenTool[] {
  let left = characters
  return tools.filter((tool) => {
    // Its name stands in the two rules too.
    left -= declaration(tool).length + 2 * tool.name.length
    return left > 0
  })
}

/** The declarations, as lines of `tools`; of so many tools in all. */
export function observedSection(all: readonly SeenTool[], many: number): readonly string[] {
  if (many === 0) return []
  const tools = all.filter(isDraftable)
  const left = all.length - tools.length
  return [
    '  # Seen in calls, and described by no server. The values are samples from your own calls: keep this file to yourself, or',
    '  # remove them.',
    ...tools.map(declaration),
    ...(left > 0 ? [`  # left out, for their names: ${left} tools that were seen in calls`] : []),
    ...(many > all.length ? [`  # left out: ${many - all.length} more tools that were seen in calls`] : []),
    '',
  ]
}

/** The rules. A dot keeps their ids apart from those of any server. */
export function observedRules(all: readonly SeenTool[]): readonly string[] {
  const names = all.filter(isDraftable).map(({ name }) => JSON.stringify(name))
  if (names.length === 0) return []
  const list = names.map((name) => `      - ${name}`)
  return [
    ['  - id: observed.reading', '    allow:', ...list, `    when: 'effect == "read"'`].join('\n'),
    ['  - id: observed.acting', '    require:', ...list, '    expires: 15m', ''].join('\n'),
  ]
}

// A star would be a pattern, and beyond ASCII a name may look like another one.
const PLAIN = /^[!-~](?:[ -~]{0,254}[!-~])?$/

function isDraftable({ name }: SeenTool): boolean {
  return PLAIN.test(name) && !name.includes('*')
}

function declaration(tool: SeenTool): string {
  const { effect, because, destinations, sinks } = takenFor(tool)
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
function takenFor(tool: SeenTool): Taken {
  const { name, effect, arguments: known } = tool
  const properties = Object.fromEntries(known.map((each): [string, JsonObject] => [each.name, {}]))
  const guessed = guess(toolOf(name) ?? name, { inputSchema: { type: 'object', properties } })
  if (effect === 'admin') return guessed
  const { destinations, sinks } = guessed
  const because = 'the policy said so when it was called'
  return { effect, because, destinations, sinks: effect === 'read' ? [] : sinks }
}

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
