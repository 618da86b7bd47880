// Describes the origin of a server in a short text without secrets, so that a different program under the same name is
// detected.

import { sha256Hex } from '@tollgate/evidence'
import { launchersOf, type Launcher } from './launchers.ts'

/** How a server is reached. */
type Address =
  | {
      readonly transport: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      /** The working directory: relative file names depend on it. */
      readonly cwd?: string
    }
  | { readonly transport: 'http'; readonly url: string }

/** The maximum length of an origin. Longer ones are replaced by a hash. */
const MAX_ORIGIN_LENGTH = 300

/**
 * The origin of a server: `npx @modelcontextprotocol/server-filesystem`, `node /x/server.js`, `https://tracker.example/mcp`.
 *
 * For a known launcher it states what is run, without the version. For other programs, and for unknown options, it is the
 * program name and a hash of the whole command line, because arguments may contain secrets.
 */
export function originOf(address: Address): string {
  const origin = address.transport === 'http' ? ofUrl(address.url) : ofLauncher(address)
  if (origin !== undefined && origin.length <= MAX_ORIGIN_LENGTH) return origin
  return address.transport === 'http' ? hashOf(origin ?? address.url) : ofCommand(address)
}

function hashOf(text: string): string {
  return `sha256:${sha256Hex(text).slice(0, 16)}`
}

function ofCommand({ command, args, cwd }: Address & { readonly transport: 'stdio' }): string {
  const program = isRelative(command) ? resolved(command, cwd) : command
  return `${quoted(baseName(command).slice(0, 60).toWellFormed())} ${hashOf(JSON.stringify([program, ...args]))}`
}

/** Whether a program is given by a relative path. A name without a path is found by the system. */
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

/** The words that determine what is run; undefined if that is uncertain. */
function readWords(
  launcher: Launcher,
  args: readonly string[],
  cwd: string | undefined,
): readonly string[] | undefined {
  const verbs = [...launcher.verbs]
  const words: string[] = []
  for (let i = 0; i < args.length; i++) {
    const word = args[i] ?? ''
    const isEnd = word === '--' && verbs.length === 0
    const subject = isEnd ? args[i + 1] : word.startsWith('-') ? undefined : word
    if (subject !== undefined) {
      if (verbs.length === 0) return withSubject(launcher, words, subject, cwd)
      if (verbs.shift() !== subject) return undefined
      continue
    }
    const option = readOption(launcher, word, args[i + 1])
    if (!option) return undefined
    i += option.taken
    if (option.value === undefined) continue
    const value = plain(option.value.startsWith('.') ? resolved(option.value, cwd) : option.value)
    if (value === undefined) return undefined
    words.push(option.name, value)
    if (launcher.last.includes(option.name)) return verbs.length === 0 ? words : undefined
  }
  return undefined
}

interface Option {
  readonly name: string
  /** Its value, if it affects what is run. */
  readonly value: string | undefined
  /** The number of following words that belong to it. */
  readonly taken: number
}

/** A known option. Undefined for any other, which could take a value or change what is run. */
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
  options: readonly string[],
  subject: string,
  cwd: string | undefined,
): readonly string[] | undefined {
  if (subject === '' || subject === '-') return undefined
  const isFile = runsFiles ? !hasScheme(subject) : isFileName(subject)
  // An option may have changed the working directory.
  const isHere = !ELSEWHERE.some((option) => options.includes(option))
  const word = isFile ? (isHere ? resolved(subject, cwd) : subject) : plain(subject)
  return word === undefined ? undefined : [...options, word]
}

function isFileName(word: string): boolean {
  return /^[.~/\\]/.test(word) || (!hasScheme(word) && /\.(?:[cm]?[jt]sx?|py)$/.test(word))
}

function hasScheme(word: string): boolean {
  return /^[a-z][a-z0-9+.-]+:/i.test(word)
}

/** The absolute path, if the working directory is known. */
function resolved(path: string, cwd: string | undefined): string {
  if (cwd === undefined || isAbsolute(path)) return path
  const parts: string[] = []
  for (const part of `${cwd}/${path}`.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return `${cwd.startsWith('/') ? '/' : ''}${parts.join('/')}`
}

/** A package or URL without its version and without possible passwords; undefined if that is uncertain. */
function plain(spec: string): string | undefined {
  if (spec.includes('://')) return ofUrl(spec)
  // Removes only what must be a version: `a@npm:b` is not `a`.
  return spec
    .replace(/(?<=.)@[\w.^~<>=*+-]{1,60}$/, '')
    .replace(/(?:[=<>~!]=|[<>])[\w.*+!,<>=~ -]{1,60}$/, '')
}

/** A URL without user, query and fragment; undefined if it is not a URL. */
function ofUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, host, pathname } = new URL(text)
  if (host === '' && protocol !== 'file:') return undefined
  return `${protocol}//${host}${pathname.split('/').map(withoutKey).join('/')}`
}

/** Some services put a key into the path: a long word with letters and digits is replaced by its hash. */
function withoutKey(part: string): string {
  const isKey = /^[\w.~%=-]{20,}$/.test(part) && /[0-9]/.test(part) && /[a-z]/i.test(part)
  return isKey ? hashOf(part) : part
}

/** Quotes a word with spaces or special characters. */
function quoted(word: string): string {
  return /^[^\s"'\p{C}]+$/u.test(word) ? word : JSON.stringify(word.toWellFormed())
}
