// Lays out the help of commands at the width of the terminal. Commands in it are made runnable first, because that changes their length.

import { Command as AnyCommand, type AddHelpTextContext, type HelpConfiguration } from 'commander'
import { fitted } from './fit.ts'
import { unknownCommand } from './forms.ts'
import { runnable } from './runnable.ts'

/** Wraps descriptions once, between words. Commands in backticks stay whole. */
export const HELP: HelpConfiguration = { boxWrap: wrapped }

function wrapped(text: string, columns: number): string {
  return runnable(text)
    .split('\n')
    .map((line) => fitted(line, /^ */.exec(line)?.[0].length ?? 0, columns))
    .join('\n')
}

/**
 * Returns the command that `help COMMAND` or `GROUP help COMMAND` is about; undefined if no help is asked this way. Commander
 * reads only one word after `help`, and shows another help for an unknown one. @throws UsageError for an unknown command.
 */
export function helpAsked(program: AnyCommand, args: readonly string[]): AnyCommand | undefined {
  const [first, second] = args
  const isGroup = program.commands.some((each) => each.name() === first && each.commands.length > 0)
  if (first !== 'help' && !(isGroup && second === 'help')) return undefined
  let command = program
  for (const word of args.filter((each) => each !== 'help' && !each.startsWith('-'))) {
    const names = command.commands.map((each) => each.name())
    const next = command.commands.find((each) => each.name() === word)
    if (!next) throw unknownCommand(word, names, 'see `tollgate --help`')
    command = next
  }
  return command
}

type HelpExample = readonly [command: string, about: string]

/** A command whose help can have examples. */
export class Command extends AnyCommand {
  override createCommand(name?: string): Command {
    return new Command(name)
  }

  /** Whether the command does something itself, besides its subcommands. */
  runs = false

  override action(run: Parameters<AnyCommand['action']>[0]): this {
    this.runs = true
    return super.action(run)
  }

  /** Adds examples to the help, each with an optional note. */
  examples(...lines: readonly HelpExample[]): this {
    return this.addHelpText('after', (context) => `\nExamples:\n${laidOut(lines, columnsOf(context))}`)
  }
}

function columnsOf({ error, command }: AddHelpTextContext): number {
  const output = command.configureOutput()
  // The width of commander for output that is no terminal.
  return (error ? output.getErrHelpWidth?.() : output.getOutHelpWidth?.()) ?? 80
}

/** Puts notes beside the commands if everything fits, otherwise above them. */
function laidOut(lines: readonly HelpExample[], columns: number): string {
  const made = lines.map(([command, about]): HelpExample => [runnable(command), about])
  const width = Math.max(...made.map(([command, about]) => (about === '' ? 0 : command.length)))
  const beside = made.map(([command, about]) =>
    about === '' ? `  ${command}` : `  ${command.padEnd(width)}   # ${about}`,
  )
  if (beside.every((line) => line.length <= columns)) return beside.join('\n')
  return made
    .flatMap(([command, about]) => [...(about === '' ? [] : [`  # ${about}`]), ...broken(command, columns)])
    .join('\n')
}

/** The command in lines that a shell takes as one. A quoted word stays whole. */
function broken(command: string, columns: number): readonly string[] {
  const lines: string[] = []
  let line = ' '
  for (const word of command.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []) {
    // Two characters are for the backslash.
    if (line.trim() !== '' && line.length + 1 + word.length + 2 > columns) {
      lines.push(`${line} \\`)
      line = '   '
    }
    line += ` ${word}`
  }
  return [...lines, line]
}
