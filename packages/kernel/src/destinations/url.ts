// Reads a URL like all parsers at once. If parsers differ, it returns every possible target.

import { defaultPort, unreadable, type Target } from './destination.ts'
import { readHost } from './host.ts'
import { lookOf } from './name.ts'

/** The part before the authority, for a parser that treats `\` as `/`. */
export interface UrlStart {
  readonly scheme: string
  /** The slashes after the colon, as written. For a network path (`//host`, `\\host`), those at its start. */
  readonly slashes: string
}

/** The origin of an absolute http or https URL. */
export interface HttpUrl {
  readonly scheme: 'http' | 'https'
  readonly host: string
  readonly port: number
}

// For these schemes, browsers accept any number of slashes of either kind, or none.
const SPECIAL: ReadonlySet<string> = new Set(['http', 'https', 'ws', 'wss', 'ftp'])
const SHARES: ReadonlySet<string> = new Set(['file', 'smb', 'cifs'])

// These characters end the authority or the userinfo for some parsers.
const DELIMITER = /[\\?#@]/g

/** The maximum length before the first slash. A longer authority is unreadable. */
const MAX_AUTHORITY = 1024
const MAX_HTTP_URL = 2048

/**
 * Reads a text that is one URL with an authority or a network path, as a browser does: spaces and controls around it are trimmed,
 * and tabs and line ends are dropped. Returns undefined for other texts, and no targets if every parser refuses it or if it is
 * local (`file:///…`).
 */
export function readUrl(text: string): readonly Target[] | undefined {
  let [start, end] = [0, text.length]
  while (text.charCodeAt(start) <= 0x20) start++
  while (text.charCodeAt(end - 1) <= 0x20) end--
  // Done first, because any number of tabs is allowed between the slashes and the host.
  const trimmed = text.slice(start, end)
  const plain = /[\t\n\r]/.test(trimmed) ? trimmed.replace(/[\t\n\r]/g, '') : trimmed
  const match = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?([/\\]*)/.exec(plain)
  const found: UrlStart = { scheme: (match?.[1] ?? '').toLowerCase(), slashes: match?.[2] ?? '' }
  if (!hasAuthority(found)) return undefined
  const rest = plain.slice(match?.[0].length)
  return readAuthority(found, rest.slice(0, (rest + '/').indexOf('/')), true)
}

/** Returns whether some parser treats the following text as an authority. */
export function hasAuthority({ scheme, slashes }: UrlStart): boolean {
  if (SPECIAL.has(scheme)) return true
  if (slashes.length < 2) return false
  // Only shares have `foo:\\bar` as an authority. Elsewhere it is an escaped character.
  return scheme === '' || SHARES.has(scheme) || slashes.includes('/')
}

/**
 * Returns every target that some parser could read in the text before the first `/`. Parsers differ on whether `\`, `?` and `#`
 * end the authority and on which `@` counts. So this reads the first piece, unless an `@` follows it, and each piece after an
 * `@`. A name before an `@` counts if it looks like a host, because that is a common trick. @param isWhole whether the authority
 * is the whole text, not a part of running text.
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

/** A local path: `file:///x`, `file://localhost/x`, `file://C:/x`. Four slashes are a share. */
function isLocal({ scheme, slashes }: UrlStart, text: string): boolean {
  if (scheme !== 'file') return false
  return slashCount(slashes) === 3 || /^(?:localhost)?$|^[A-Za-z][:|]/i.test(text)
}

/** JSON inside a text may escape a slash as `\\/`. */
function slashCount(slashes: string): number {
  return slashes.replaceAll('\\/', '/').length
}

function isShare({ scheme, slashes }: UrlStart): boolean {
  return SHARES.has(scheme) || (scheme === '' && slashes.includes('\\'))
}

/** If `\` does not end the authority, `example.com\.evil.test` is a host below `evil.test`. */
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

/** Reads `host` or `host:port`. Every parser refuses spaces and angle brackets in it. */
function readPiece({ scheme, slashes }: UrlStart, piece: string): readonly Target[] {
  if (piece === '' || /[\0-\x20<>]/.test(piece)) return []
  if (takesMany(scheme) && piece.includes(',')) {
    return piece.split(',').flatMap((part) => readPiece({ scheme, slashes }, part))
  }
  // In other schemes a third slash begins the path, but some parsers are lenient.
  const isLoose = !SPECIAL.has(scheme) && scheme !== '' && slashCount(slashes) > 2
  if (isLoose && !SHARES.has(scheme) && lookOf(piece.replace(/:.*$/, '')) !== 'host') return []
  return readHostPort(scheme, piece)
}

/** Database URLs can have several hosts: `postgres://one,two/`. In a browser, the comma is part of the host. */
export function takesMany(scheme: string): boolean {
  return !SPECIAL.has(scheme) && !SHARES.has(scheme) && scheme !== ''
}

/**
 * Reads a piece of running text. Punctuation after it belongs to the sentence: `(see https://example.com).` But if a name follows
 * the punctuation, a browser reads all of it as one host: `example.com),x.evil.test`.
 */
function readExtract(start: UrlStart, piece: string): readonly Target[] {
  const length = /^(?:\[[^\]]*\])?[^\0-,/;-@[-^`{-~]*/.exec(piece)?.[0].length ?? 0
  const [head, rest] = [piece.slice(0, length), piece.slice(length)]
  if (takesMany(start.scheme) && rest.startsWith(',')) return readPiece(start, piece)
  // A template (`https://${host}/`) has a host that is unknown here.
  const continues = /[.\u3002\uff0e\uff61][A-Za-z0-9_\u0080-\uffff-]|[$%@]|\{[A-Za-z0-9_{]/.test(rest)
  const hidden = continues || (head === '' && /[A-Za-z0-9]/.test(rest)) ? [unreadable(start.scheme)] : []
  return /^[.\u2026]*$/.test(head) ? hidden : [...readPiece(start, head), ...hidden]
}

/** Returns the host with its stated port, or the default port of the scheme. */
export function readHostPort(scheme: string, text: string): readonly Target[] {
  const bracket = text.startsWith('[') ? text.indexOf(']') + 1 : 0
  const colon = text.indexOf(':', bracket)
  // More than one colon outside of brackets: a bare IPv6 address, or invalid.
  const isBare = bracket === 0 && colon !== text.lastIndexOf(':')
  const host = colon < 0 || isBare ? text : text.slice(0, colon)
  const port = colon < 0 || isBare ? defaultPort(scheme) : readPort(scheme, text.slice(colon + 1))
  if (port === undefined) return [unreadable(scheme)]
  return readHost(host).map((name) => (name === '' ? unreadable(scheme) : { scheme, host: name, port }))
}

/** Returns the port, with any number of leading zeros; the default if empty; undefined if invalid. */
function readPort(scheme: string, digits: string): number | undefined {
  if (digits === '') return defaultPort(scheme)
  if (!/^[0-9]+$/.test(digits)) return undefined
  const port = Number(digits)
  return port >= 1 && port <= 65535 ? port : undefined
}

/**
 * Returns the origin of an absolute http or https URL that all parsers read alike; undefined for any other text. Refuses
 * userinfo, `\`, spaces, controls, non-ASCII characters, percent-encoding in the host, unusual spellings of an IP address, an
 * authority that is not followed by `/` or the end, ports that are empty, zero, padded or too large, and more than 2,048
 * characters. The host is normalised as in {@link Target}.
 */
export function readHttpUrl(text: string): HttpUrl | undefined {
  if (text.length > MAX_HTTP_URL || !/^[!-[\]-~]+$/.test(text)) return undefined
  const match = /^(https?):\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::([1-9][0-9]{0,4}))?(?:\/|$)/i.exec(text)
  const scheme = match?.[1]?.toLowerCase() === 'http' ? 'http' : 'https'
  const stated = match?.[2]?.toLowerCase() ?? ''
  const [host = '', ...others] = readHost(stated)
  const port = readPort(scheme, match?.[3] ?? '')
  if (host === '' || others.length > 0 || port === undefined) return undefined
  // An IP address must be in normal form. An IPv4 host in brackets is not.
  const isOdd = stated.startsWith('[') ? !host.includes(':') : host !== stated.replace(/\.$/, '')
  return isOdd ? undefined : { scheme, host, port }
}
