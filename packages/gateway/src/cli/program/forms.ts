// Shared parts of command declarations: options, examples, and errors of wrong usage.

import { nearest } from '../../tools/near.ts'
import { shown } from './table.ts'
import { UsageError } from './terminal.ts'
import { Option, InvalidArgumentError, type CommandOptions } from 'commander'
import type { Command } from './help.ts'

/** Declares a command that uses a data directory. */
export function local(parent: Command, name: string, options: CommandOptions = {}): Command {
  return parent
    .command(name, options)
    .addOption(new Option('--data <dir>', 'the data directory').env('TOLLGATE_DATA'))
    .option('--json', 'print JSON')
}

/** Declares a command that uses a gateway: over HTTP with a URL or a token, otherwise on the data directory. */
export function remote(parent: Command, name: string, options: CommandOptions = {}): Command {
  return local(parent, name, options)
    .addOption(new Option('--url <url>', 'the address of the gateway; needs a token').env('TOLLGATE_URL'))
    .addOption(
      new Option(
        '--ca <file>',
        'trust only the authorities in this PEM file, for the TLS of the gateway',
      ).env('TOLLGATE_CA'),
    )
    .option(
      '--token-file <file>',
      'for programs: a file with the token; without it, the token in TOLLGATE_TOKEN',
    )
}

/** The kinds of receipts. They are listed here because loading their definitions takes longer than most commands; a test compares. */
export const KIND_NAMES: readonly string[] = [
  ...['genesis', 'decision', 'effect', 'approval', 'freeze', 'policy', 'key', 'pin', 'token', 'delegation'],
  ...['session', 'observe', 'recovery', 'quota', 'blocked'],
]

/** Adds the filter options of commands that list receipts. */
export function filtered(command: Command): Command {
  return command
    .addOption(new Option('--kind <kind>', 'only this kind').choices(KIND_NAMES))
    .option('--principal <name>', 'only receipts of this principal')
    .option('--tool <name>', 'only calls to this tool')
    .addOption(
      new Option('--verdict <verdict>', 'only decisions with this verdict').choices([
        'ALLOW',
        'DENY',
        'ESCALATE',
      ]),
    )
    .option('--session <id>', 'only this session')
    .option('--decision <id>', 'only this decision and its effect and approvals')
}

/** Adds the options that limit receipts to a period. */
export function dated(command: Command): Command {
  return command
    .option('--since <time>', 'only receipts since this time or date, or in this period, such as 2h or 7d')
    .option('--until <time>', 'only receipts before this time; a date includes that day')
}

/** Returns the option `--port`. */
export function port(about: string): Option {
  return whole('--port <n>', about, 0, 65_535)
}

/** Returns an option that takes a whole number. */
export function whole(flags: string, about: string, least: number, most: number): Option {
  return new Option(flags, about).argParser((text) => {
    const value = /^[0-9]{1,16}$/.test(text) ? Number(text) : NaN
    if (value >= least && value <= most) return value
    throw new InvalidArgumentError(`expected a whole number from ${least}${most < 1e9 ? ` to ${most}` : ''}`)
  })
}

/** Collects the values of a repeatable option. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** Returns a hint if a name looks like one of these. */
export function nearHint(name: string, names: readonly string[]): readonly string[] {
  const near = nearest(name, names)
  return near === undefined ? [] : [`did you mean \`${shown(near)}\`?`]
}

/** Returns the error for a word that is no command. `otherwise` is the hint if no command looks like it. */
export function unknownCommand(word: string, names: readonly string[], otherwise: string): UsageError {
  const [hint = otherwise] = nearHint(word, names)
  return new UsageError(`unknown command \`${word.slice(0, 80)}\``, hint)
}

// A wrong value of an option with choices, as commander says it.
const CHOICE =
  /^error: option '(?:-\w, )?(--[\w-]+)[^']*' argument '([^]*)' is invalid\. Allowed choices are (.*)\.$/

const MISSING = /^error: required option '(?:-\w, )?(--[\w-]+)[^']*' not specified$/

/** Formats an error of commander in the style of our own errors. `words` is what the user typed. */
export function complaint(text: string, words: readonly string[]): string {
  const [, missing = ''] = MISSING.exec(text.trim()) ?? []
  const misspelt = words.find(
    (word) => missing !== '' && word !== missing && nearest(word, [missing]) !== undefined,
  )
  if (misspelt !== undefined) {
    return errorText(`unknown option \`${shown(misspelt)}\``, nearHint(misspelt, [missing]))
  }
  const [, option, value = '', choices = ''] = CHOICE.exec(text.trim()) ?? []
  if (option === undefined) return errorText(...spoken(text))
  const hints = [...nearHint(value, choices.split(', ')), `use one of ${choices}`]
  return errorText(`\`${shown(value.slice(0, 80))}\` is not a value of \`${option}\``, hints)
}

function errorText(sentence: string, hints: readonly string[]): string {
  return `tollgate: error: ${sentence}\n${hints.map((hint) => `tollgate: → ${hint}\n`).join('')}`
}

function spoken(text: string): readonly [sentence: string, hints: readonly string[]] {
  const [first = '', ...rest] = text.trim().split('\n')
  const sentence = first
    .replace(/^error: /, '')
    .replace(/\.$/, '')
    .replace('. ', '; ')
    .replace(/'([^']*)'/g, '`$1`')
  const hints = rest
    .map((line) => line.replace(/^\(Did you mean (.*)\?\)$/, 'did you mean `$1`?'))
    .filter((line) => line !== '')
  return [sentence, hints.length > 0 ? hints : ['see `tollgate --help` or `tollgate help COMMAND`']]
}
