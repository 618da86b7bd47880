// `tollgate scope propose`: a scope from the user's own words.

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

/** Proposes a scope, and prints it. */
export function runPropose(terminal: Terminal, options: ProposeOptions, file?: string): Promise<number> {
  const words = wordsIn(options, file)
  const tools = toolsIn(options)
  const proposal = proposalFor(words, tools, { strict: options.strict === true })
  terminal.data(proposal, () => JSON.stringify(proposal.scope, undefined, 2))
  tell(terminal, proposal, tools)
  return Promise.resolve(0)
}

function tell(terminal: Terminal, { scope, delegates }: Proposal, tools: readonly ProposedTool[]): void {
  if (tools.length === 0) {
    terminal.warn(
      'without a list of tools only classes of effects can be proposed',
      'add `--policy FILE` or `--tools FILE`',
    )
  }
  if (scope.effects?.length === 0)
    terminal.say('the words ask for information alone: no side effect is inside')
  if (!delegates) return
  terminal.warn(
    'the words leave it to some text what is to be done',
    'what that text asks for is not in the scope: every such call will wait for a person',
  )
}

/** The words, from one place only. */
function wordsIn({ prompt }: ProposeOptions, file: string | undefined): string {
  if ((prompt === undefined) === (file === undefined)) {
    throw new UsageError('which words?', 'give `--prompt TEXT`, or a file, or - for standard input')
  }
  return prompt ?? readText(file ?? '')
}

/** The text of a file, or of standard input. */
export function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch {
    throw new CommandError(`\`${file}\` cannot be read`)
  }
}

function toolsIn({ policy, tools }: ProposeOptions): readonly ProposedTool[] {
  if (policy !== undefined && tools !== undefined) {
    throw new UsageError('tools come from one place', 'give `--policy` or `--tools`')
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

/** A list of tools as `tools/list` of MCP gives it, or the list alone. */
function toolsOfList(file: string): readonly ProposedTool[] {
  let value: Json
  try {
    value = parseJson(readText(file))
  } catch (fault) {
    if (fault instanceof CommandError) throw fault
    throw new CommandError(`\`${file}\` is no JSON`)
  }
  const found = isObject(value) ? value['tools'] : value
  if (!isList(found)) throw new CommandError(`\`${file}\` holds no list of tools`)
  return found.map((each) => toolOf(each, file))
}

function toolOf(said: Json, file: string): ProposedTool {
  const name = isObject(said) ? textOf(said, 'name') : ''
  if (!isObject(said) || name === '') throw new CommandError(`a tool in \`${file}\` has no name`)
  return { name, effect: effectOf(name, said), description: textOf(said, 'description') }
}

/** What the list says, or what the words of the tool sound like. */
function effectOf(name: string, said: JsonObject): EffectClass {
  return EFFECT_CLASSES.find((effect) => effect === said['effect']) ?? guess(name, said).effect
}
