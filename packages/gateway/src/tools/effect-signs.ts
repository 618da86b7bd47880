// Reads the class of a tool from its schema and its annotations. They only raise it.

import type { EffectClass, JsonObject } from '@tollgate/evidence'
import { argumentsOf } from './effect-arguments.ts'
import type { NameWord } from './effect-idioms.ts'
import { isReadingQuery } from './effect-queries.ts'
import { setOf } from './effect-verbs.ts'
import { stricter, wordsOf } from './effect-words.ts'
import { hintOf, textOf } from './offer.ts'

/** A class with its reason, in a few words. */
export interface Judged {
  readonly effect: EffectClass
  readonly because: string
}

/** A reader with an argument such as `mark_read` also changes something, and one that converts into a file makes one. */
export function byFlags(listed: JsonObject, name: NameWord | undefined, before: Judged): Judged {
  const flag = argumentsOf(listed).find((each) => {
    const [first = '', ...more] = wordsOf(each)
    const isFile = first === 'output' && more.some((word) => FILES.has(word))
    return (FLAGS.has(first) && more.length > 0) || (isFile && MAKING.has(name?.word ?? ''))
  })
  if (flag === undefined || before.effect !== 'read') return before
  return { effect: 'write', because: `it takes the argument \`${flag}\`` }
}

const FILES = setOf('file path dir directory folder filename name')
const MAKING = setOf('convert generate format transform')
const FLAGS = setOf('mark delete archive overwrite commit')

/** Commands and code as arguments run, unless the verb only looks at them. A request with a free method can do anything. */
export function byArguments(
  tool: string,
  listed: JsonObject,
  name: NameWord | undefined,
  before: Judged,
): Judged {
  const names = new Set(argumentsOf(listed).map((each) => each.toLowerCase()))
  const [command] = [...names].filter((each) => COMMANDS.has(each))
  const isRequest = names.has('method') && (names.has('endpoint') || names.has('url'))
  const given = command ?? (isRequest ? 'method' : undefined)
  // A thing that is created with a code often has a number.
  if (given === 'code' && before.effect === 'write' && name?.effect === 'write' && !name.vague) return before
  const isClaimed = isReadingQuery(tool, textOf(listed, 'description'))
  const isReader = name?.effect === 'read' && name.word !== 'query' && name.isShown !== true
  const isLooking = isClaimed || isReader
  if (given === undefined || isLooking || stricter(before.effect, 'execute') === before.effect) return before
  return { effect: 'execute', because: `it takes the argument \`${given}\`` }
}

const COMMANDS = setOf('command cmd commands cli_command script code sql statement')

/** Annotations come from the server, so they never make a class milder. */
export function hinted(listed: JsonObject, before: Judged): Judged {
  const { effect, because } = before
  // A write that overwrites is destructive too, so this hint says more about a read only.
  if (effect !== 'read' || saysNothing(listed)) return before
  if (hintOf(listed, 'destructiveHint') === true)
    return { effect: 'delete', because: `${because}, but its server marks it as destructive` }
  if (hintOf(listed, 'readOnlyHint') === false)
    return { effect: 'write', because: `${because}, but its server does not mark it as read-only` }
  return before
}

/** Some frameworks give every tool all hints with the defaults of MCP. */
function saysNothing(listed: JsonObject): boolean {
  return Object.entries(DEFAULTS).every(([hint, value]) => hintOf(listed, hint) === value)
}

const DEFAULTS = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }
