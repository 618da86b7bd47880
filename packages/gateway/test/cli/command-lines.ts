// Reads command lines of `tollgate` as a shell and the command itself would, without running anything.

import { CommanderError, type Command, type Option } from 'commander'
import { createProgram } from '../../src/cli/commands.ts'
import { Command as OwnCommand } from '../../src/cli/program/help.ts'

/** Why a line cannot run. `missing`: only something is missing, so the line can still be the name of a command in a sentence. */
export interface LineProblem {
  readonly about: string
  readonly missing: boolean
}

/** Checks the words after `tollgate` against the real command table. Words in capitals are placeholders. */
export async function problemOf(line: string): Promise<LineProblem | undefined> {
  const words = shellWords(line)
  const program = await createProgram(() => undefined, words[0])
  if (isUnknownOfMcp(program, words)) return { about: `unknown command \`${line}\``, missing: false }
  for (const command of all(program)) {
    command.exitOverride().configureOutput({ writeOut: ignored, writeErr: ignored, outputError: ignored })
    // The program itself and plain groups have no action: another word is an unknown command.
    if (runsItself(command)) command.action(() => undefined)
  }
  try {
    await program.parseAsync(filled(program, words), { from: 'user' })
    return undefined
  } catch (fault) {
    if (!(fault instanceof Error)) throw fault
    if (!(fault instanceof CommanderError)) return { about: fault.message, missing: false }
    // Commander printed a help text, or the version.
    if (/help|version/.test(fault.code)) return undefined
    return { about: fault.message, missing: fault.code.startsWith('commander.missing') }
  }
}

/** Without a known command, `mcp` is the wrapper, which takes any words but only after `--`. */
function isUnknownOfMcp(program: Command, [group, name]: readonly string[]): boolean {
  if (group !== 'mcp' || name === undefined || name.startsWith('-')) return false
  const mcp = program.commands.find((command) => command.name() === group)
  return mcp?.commands.every((command) => command.name() !== name) === true
}

/** Whether a command does something itself, besides its subcommands. */
export function runsItself(command: Command): boolean {
  return command instanceof OwnCommand && command.runs
}

const ignored = (): void => undefined

function all(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(all)]
}

/** Splits a line into words. A quoted part belongs to one word; a computed part `${…}` becomes a placeholder. */
export function shellWords(line: string): string[] {
  const parts = line.replaceAll(/\$\{[^}]*\}/g, 'X').matchAll(/(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+/g)
  return [...parts].map(([part]) => part.replaceAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"/g, '$1$2'))
}

const PLACEHOLDER = /^[A-Z]+$|…/

/** Gives each placeholder after an option a value that the option accepts. */
function filled(program: Command, words: readonly string[]): string[] {
  const options = all(program).flatMap((command) => command.options)
  return words.map((word, i) => {
    if (!PLACEHOLDER.test(word)) return word
    const option = options.find(({ long, short }) => [long, short].includes(words[i - 1]))
    return option ? valueFor(option) : word
  })
}

function valueFor({ argChoices, parseArg }: Option): string {
  return argChoices?.[0] ?? (parseArg ? '1' : 'X')
}
