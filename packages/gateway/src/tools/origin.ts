// Where the server behind a name comes from, in few words that hold no secret: so that another program which goes by the same name
// is told from the one that a person approved.

import { sha256Hex } from '@tollgate/evidence'
import { launchersOf, type Launcher } from './launchers.ts'

/** How a server is reached, as far as it says who the server is. */
type Address =
  | {
      readonly transport: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      /** Where it runs: a file that is named from there is another one elsewhere. */
      readonly cwd?: string
    }
  | { readonly transport: 'http'; readonly url: string }

/** Longest origin; what is longer is told by its hash. */
const LONGEST = 300

/**
 * The origin of a server: `npx @modelcontextprotocol/server-filesystem`, `node /x/server.js`, `https://tracker.example/mcp`.
 *
 * Of a program that runs others it tells what that one runs, without its version. Of anything else, and wherever an option is not
 * known that could say what is run, the name of the program and a hash of the whole command line: arguments may hold secrets.
 */
export function originOf(address: Address): string {
  const told = address.transport === 'http' ? ofUrl(address.url) : ofLauncher(address)
  if (told !== undefined && told.length <= LONGEST) return told
  return address.transport === 'http' ? hashOf(told ?? address.url) : ofCommand(address)
}

function hashOf(text: string): string {
  return `sha256:${sha256Hex(text).slice(0, 16)}`
}

function ofCommand({ command, args, cwd }: Address & { readonly transport: 'stdio' }): string {
  const program = isRelative(command) ? resolved(command, cwd) : command
  return `${quoted(baseName(command).slice(0, 60).toWellFormed())} ${hashOf(JSON.stringify([program, ...args]))}`
}

/** A program that is named by a path from where it runs. One without a path is found by the system. */
function isRelative(command: string): boolean {
  return /[/\\]/.test(command) && !isAbsolute(command)
}

function isAbsolute(path: string): boolean {
  return /^(?:[/\\~]|[a-zA-Z]:[/\\])/.test(path)
}

function baseName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
}

function ofLauncher({ command, args, cwd }: Address & { readonly transport: 'stdio' }): string | undefined {
  const program = baseName(command)
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat|ps1)$/, '')
  for (const launcher of launchersOf(program)) {
    const read = readWords(launcher, args, cwd)
    if (read) return [program, ...launcher.verbs, ...read].map(quoted).join(' ')
  }
  return undefined
}

/** The words that say what is run; undefined if that cannot be told for certain. */
function readWords(
  launcher: Launcher,
  args: readonly string[],
  cwd: string | undefined,
): readonly string[] | undefined {
  const verbs = [...launcher.verbs]
  const told: string[] = []
  for (let i = 0; i < args.length; i++) {
    const word = args[i] ?? ''
    const isEnd = word === '--' && verbs.length === 0
    const subject = isEnd ? args[i + 1] : word.startsWith('-') ? undefined : word
    if (subject !== undefined) {
      if (verbs.length === 0) return withSubject(launcher, told, subject, cwd)
      if (verbs.shift() !== subject) return undefined
      continue
    }
    const option = readOption(launcher, word, args[i + 1])
    if (!option) return undefined
    i += option.taken
    if (option.value === undefined) continue
    const value = plain(option.value.startsWith('.') ? resolved(option.value, cwd) : option.value)
    if (value === undefined) return undefined
    told.push(option.name, value)
    if (launcher.last.includes(option.name)) return verbs.length === 0 ? told : undefined
  }
  return undefined
}

interface Option {
  readonly name: string
  /** What it says of what is run. */
  readonly value: string | undefined
  /** Words after it that belong to it. */
  readonly taken: number
}

/** An option that is known; any other could be followed by a value, or say what is run. */
function readOption(launcher: Launcher, word: string, next: string | undefined): Option | undefined {
  const at = word.startsWith('--') ? word.indexOf('=') : -1
  const [name, joined] = at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)]
  const taken = joined === undefined ? 1 : 0
  if (launcher.telling.includes(name)) {
    const value = joined ?? next
    return value === undefined ? undefined : { name, value, taken }
  }
  if (launcher.skipped.includes(name)) return { name, value: undefined, taken }
  return launcher.flags.test(name) ? { name, value: undefined, taken: 0 } : undefined
}

const ELSEWHERE = ['--directory', '--cwd', '--prefix', '--dir']

function withSubject(
  { runsFiles }: Launcher,
  told: readonly string[],
  subject: string,
  cwd: string | undefined,
): readonly string[] | undefined {
  if (subject === '' || subject === '-') return undefined
  const isFile = runsFiles ? !hasScheme(subject) : isFileName(subject)
  // An option may have said to run elsewhere.
  const isHere = !ELSEWHERE.some((option) => told.includes(option))
  const word = isFile ? (isHere ? resolved(subject, cwd) : subject) : plain(subject)
  return word === undefined ? undefined : [...told, word]
}

function isFileName(word: string): boolean {
  return /^[.~/\\]/.test(word) || (!hasScheme(word) && /\.(?:[cm]?[jt]sx?|py)$/.test(word))
}

function hasScheme(word: string): boolean {
  return /^[a-z][a-z0-9+.-]+:/i.test(word)
}

/** A path from the root, if it is known from where it goes. */
function resolved(path: string, cwd: string | undefined): string {
  if (cwd === undefined || isAbsolute(path)) return path
  const parts: string[] = []
  for (const part of `${cwd}/${path}`.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return `${cwd.startsWith('/') ? '/' : ''}${parts.join('/')}`
}

/** What is fetched, without its version and without what could be a password; undefined if that cannot be told apart. */
function plain(spec: string): string | undefined {
  if (spec.includes('://')) return ofUrl(spec)
  // Only what can be nothing but a version: `a@npm:b` is not `a`.
  return spec
    .replace(/(?<=.)@[\w.^~<>=*+-]{1,60}$/, '')
    .replace(/(?:[=<>~!]=|[<>])[\w.*+!,<>=~ -]{1,60}$/, '')
}

/** An address without user, query and fragment; undefined if it is none. */
function ofUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, host, pathname } = new URL(text)
  if (host === '' && protocol !== 'file:') return undefined
  return `${protocol}//${host}${pathname.split('/').map(withoutKey).join('/')}`
}

/** Some services put the key into the path: a long word of letters and digits is told by its hash. */
function withoutKey(part: string): string {
  const isKey = /^[\w.~%=-]{20,}$/.test(part) && /[0-9]/.test(part) && /[a-z]/i.test(part)
  return isKey ? hashOf(part) : part
}

/** A word that could be taken for several is put in quotes. */
function quoted(word: string): string {
  return /^[^\s"'\p{C}]+$/u.test(word) ? word : JSON.stringify(word.toWellFormed())
}
