// Recognises URLs, hostnames and e-mail addresses, and returns each in one normal form.

import { defaultPort } from '../destinations/destination.ts'
import { readHost } from '../destinations/host.ts'
import { isQuad, lookOf } from '../destinations/name.ts'
import { isAlphanumeric, isForeign, isOneOf, lettersAnd } from './characters.ts'

/** A range of the text and the normal form of its value. */
interface Piece {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** A URL, and its hostname in each possible interpretation. */
interface UrlReading {
  /** Without scheme, userinfo, `www.`, default port, trailing slash and fragment. */
  readonly url: Piece
  readonly hosts: readonly Piece[]
  /** The position at which the search continues. The path can contain other values. */
  readonly next: number
}

/** The maximum length of an address. The rest of a longer one is ignored. */
export const MAX_ADDRESS: number = 2048
const MAX_AUTHORITY = 1024
const MAX_NAME = 253
const MAX_LOCAL = 64

/** Returns the normal form of a hostname, as in destinations but without `www.`. */
export function hostText(host: string): string {
  const lower = host.toLowerCase()
  const bare = lower.endsWith('.') ? lower.slice(0, -1) : lower
  return bare.startsWith('www.') && bare.indexOf('.', 4) > 0 ? bare.slice(4) : bare
}

/** Returns every possible interpretation of a hostname; the text itself if there is none. */
export function hostsOf(host: string): readonly string[] {
  const names = readHost(host).filter((name) => name !== '')
  return (names.length > 0 ? names : [host.toWellFormed()]).map(hostText)
}

/**
 * Returns the URL whose authority begins at `from`, or undefined if it has no host. The URL ends at the first character that can
 * belong to the text around it: a space, a quotation mark, a comma, an unmatched closing parenthesis, or a non-ASCII character
 * after the host. Punctuation at its end is removed. So the same URL has the same end in any text. A wrapped URL ends with its
 * line.
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

/** The host, its port as written, and the position of the path; -1 if there is none. */
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

/** Without spaces, a sentence can continue directly after the host: `evil.test` in `evil.test请看`. */
function ownPart(whole: string): string {
  // These signs only occur in the userinfo.
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

/** Returns the port, unless it is the default. A bare host can use either default port of the web. */
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

/** Returns whether a character begins a path, a query or a fragment. */
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

/** Removes punctuation of the sentence. */
function trimmed(run: string): string {
  let end = run.length
  while (end > 0 && ".:!?*_~'=&-(".includes(run.charAt(end - 1))) end--
  return run.slice(0, end)
}

/** Returns path and query without fragment, trailing slashes and unnecessary escapes. */
function pathText(written: string): string {
  const [whole = ''] = written.split('#', 1)
  const query = (whole + '?').indexOf('?')
  const path = whole.slice(0, query)
  let end = path.length
  while (end > 0 && path.charAt(end - 1) === '/') end--
  return unescaped(path.slice(0, end) + (query < whole.length - 1 ? whole.slice(query) : ''))
}

/** Decodes `%7E` to `~` and changes `%2f` to `%2F` (RFC 3986, 6.2.2). */
function unescaped(text: string): string {
  if (!text.includes('%')) return text
  return text.replace(/%[0-9A-Fa-f]{2}/g, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return /[A-Za-z0-9._~-]/.test(character) ? character : escape.toUpperCase()
  })
}

/**
 * Returns whether a dotted word is a host: an IPv4 address, or a name with a known top-level domain. A domain that is also a file
 * extension needs a path. One that is also common in code must not be followed by a parenthesis.
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

/** Returns the end of the run of letters, digits, dots, dashes and non-ASCII letters. */
export function nameEnd(text: string, start: number): number {
  let end = start
  while (isNameCode(text.charCodeAt(end))) end++
  return end
}

function isNameCode(code: number): boolean {
  return isOneOf(NAME, code) || isForeign(code)
}

/**
 * Returns the e-mail address around this `@`, in lower case, or undefined. Its local part does not begin before `floor`. The
 * domain is not a separate value, because many addresses share it.
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

/**
 * Returns the start of the local part. It is ASCII, so that a sentence cannot run into it. Other letters are used only without
 * ASCII ones.
 */
function localStart(text: string, sign: number, floor: number): number {
  const least = Math.max(floor, sign - MAX_LOCAL)
  let start = sign
  while (start > least && isOneOf(LOCAL, text.charCodeAt(start - 1))) start--
  while (start < sign && !isAlphanumeric(text.charCodeAt(start))) start++
  if (start < sign) return start
  while (start > least && isForeign(text.charCodeAt(start - 1))) start--
  return start
}

/** Accepts `example.com`, but not `18.2.0` of `react@18.2.0`. */
function isMailDomain(domain: string): boolean {
  const dot = domain.lastIndexOf('.')
  if (dot <= 0 || domain.length > MAX_NAME) return false
  return /^(?:[A-Za-z]{2,}|xn--[A-Za-z0-9-]+)$/.test(domain.slice(dot + 1)) || lookOf(domain) !== 'none'
}
