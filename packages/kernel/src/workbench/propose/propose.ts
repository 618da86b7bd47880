// Proposes a scope from the user's own words: the tools that they ask for, and the addresses, names and files that they mention. It
// is deterministic. Calls on targets outside the proposal need approval.

import { EFFECT_CLASSES, type EffectClass } from '@tollgate/evidence'
import { actionsOf, readPrompt, verbOfName, type Prompt } from '../../text/prompt.ts'
import { sinksNamedIn } from './named.ts'
import { MOST_TOOLS } from '../../gates/scope/parse.ts'
import type { Scope } from '../../gates/scope/scope.ts'
import { thingsIn, wordsOfName } from '../../text/prompt-reading.ts'
import type { RequestedAction } from '../../text/prompt-words.ts'

/** The facts about a tool that a proposal uses. */
export interface ProposedTool {
  readonly name: string
  readonly effect: EffectClass
  readonly description?: string
  /** Names of its arguments. */
  readonly arguments?: readonly string[]
}

/** A proposed scope with its basis. */
export interface Proposal {
  readonly scope: Scope
  /** The actions that the words ask for; empty if they only ask for information. */
  readonly actions: readonly RequestedAction[]
  /** The words leave the task to some other text. Targets that only that text names are outside the scope. */
  readonly delegates: boolean
}

/** Options of a proposal. */
interface ProposeOptions {
  /** Only targets that the words name, without values from lookups. */
  readonly strict?: boolean
}

/** Returns the scope for a user's words. */
export function proposeScope(
  prompt: string,
  tools: readonly ProposedTool[],
  options: ProposeOptions = {},
): Scope {
  return proposalFor(prompt, tools, options).scope
}

/** Returns the scope for a user's words with its basis. Takes linear time and never throws. */
export function proposalFor(
  prompt: string,
  tools: readonly ProposedTool[],
  { strict = false }: ProposeOptions = {},
): Proposal {
  const read = readPrompt(prompt)
  const asked = tools.length === 0 ? undefined : askedFor(read, tools)
  const effects = asked ? new Set(asked.map(({ effect }) => effect)) : effectsOf(read.actions)
  return {
    scope: {
      effects: EFFECT_CLASSES.filter((effect) => effects.has(effect)),
      ...(asked && { tools: namesOf(asked) }),
      sinks: sinksNamedIn(prompt),
      ...(!strict && effects.size > 0 && { looked_up: true }),
      by: 'proposed',
    },
    actions: [...read.actions].sort(),
    delegates: read.delegates,
  }
}

// The maximum length in a scope.
const MAX_TOTAL_LENGTH = 10_000

function namesOf(tools: readonly ProposedTool[]): readonly string[] {
  let length = 0
  const names = [...new Set(tools.map(({ name }) => name))].filter(
    (name) => name !== '' && name.length <= 256,
  )
  return names
    .slice(0, MOST_TOOLS)
    .filter((name) => (length += 3 * name.length + 3) <= MAX_TOTAL_LENGTH)
    .sort()
}

const EFFECTS: Readonly<Record<RequestedAction, readonly EffectClass[]>> = {
  send: ['send'],
  pay: ['pay'],
  delete: ['delete'],
  make: ['write'],
  change: ['write'],
  invite: ['write', 'send'],
  run: ['execute'],
  admin: ['admin'],
}

function effectsOf(actions: ReadonlySet<RequestedAction>): ReadonlySet<EffectClass> {
  return new Set([...actions].flatMap((action) => EFFECTS[action]))
}

/** Returns the tools with side effects that the words ask for. */
function askedFor(prompt: Prompt, tools: readonly ProposedTool[]): readonly ProposedTool[] {
  const acting = tools.filter(({ effect }) => effect !== 'read').map(readTool)
  // If nothing but money can be sent, the words mean that.
  const sends = acting.some(({ tool, actions }) => tool.effect !== 'pay' && actions.has('send'))
  const meaning = sends ? prompt : { ...prompt, isAboutMoney: true }
  const fitting = acting.filter((each) => actionsInCommon(meaning, each).length > 0)
  return fitting.filter((each) => isMeant(meaning, each, fitting)).map(({ tool }) => tool)
}

interface ReadTool {
  readonly tool: ProposedTool
  readonly verb: string
  readonly actions: ReadonlySet<RequestedAction>
  readonly things: ReadonlySet<string>
}

const USUAL: Readonly<Record<Exclude<EffectClass, 'read'>, readonly RequestedAction[]>> = {
  write: ['make', 'change'],
  delete: ['delete'],
  execute: ['run'],
  send: ['send'],
  pay: ['pay'],
  admin: ['admin', 'change'],
}

function readTool(tool: ProposedTool): ReadTool {
  const words = wordsOfName(tool.name)
  const verb = verbOfName(words)
  const named = new Set(actionsOf(verb))
  const usual = tool.effect === 'read' ? [] : USUAL[tool.effect]
  // Money is paid and messages are sent, even if the tool has another verb.
  const isUsual = named.size === 0 || tool.effect === 'pay' || tool.effect === 'send'
  const actions = new Set([...named, ...(isUsual ? usual : [])])
  const things = thingsIn(words)
  return {
    tool,
    verb,
    actions,
    things: things.size > 0 ? things : thingsIn(wordsOfName(tool.description ?? '')),
  }
}

/** Returns the actions that both the words and the tool name. Sending counts as paying only if the words mention money. */
function actionsInCommon(
  { actions: asked, isAboutMoney }: Prompt,
  { tool, actions }: ReadTool,
): readonly RequestedAction[] {
  return [...actions].filter(
    (action) => asked.has(action) && (action !== 'send' || tool.effect !== 'pay' || isAboutMoney),
  )
}

/**
 * Returns whether the words mean this tool: its verb is in the words and unique, or it is about the same things. If the words do
 * not say, all tools with the same actions are meant.
 */
function isMeant(prompt: Prompt, one: ReadTool, fitting: readonly ReadTool[]): boolean {
  const called = prompt.verbs.has(one.verb) && fitting.every((each) => each === one || each.verb !== one.verb)
  if (called || isAbout(prompt, one)) return true
  const actions = actionsInCommon(prompt, one)
  const rivals = fitting.filter((each) =>
    actionsInCommon(prompt, each).some((action) => actions.includes(action)),
  )
  return !rivals.some((each) => isAbout(prompt, each))
}

function isAbout({ things }: Prompt, tool: ReadTool): boolean {
  return [...tool.things].some((thing) => things.has(thing))
}
