// Makes the commands in a printed text work in the user's shell as they are: with the word that starts this installation, and with
// the data directory that the user named.

import process from 'node:process'
import { commandWord, shellWord } from './launcher.ts'

// The names are listed here and not taken from the declarations: `tollgate policy` has to start fast and declares only itself. A
// test compares both.

/** Commands without subcommands. */
export const SINGLE: readonly string[] = [
  ...['backup', 'demo', 'doctor', 'export', 'freeze', 'fsck', 'help', 'init', 'login', 'logout'],
  ...['self-install', 'serve', 'status', 'unfreeze', 'up', 'verify', 'whoami'],
]

/** Commands with subcommands. */
export const GROUPS: readonly string[] = [
  ...['approvals', 'delegations', 'keys', 'mcp', 'pack', 'policy', 'receipts', 'scope', 'sessions', 'setup'],
  ...['threat', 'tokens', 'trust'],
]

/** Commands that take no data directory. */
export const WITHOUT_DATA: readonly string[] = [
  ...['demo', 'help', 'mcp scan', 'pack find', 'pack list', 'pack show', 'policy schema', 'scope propose'],
  ...['self-install', 'threat scan', 'verify'],
]

// A command in a sentence or at the start of a line: the name, and the one or two words of the command, or an option.
const PRINTED =
  /(?<=^|[\n`(]|: |[|&] | {2})(?:npx )?tollgate (?:(--?[a-z]+)|([a-z][a-z-]*)(?: ([a-z][a-z-]*|--(?=[ `])))?)(?![a-z])/g

/** A text in which each command of ours can be pasted into the user's shell as it is. Prose and other programs stay unchanged. */
export function runnable(
  text: string,
  word: () => string = cachedWord,
  data: string | undefined = named,
): string {
  if (!text.includes('tollgate ')) return text
  let done = 0
  let made = ''
  for (const found of text.matchAll(PRINTED)) {
    const end = found.index + found[0].length
    made += text.slice(done, found.index) + replaced(found, text.slice(end), word, data)
    done = end
  }
  return made + text.slice(done)
}

function replaced(
  [found, option, first = '', second = '']: RegExpMatchArray,
  rest: string,
  word: () => string,
  data: string | undefined,
): string {
  if (option !== undefined) return `${word()} ${option}`
  if (!SINGLE.includes(first) && !GROUPS.includes(first)) return found
  return [word(), ...withData(first, second, rest, data)].join(' ')
}

/** Returns the words of a command with the data directory, if the command takes one and does not name one. */
function withData(first: string, second: string, rest: string, data: string | undefined): readonly string[] {
  const isGroup = GROUPS.includes(first)
  const words = isGroup && second !== '--' && second !== '' ? [first, second] : [first]
  const others = second === '' || words.length === 2 ? [] : [second]
  const all = [...words, ...others]
  if (data === undefined || WITHOUT_DATA.includes(words.join(' '))) return all
  // The name of a group alone is no command.
  if (isGroup && second === '') return all
  const [line = ''] = rest.split(/[`\n]/, 1)
  // A command that names its data directory or its gateway is complete.
  if (/(?:^| )--(?:data|url)\b/.test(line)) return all
  return [...words, '--data', shellWord(data), ...others]
}

let named: string | undefined

/** Sets the data directory that the user named on the command line; undefined if there is none. Printed commands repeat it. */
export function repeatData(data: string | undefined): void {
  named = data
}

let known: { readonly of: string; readonly word: string } | undefined

function cachedWord(): string {
  const { PATH: path = '', HOME: home = '' } = process.env
  const of = `${path}\n${home}`
  if (known?.of !== of) known = { of, word: commandWord() }
  return known.word
}
