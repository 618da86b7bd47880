// `tollgate scope propose`: proposes a scope from the request of the user.

import { readFileSync } from 'node:fs'
import { EFFECT_CLASSES, parseJson, type EffectClass, type Json, type JsonObject } from '@tollgate/evidence'
import { parsePolicy } from '@tollgate/kernel/policy'
import { proposalFor, type Proposal, type ProposedTool } from '@tollgate/kernel/workbench'
import { guess } from '../../tools/effect.ts'
import { isList, isObject, textOf } from '../../tools/offer.ts'
import { CommandError, UsageError, type Terminal } from '../program/terminal.ts'

interface ProposeOptions {
  readonly prompt?: string
  readonly policy?: string
  readonly tools?: string
  readonly strict?: boolean
  readonly json?: boolean
}

/** Proposes a scope and prints it. */
export function runPropose(terminal: Terminal, options: ProposeOptions, file?: string): Promise<number> {
  const words = wordsIn(options, file)
  const tools = toolsIn(options)
  const proposal = proposalFor(words, tools, { strict: options.strict === true })
  terminal.exact(proposal, () => JSON.stringify(proposal.scope, undefined, 2))
  printNotes(terminal, proposal, tools)
  return Promise.resolve(0)
}

function printNotes(
  terminal: Terminal,
  { scope, delegates }: Proposal,
  tools: readonly ProposedTool[],
): void {
  if (tools.length === 0) {
    terminal.warn(
      'without a list of tools, only effect classes can be proposed',
      'add `--policy FILE` or `--tools FILE`',
    )
  }
  if (scope.effects?.length === 0)
    terminal.say('the request only asks for information: the scope contains no side effects')
  if (!delegates) return
  terminal.warn(
    'the request delegates the decision to another text',
    'actions that the text asks for are not in the scope: each of them needs an approval',
  )
}

/** Returns the request, from exactly one source. */
function wordsIn({ prompt }: ProposeOptions, file: string | undefined): string {
  if ((prompt === undefined) === (file === undefined)) {
    throw new UsageError(
      'give the request in exactly one way',
      'use `--prompt TEXT`, a file, or - for standard input',
    )
  }
  return prompt ?? readText(file ?? '')
}

/** Returns the text of a file or of standard input. */
export function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch {
    throw new CommandError(`\`${file}\` cannot be read`)
  }
}

function toolsIn({ policy, tools }: ProposeOptions): readonly ProposedTool[] {
  if (policy !== undefined && tools !== undefined) {
    throw new UsageError('`--policy` and `--tools` cannot be combined', 'use one of them')
  }
  if (policy !== undefined) return toolsOfPolicy(policy)
  return tools === undefined ? [] : toolsOfList(tools)
}

function toolsOfPolicy(file: string): readonly ProposedTool[] {
  const parsed = parsePolicy(readText(file))
  if (!parsed.ok)
    throw new CommandError(`\`${file}\` has mistakes`, `\`tollgate policy check ${file}\` shows them`)
  return parsed.policy.tools.map(({ name, effect }) => ({ name: name.source, effect }))
}

/** Reads a list of tools: the result of MCP `tools/list`, or only the array. */
function toolsOfList(file: string): readonly ProposedTool[] {
  let value: Json
  try {
    value = parseJson(readText(file))
  } catch (fault) {
    if (fault instanceof CommandError) throw fault
    throw new CommandError(`\`${file}\` is not JSON`)
  }
  const found = isObject(value) ? value['tools'] : value
  if (!isList(found)) throw new CommandError(`\`${file}\` contains no list of tools`)
  return found.map((each) => toolOf(each, file))
}

function toolOf(tool: Json, file: string): ProposedTool {
  const name = isObject(tool) ? textOf(tool, 'name') : ''
  if (!isObject(tool) || name === '') throw new CommandError(`a tool in \`${file}\` has no name`)
  return { name, effect: effectOf(name, tool), description: textOf(tool, 'description') }
}

/** Returns the stated effect class, or one guessed from the words of the tool. */
function effectOf(name: string, tool: JsonObject): EffectClass {
  return EFFECT_CLASSES.find((effect) => effect === tool['effect']) ?? guess(name, tool).effect
}
