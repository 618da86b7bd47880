// URLs, hosts and e-mail addresses: read where a mark gives them away, each in its one normal form.

import { defaultPort } from '../destinations/destination.ts'
import { readHost } from '../destinations/host.ts'
import { isQuad, lookOf } from '../destinations/name.ts'
import { isAlphanumeric, isForeign, isOneOf, lettersAnd } from './characters.ts'

/** A piece of the text, and the normal form of what it says. */
interface Piece {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** A URL, and its host once for each way in which it can be read. */
interface UrlReading {
  /** Without scheme, userinfo, `www.`, default port, trailing slash and fragment. */
  readonly url: Piece
  readonly hosts: readonly Piece[]
  /** Where other values can begin again: the path may hold some. */
  readonly next: number
}

/** How much of one address is read; the rest of a longer one does not count. */
export const MAX_ADDRESS: number = 2048
const MAX_AUTHORITY = 1024
const MAX_NAME = 253
const MAX_LOCAL = 64

/** The one spelling of a host: as destinations have it, without `www.`. */
export function hostText(host: string): string {
  const lower = host.toLowerCase()
  const bare = lower.endsWith('.') ? lower.slice(0, -1) : lower
  return bare.startsWith('www.') && bare.indexOf('.', 4) > 0 ? bare.slice(4) : bare
}

/** Every host that this text can be read as; the text itself where it cannot be read. */
export function hostsOf(host: string): readonly string[] {
  const names = readHost(host).filter((name) => name !== '')
  return (names.length > 0 ? names : [host.toWellFormed()]).map(hostText)
}

/**
 * The URL whose authority begins at `from`, or undefined if it names no host.
 *
 * It ends at the first character that could also be of the text around it: a space, a quotation mark, a comma, a closing
 * parenthesis without an opening one, anything beyond ASCII behind the host; and without the punctuation of a sentence.
 * So the same URL has the same end wherever it stands. One that is wrapped ends with its line.
 */
export function readUrlAt(text: string, start: number, scheme: string, from: number): UrlReading | undefined {
  const { host, port, at, end, path } = authorityAt(text, from)
  const names = hostsOf(host)
  const [first = ''] = names
  if (first === '') return undefined
  const stop = path < 0 ? end : pathEnd(text, path)
  const written = path < 0 ? '' : pathText(text.slice(path, stop))
  return {
    url: { text: `${first}${portText(scheme, port)}${written}`, start, end: Math.max(stop, end) },
    hosts: names.map((name) => ({ text: name, start: at, end: at + host.length })),
    next: path < 0 ? end : path,
  }
}

/** Where data would go: a host that is not empty, its port as it stands, and where a path may begin; -1 for none. */
interface Authority {
  readonly host: string
  readonly port: string
  readonly at: number
  readonly end: number
  readonly path: number
}

function authorityAt(text: string, from: number): Authority {
  let limit = from
  while (limit < from + MAX_AUTHORITY && isAuthorityCode(text.charCodeAt(limit))) limit++
  const at = text.slice(from, limit).lastIndexOf('@') + 1 + from
  const run = text.slice(at, limit)
  const own = ownPart(run)
  const [host, port] = hostAndPort(trimmed(own))
  const end = at + host.length + (port === '' ? 0 : port.length + 1)
  return {
    host,
    port,
    at,
    end,
    path: own.length === run.length && isPathCode(text.charCodeAt(limit)) ? limit : -1,
  }
}

/** In text without spaces a sentence may go on right behind the host: `evil.test` in `evil.test请看`. */
function ownPart(whole: string): string {
  // Signs that only the userinfo can have.
  const odd = whole.search(/[~!$&*=+']/)
  const run = odd < 0 ? whole : whole.slice(0, odd)
  const foreign = run.search(/[^\0-\x7f]/)
  if (foreign < 0 || lookOf(hostAndPort(trimmed(run))[0].slice(0, MAX_NAME)) !== 'none') return run
  return foreign === 0 ? run : run.slice(0, foreign)
}

function hostAndPort(run: string): readonly [host: string, port: string] {
  const colon = run.startsWith('[') ? run.indexOf(']:') + 1 : run.indexOf(':')
  if (colon <= 0) return [run, '']
  const digits = /^[0-9]{1,5}(?![0-9])/.exec(run.slice(colon + 1))?.[0] ?? ''
  return [run.slice(0, colon), digits]
}

/** The stated port, unless it goes without saying; a bare host may mean either of the two of the web. */
function portText(scheme: string, port: string): string {
  if (port === '') return ''
  const number = Number(port)
  const isDefault = scheme === '' ? number === 80 || number === 443 : number === defaultPort(scheme)
  return isDefault ? '' : `:${number}`
}

const AUTHORITY = lettersAnd(".-_~:@%+!$&*=[]'")
const PATH = lettersAnd('-._~:/?#@!$&*+=%')
const LOCAL = lettersAnd('.-_+%')
const NAME = lettersAnd('-.')

function isAuthorityCode(code: number): boolean {
  return isOneOf(AUTHORITY, code) || isForeign(code)
}

/** What begins a path, a query or a fragment. */
export function isPathCode(code: number): boolean {
  return code === 0x2f || code === 0x3f || code === 0x23
}

function pathEnd(text: string, start: number): number {
  let [end, open] = [start, 0]
  while (end < start + MAX_ADDRESS) {
    const code = text.charCodeAt(end)
    if (code === 0x28) open++
    else if (code === 0x29 && open-- === 0) break
    else if (code !== 0x29 && !isOneOf(PATH, code)) break
    end++
  }
  return start + trimmed(text.slice(start, end)).length
}

/** Without the punctuation of the sentence around it. */
function trimmed(run: string): string {
  let end = run.length
  while (end > 0 && ".:!?*_~'=&-(".includes(run.charAt(end - 1))) end--
  return run.slice(0, end)
}

/** Path and query: no fragment, no slash at the end of the path, no escapes that need not be any. */
function pathText(written: string): string {
  const [whole = ''] = written.split('#', 1)
  const query = (whole + '?').indexOf('?')
  const path = whole.slice(0, query)
  let end = path.length
  while (end > 0 && path.charAt(end - 1) === '/') end--
  return unescaped(path.slice(0, end) + (query < whole.length - 1 ? whole.slice(query) : ''))
}

/** `%7E` as `~`, `%2f` as `%2F` (RFC 3986, 6.2.2). */
function unescaped(text: string): string {
  if (!text.includes('%')) return text
  return text.replace(/%[0-9A-Fa-f]{2}/g, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return /[A-Za-z0-9._~-]/.test(character) ? character : escape.toUpperCase()
  })
}

/**
 * Whether a dotted word of a text is a host: an address of four numbers, or a name with a top-level label we know. One
 * that also ends file names needs a path, and one that is also a word of programs no parenthesis behind it.
 */
export function isHost(name: string, next: number, second: number): boolean {
  if (name.length > MAX_NAME) return false
  if (isQuad(name)) return readHost(name).some((host) => host !== '')
  switch (lookOf(name)) {
    case 'host':
      return true
    case 'code':
      return next !== 0x28
    case 'file':
      return next === 0x2f && isAlphanumeric(second)
    case 'none':
      return false
  }
}

/** Where the run of letters beyond ASCII, letters, digits, dots and dashes that begins here ends. */
export function nameEnd(text: string, start: number): number {
  let end = start
  while (isNameCode(text.charCodeAt(end))) end++
  return end
}

function isNameCode(code: number): boolean {
  return isOneOf(NAME, code) || isForeign(code)
}

/**
 * The e-mail address around this `@`, in lower case, or undefined. Its local part does not begin before `floor`.
 *
 * The domain is no value of its own: half of the world has the same one.
 */
export function readMailAt(text: string, sign: number, floor: number): Piece | undefined {
  const start = localStart(text, sign, floor)
  if (start === sign) return undefined
  const run = text.slice(sign + 1, Math.min(nameEnd(text, sign + 1), sign + 2 + MAX_NAME))
  const domain = trimmed(ownPart(run))
  if (!isMailDomain(domain)) return undefined
  const local = text.slice(start, sign).toLowerCase().toWellFormed()
  const [host = ''] = readHost(domain)
  return {
    text: `${local}@${host === '' ? domain.toLowerCase().toWellFormed() : host}`,
    start,
    end: sign + 1 + domain.length,
  }
}

/** Where the local part begins: of ASCII, so that no sentence runs into it; only if there is none of that, of others. */
function localStart(text: string, sign: number, floor: number): number {
  const least = Math.max(floor, sign - MAX_LOCAL)
  let start = sign
  while (start > least && isOneOf(LOCAL, text.charCodeAt(start - 1))) start--
  while (start < sign && !isAlphanumeric(text.charCodeAt(start))) start++
  if (start < sign) return start
  while (start > least && isForeign(text.charCodeAt(start - 1))) start--
  return start
}

/** `example.com`, not `18.2.0` of `react@18.2.0`. */
function isMailDomain(domain: string): boolean {
  const dot = domain.lastIndexOf('.')
  if (dot <= 0 || domain.length > MAX_NAME) return false
  return /^(?:[A-Za-z]{2,}|xn--[A-Za-z0-9-]+)$/.test(domain.slice(dot + 1)) || lookOf(domain) !== 'none'
}
