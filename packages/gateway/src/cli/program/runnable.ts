// Makes the commands in a printed text work in the user's shell as they are: with the word that starts this installation, and with
// the data directory or the address that the user named.

import process from 'node:process'
import { commandWord, shellWord } from './launcher.ts'

// The names are listed here and not taken from the declarations: `tollgate policy` has to start fast and declares only itself. A
// test compares both.

/** Commands without subcommands. */
export const SINGLE: readonly string[] = [
  ...[
    'backup',
    'browser',
    'demo',
    'doctor',
    'export',
    'freeze',
    'fsck',
    'help',
    'init',
    'join',
    'login',
    'logout',
  ],
  ...['migrate', 'self-install', 'serve', 'status', 'unfreeze', 'up', 'verify', 'whoami'],
]

/** Commands with subcommands. */
export const GROUPS: readonly string[] = [
  ...[
    'approvals',
    'delegations',
    'keys',
    'mcp',
    'pack',
    'policy',
    'receipts',
    'scope',
    'sentinel',
    'sessions',
    'setup',
  ],
  ...['threat', 'tokens', 'trust'],
]

/** Commands that take no data directory. */
export const WITHOUT_DATA: readonly string[] = [
  ...['demo', 'help', 'mcp scan', 'pack find', 'pack list', 'pack show', 'policy schema', 'scope propose'],
  ...['self-install', 'sentinel scan', 'threat scan', 'verify'],
]

/** Commands that take a data directory and no address. `mcp` alone is the wrapper. */
export const ONLY_DATA: readonly string[] = [
  ...[
    'backup',
    'browser',
    'delegations key',
    'doctor',
    'fsck',
    'init',
    'join',
    'keys list',
    'keys rotate',
    'keys seal',
  ],
  ...[
    'keys trust',
    'mcp',
    'migrate',
    'policy check',
    'policy fmt',
    'policy learn',
    'policy replay',
    'policy test',
  ],
  ...['policy trace', 'serve', 'setup browser', 'setup mcp', 'up'],
]

/** The way to a gateway that the user named on the command line. */
export interface NamedGateway {
  readonly data?: string
  readonly url?: string
  readonly ca?: string
}

// A command in a sentence or at the start of a line: the name, and the one or two words of the command, or an option.
const PRINTED =
  /(?<=^|[\n`(]|: |[|&] | {2})(?:npx )?tollgate (?:(--?[a-z]+)|([a-z][a-z-]*)(?: ([a-z][a-z-]*|--(?=[ `])))?)(?![a-z])/g

/** A text in which each command of ours can be pasted into the user's shell as it is. Prose and other programs stay unchanged. */
export function runnable(
  text: string,
  word: () => string = cachedWord,
  gateway: NamedGateway = named,
): string {
  if (!text.includes('tollgate ')) return text
  let done = 0
  let made = ''
  for (const found of text.matchAll(PRINTED)) {
    const end = found.index + found[0].length
    made += text.slice(done, found.index) + replaced(found, text.slice(end), word, gateway)
    done = end
  }
  return made + text.slice(done)
}

function replaced(
  [found, option, first = '', second = '']: RegExpMatchArray,
  rest: string,
  word: () => string,
  gateway: NamedGateway,
): string {
  if (option !== undefined) return `${word()} ${option}`
  if (!SINGLE.includes(first) && !GROUPS.includes(first)) return found
  return [word(), ...withGateway(first, second, rest, gateway)].join(' ')
}

/** Returns the words of a command with the named gateway, if the command takes that option and the text does not have one. */
function withGateway(first: string, second: string, rest: string, gateway: NamedGateway): readonly string[] {
  const isGroup = GROUPS.includes(first)
  const words = isGroup && second !== '--' && second !== '' ? [first, second] : [first]
  const others = second === '' || words.length === 2 ? [] : [second]
  // The name of a group alone is no command.
  if (isGroup && second === '') return [...words, ...others]
  const [line = ''] = rest.split(/[`\n]/, 1)
  return [...words, ...optionsFor(words.join(' '), line, gateway), ...others]
}

function optionsFor(name: string, line: string, { data, url, ca }: NamedGateway): readonly string[] {
  if (WITHOUT_DATA.includes(name)) return []
  // A command that names its data directory or its address keeps that one.
  const isNamed = /(?:^| )--(?:data|url)\b/.test(line)
  const place = isNamed ? [] : option('--data', data)
  if (ONLY_DATA.includes(name)) return place
  return [...place, ...(isNamed ? [] : option('--url', url)), ...option('--ca', ca)]
}

function option(flag: string, value: string | undefined): readonly string[] {
  return value === undefined ? [] : [flag, shellWord(value)]
}

let named: NamedGateway = {}

/** Sets the gateway that the user named on the command line. Printed commands repeat it. */
export function repeatGateway(gateway: NamedGateway): void {
  named = gateway
}

let known: { readonly of: string; readonly word: string } | undefined

function cachedWord(): string {
  const { PATH: path = '', HOME: home = '' } = process.env
  const of = `${path}\n${home}`
  if (known?.of !== of) known = { of, word: commandWord() }
  return known.word
}
