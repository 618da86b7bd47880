// What commands have in common when they are declared: their options, their examples, and how wrong use is told.

import { Option, InvalidArgumentError, type Command } from 'commander'

/** A command on a data directory. */
export function local(parent: Command, name: string): Command {
  return parent
    .command(name)
    .addOption(new Option('--data <dir>', 'the data directory').env('TOLLGATE_DATA'))
    .option('--json', 'print JSON')
}

/** A command that asks a gateway: over HTTP if there is a URL or a token, else on the data directory itself. */
export function remote(parent: Command, name: string): Command {
  return local(parent, name)
    .addOption(new Option('--url <url>', 'the gateway to ask; needs a token').env('TOLLGATE_URL'))
    .option('--token-file <file>', 'a file that holds the token; else TOLLGATE_TOKEN')
}

/** A command that lists receipts. */
export function filtered(command: Command): Command {
  return command
    .option('--kind <kind>', 'only this kind, such as decision or approval')
    .option('--principal <name>', 'only what this principal caused')
    .option('--tool <name>', 'only calls to this tool')
    .addOption(
      new Option('--verdict <verdict>', 'only decisions with this verdict').choices([
        'ALLOW',
        'DENY',
        'ESCALATE',
      ]),
    )
    .option('--session <id>', 'only this session')
    .option('--decision <id>', 'only this decision and what followed from it')
}

/** The option `--port`. */
export function port(about: string): Option {
  return whole('--port <n>', about, 0, 65_535)
}

/** An option that takes a whole number. */
export function whole(flags: string, about: string, least: number, most: number): Option {
  return new Option(flags, about).argParser((text) => {
    const value = /^[0-9]{1,16}$/.test(text) ? Number(text) : NaN
    if (value >= least && value <= most) return value
    throw new InvalidArgumentError(`write a whole number from ${least}${most < 1e9 ? ` to ${most}` : ''}`)
  })
}

/** Takes an option that may be given again. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** What `addHelpText` takes for the examples at the end of a command's help, each with a word on it or none. */
export function examples(
  ...lines: readonly (readonly [command: string, about: string])[]
): [place: 'after', text: string] {
  const width = Math.max(...lines.map(([command, about]) => (about === '' ? 0 : command.length)))
  const shown = lines.map(([command, about]) =>
    about === '' ? `  ${command}` : `  ${command.padEnd(width)}   # ${about}`,
  )
  return ['after', `\nExamples:\n${shown.join('\n')}`]
}

/** What commander complains about, in our voice. */
export function complaint(text: string): string {
  const [first = '', ...rest] = text.trim().split('\n')
  const sentence = first
    .replace(/^error: /, '')
    .replace(/\.$/, '')
    .replace('. ', '; ')
    .replace(/'([^']*)'/g, '`$1`')
  const hints = rest
    .map((line) => line.replace(/^\(Did you mean (.*)\?\)$/, 'did you mean `$1`?'))
    .filter((line) => line !== '')
  const all = hints.length > 0 ? hints : ['`tollgate --help` and `tollgate help COMMAND` say what there is']
  return `tollgate: error: ${sentence}\n${all.map((hint) => `tollgate: → ${hint}\n`).join('')}`
}
