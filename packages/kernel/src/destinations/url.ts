// Reads a URL as every parser at once: what they agree on is one target, what they differ on is all of them.

import { defaultPort, unreadable, type Target } from './destination.ts'
import { readHost } from './host.ts'
import { lookOf } from './name.ts'

/** What can stand between a scheme and its authority, for a parser that takes `\` as `/`. */
export interface UrlStart {
  readonly scheme: string
  /** The slashes after the colon, as they stand; for a network path (`//host`, `\\host`), those at its start. */
  readonly slashes: string
}

/** An absolute http or https URL's origin. */
export interface HttpUrl {
  readonly scheme: 'http' | 'https'
  readonly host: string
  readonly port: number
}

// For these a browser takes any number of slashes, either way, also none.
const SPECIAL: ReadonlySet<string> = new Set(['http', 'https', 'ws', 'wss', 'ftp'])
const SHARES: ReadonlySet<string> = new Set(['file', 'smb', 'cifs'])

// What ends the authority, or the userinfo in it, for some parser.
const DELIMITER = /[\\?#@]/g

/** Longest text before the first slash that is read; a longer one is unreadable. */
const MAX_AUTHORITY = 1024
const MAX_HTTP_URL = 2048

/**
 * Reads a text that is, as a whole, a URL with an authority or a network path, as a browser would: leading and
 * trailing spaces and controls trimmed, tabs and line ends dropped wherever they stand.
 *
 * Returns undefined if it is not one, and no target if every parser refuses it or if it stays on this machine
 * (`file:///…`).
 */
export function readUrl(text: string): readonly Target[] | undefined {
  let [start, end] = [0, text.length]
  while (text.charCodeAt(start) <= 0x20) start++
  while (text.charCodeAt(end - 1) <= 0x20) end--
  // Before anything is cut off: any number of tabs may stand between the slashes and the host.
  const trimmed = text.slice(start, end)
  const plain = /[\t\n\r]/.test(trimmed) ? trimmed.replace(/[\t\n\r]/g, '') : trimmed
  const match = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?([/\\]*)/.exec(plain)
  const found: UrlStart = { scheme: (match?.[1] ?? '').toLowerCase(), slashes: match?.[2] ?? '' }
  if (!hasAuthority(found)) return undefined
  const rest = plain.slice(match?.[0].length)
  return readAuthority(found, rest.slice(0, (rest + '/').indexOf('/')), true)
}

/** Whether some parser takes what follows as an authority. */
export function hasAuthority({ scheme, slashes }: UrlStart): boolean {
  if (SPECIAL.has(scheme)) return true
  if (slashes.length < 2) return false
  // `foo:\\bar` is an authority for shares only; elsewhere it is an escaped character in some text.
  return scheme === '' || SHARES.has(scheme) || slashes.includes('/')
}

/**
 * Every target that some parser could read in the text up to the first `/`.
 *
 * Parsers differ on whether `\`, `?` and `#` end the authority and on which `@` counts. So the first piece, unless
 * an `@` follows it, and each piece after an `@` are all read. The name in front of an `@` counts if it looks like a
 * host, because that is what a trick looks like.
 *
 * @param isWhole the authority is all of the text (nothing but `/` can end it), not an extract of running text.
 */
export function readAuthority(start: UrlStart, text: string, isWhole: boolean): readonly Target[] {
  const { scheme } = start
  if (isLocal(start, text)) return []
  if (text.length > MAX_AUTHORITY) return [unreadable(scheme)]
  const read = isWhole ? readPiece : readExtract
  const targets: Target[] = []
  let [from, previous] = [0, '']
  while (from <= text.length) {
    DELIMITER.lastIndex = from
    const index = DELIMITER.exec(text)?.index ?? text.length
    const piece = text.slice(from, index)
    if (previous === '@' || (from === 0 && text.charAt(index) !== '@')) targets.push(...read(start, piece))
    else if (from === 0) targets.push(...hostInUserinfo(start, piece))
    previous = text.charAt(index)
    from = index + 1
  }
  if (!isShare(start) && hidesHostBehindBackslash(text)) targets.push(unreadable(scheme))
  return targets
}

/** A path of this machine: `file:///x`, `file://localhost/x`, `file://C:/x`. Four slashes are a share again. */
function isLocal({ scheme, slashes }: UrlStart, text: string): boolean {
  if (scheme !== 'file') return false
  return slashCount(slashes) === 3 || /^(?:localhost)?$|^[A-Za-z][:|]/i.test(text)
}

/** In JSON inside of a text a slash may be written `\\/`. */
function slashCount(slashes: string): number {
  return slashes.replaceAll('\\/', '/').length
}

function isShare({ scheme, slashes }: UrlStart): boolean {
  return SHARES.has(scheme) || (scheme === '' && slashes.includes('\\'))
}

/** For whom `\` does not end the authority, `example.com\.evil.test` is a host below `evil.test`. */
function hidesHostBehindBackslash(text: string): boolean {
  const backslash = text.indexOf('\\')
  if (backslash < 0) return false
  const after = text.slice(backslash)
  const end = after.search(/[?#]/)
  return /[.\u3002\uff0e\uff61]/.test(end < 0 ? after : after.slice(0, end))
}

function hostInUserinfo(start: UrlStart, userinfo: string): readonly Target[] {
  const name = /^[^\0-,/:-@[-^`{-\x7f]*/.exec(userinfo)?.[0] ?? ''
  // `\\host@SSL\share` is a share too.
  return name !== '' && (isShare(start) || lookOf(name) !== 'none') ? readPiece(start, name) : []
}

/** `host` or `host:port`, all of it. A space or an angle bracket in it makes every parser refuse. */
function readPiece({ scheme, slashes }: UrlStart, piece: string): readonly Target[] {
  if (piece === '' || /[\0-\x20<>]/.test(piece)) return []
  if (takesMany(scheme) && piece.includes(',')) {
    return piece.split(',').flatMap((part) => readPiece({ scheme, slashes }, part))
  }
  // Without a browser's scheme a third slash begins the path, unless somebody is lenient.
  const isLoose = !SPECIAL.has(scheme) && scheme !== '' && slashCount(slashes) > 2
  if (isLoose && !SHARES.has(scheme) && lookOf(piece.replace(/:.*$/, '')) !== 'host') return []
  return readHostPort(scheme, piece)
}

/** Databases take more than one host: `postgres://one,two/`. For a browser the comma is of the host. */
export function takesMany(scheme: string): boolean {
  return !SPECIAL.has(scheme) && !SHARES.has(scheme) && scheme !== ''
}

/**
 * A piece out of running text, where punctuation after it belongs to the sentence: `(see https://example.com).`
 *
 * It does not if a name goes on behind it: `example.com),x.evil.test` is one host for a browser.
 */
function readExtract(start: UrlStart, piece: string): readonly Target[] {
  const length = /^(?:\[[^\]]*\])?[^\0-,/;-@[-^`{-~]*/.exec(piece)?.[0].length ?? 0
  const [head, rest] = [piece.slice(0, length), piece.slice(length)]
  if (takesMany(start.scheme) && rest.startsWith(',')) return readPiece(start, piece)
  // A template (`https://${host}/`) names a host that we cannot see.
  const goesOn = /[.\u3002\uff0e\uff61][A-Za-z0-9_\u0080-\uffff-]|[$%@]|\{[A-Za-z0-9_{]/.test(rest)
  const hidden = goesOn || (head === '' && /[A-Za-z0-9]/.test(rest)) ? [unreadable(start.scheme)] : []
  return /^[.\u2026]*$/.test(head) ? hidden : [...readPiece(start, head), ...hidden]
}

/** The host with its stated port, or the default of the scheme. */
export function readHostPort(scheme: string, text: string): readonly Target[] {
  const bracket = text.startsWith('[') ? text.indexOf(']') + 1 : 0
  const colon = text.indexOf(':', bracket)
  // More than one colon outside of brackets: a bare IPv6 address, or nothing.
  const isBare = bracket === 0 && colon !== text.lastIndexOf(':')
  const host = colon < 0 || isBare ? text : text.slice(0, colon)
  const port = colon < 0 || isBare ? defaultPort(scheme) : readPort(scheme, text.slice(colon + 1))
  if (port === undefined) return [unreadable(scheme)]
  return readHost(host).map((name) => (name === '' ? unreadable(scheme) : { scheme, host: name, port }))
}

/** The port, with any number of leading zeros; the default for none; undefined for what is not one. */
function readPort(scheme: string, digits: string): number | undefined {
  if (digits === '') return defaultPort(scheme)
  if (!/^[0-9]+$/.test(digits)) return undefined
  const port = Number(digits)
  return port >= 1 && port <= 65535 ? port : undefined
}

/**
 * The origin of an absolute http or https URL that every parser reads alike; undefined for any other text.
 *
 * Refused: userinfo, `\`, spaces, controls and anything beyond ASCII, percent-encoding in the host, odd spellings of
 * an IP address, an authority not followed by `/` or the end, ports that are empty, zero, padded or too large, and
 * more than 2,048 characters. The host is in the normal form of {@link Target}.
 */
export function readHttpUrl(text: string): HttpUrl | undefined {
  if (text.length > MAX_HTTP_URL || !/^[!-[\]-~]+$/.test(text)) return undefined
  const match = /^(https?):\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::([1-9][0-9]{0,4}))?(?:\/|$)/i.exec(text)
  const scheme = match?.[1]?.toLowerCase() === 'http' ? 'http' : 'https'
  const stated = match?.[2]?.toLowerCase() ?? ''
  const [host = '', ...others] = readHost(stated)
  const port = readPort(scheme, match?.[3] ?? '')
  if (host === '' || others.length > 0 || port === undefined) return undefined
  // An IP address must already be written as it is normalised; an address in brackets that is an IPv4 host is not.
  const isOdd = stated.startsWith('[') ? !host.includes(':') : host !== stated.replace(/\.$/, '')
  return isOdd ? undefined : { scheme, host, port }
}
