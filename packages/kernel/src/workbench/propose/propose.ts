// A scope from the user's own words: which tools they ask for, and which addresses, names and files they name. Deterministic, and
// only a proposal: what the words do not name will be asked about.

import { EFFECT_CLASSES, type EffectClass } from '@tollgate/evidence'
import { actionsOf, readPrompt, verbOfName, type Prompt } from '../../text/prompt.ts'
import { sinksNamedIn } from './named.ts'
import { MOST_TOOLS } from '../../gates/scope/parse.ts'
import type { Scope } from '../../gates/scope/scope.ts'
import { thingsIn, wordsOfName } from '../../text/prompt-reading.ts'
import type { RequestedAction } from '../../text/prompt-words.ts'

/** A tool, as far as a proposal looks at it. */
export interface ProposedTool {
  readonly name: string
  readonly effect: EffectClass
  readonly description?: string
  /** Names of its arguments. */
  readonly arguments?: readonly string[]
}

/** A proposed scope, and what it rests on. */
export interface Proposal {
  readonly scope: Scope
  /** What the words ask for; nothing if only for information. */
  readonly deeds: readonly RequestedAction[]
  /** The words leave it to some text what is to be done: what that text names is not in the scope, and will be asked about. */
  readonly delegates: boolean
}

/** How a scope is proposed. */
interface ProposeOptions {
  /** Only what the words name, and nothing that would have to be looked up. */
  readonly strict?: boolean
}

/** The scope that a user's words ask for. */
export function proposeScope(
  prompt: string,
  tools: readonly ProposedTool[],
  options: ProposeOptions = {},
): Scope {
  return proposalFor(prompt, tools, options).scope
}

/** The scope that a user's words ask for, with what it rests on. Takes time linear in the length of both, and never throws. */
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
    deeds: [...read.actions].sort(),
    delegates: read.delegates,
  }
}

// As many as a scope has room for. What is left out will be asked about.
const MOST_TEXT = 10_000

function namesOf(tools: readonly ProposedTool[]): readonly string[] {
  let length = 0
  const names = [...new Set(tools.map(({ name }) => name))].filter(
    (name) => name !== '' && name.length <= 256,
  )
  return names
    .slice(0, MOST_TOOLS)
    .filter((name) => (length += 3 * name.length + 3) <= MOST_TEXT)
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

function effectsOf(deeds: ReadonlySet<RequestedAction>): ReadonlySet<EffectClass> {
  return new Set([...deeds].flatMap((deed) => EFFECTS[deed]))
}

/** The tools with side effects that the words ask for. */
function askedFor(prompt: Prompt, tools: readonly ProposedTool[]): readonly ProposedTool[] {
  const acting = tools.filter(({ effect }) => effect !== 'read').map(readTool)
  // Where nothing but money can be sent, that is what is meant.
  const sends = acting.some(({ tool, deeds }) => tool.effect !== 'pay' && deeds.has('send'))
  const meaning = sends ? prompt : { ...prompt, isAboutMoney: true }
  const fitting = acting.filter((each) => actionsInCommon(meaning, each).length > 0)
  return fitting.filter((each) => isMeant(meaning, each, fitting)).map(({ tool }) => tool)
}

interface ReadTool {
  readonly tool: ProposedTool
  readonly verb: string
  readonly deeds: ReadonlySet<RequestedAction>
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
  // Money is paid and messages are sent, whatever the tool calls it.
  const isUsual = named.size === 0 || tool.effect === 'pay' || tool.effect === 'send'
  const deeds = new Set([...named, ...(isUsual ? usual : [])])
  const things = thingsIn(words)
  return {
    tool,
    verb,
    deeds,
    things: things.size > 0 ? things : thingsIn(wordsOfName(tool.description ?? '')),
  }
}

/** What both the words and the tool speak of doing. To send is to pay only where there is talk of money. */
function actionsInCommon(
  { actions, isAboutMoney }: Prompt,
  { tool, deeds: own }: ReadTool,
): readonly RequestedAction[] {
  return [...own].filter(
    (deed) => actions.has(deed) && (deed !== 'send' || tool.effect !== 'pay' || isAboutMoney),
  )
}

/** Of tools that do the same, those are meant that are called by a verb of the words, and by it alone, or that are about what the words are about; all of them if the words do not say. */
function isMeant(prompt: Prompt, one: ReadTool, fitting: readonly ReadTool[]): boolean {
  const called = prompt.verbs.has(one.verb) && fitting.every((each) => each === one || each.verb !== one.verb)
  if (called || isAbout(prompt, one)) return true
  const deeds = actionsInCommon(prompt, one)
  const rivals = fitting.filter((each) => actionsInCommon(prompt, each).some((deed) => deeds.includes(deed)))
  return !rivals.some((each) => isAbout(prompt, each))
}

function isAbout({ things }: Prompt, tool: ReadTool): boolean {
  return [...tool.things].some((thing) => things.has(thing))
}
