// `path.within`, `host.within` and `url.within`: whether a text is inside a directory, a domain or a URL for every program that
// could parse it. A text that programs may parse differently is inside nothing.

import { fold, isBeyondAscii, readHost } from '../../destinations/host.ts'
import { readHttpUrl, type HttpUrl } from '../../destinations/url.ts'

/** The words before `.within`. */
export const WITHIN_KINDS = ['path', 'host', 'url'] as const
/** A kind of base that a text can be inside of. */
export type WithinKind = (typeof WITHIN_KINDS)[number]

/** Returns the kind for the name before `.within`; undefined if it is not one, or a loop variable. */
export function withinKindOf(name: string, locals: readonly string[] = []): WithinKind | undefined {
  return locals.includes(name) ? undefined : WITHIN_KINDS.find((kind) => kind === name)
}

/** Returns whether a text is inside. */
type Within = (text: string) => boolean

/** Returns the test for a base, or the problem with the base as text. */
export function parseWithin(kind: WithinKind, base: string): Within | string {
  if (kind === 'path') return withinPath(base)
  return kind === 'host' ? withinHost(base) : withinUrl(base)
}

/** Returns whether a text is valid as second argument of `within`. */
export function isWithinBase(kind: WithinKind, base: string): boolean {
  return typeof parseWithin(kind, base) !== 'string'
}

// Longer than any path that a system accepts, and than any URL that `readHttpUrl` accepts.
const MAX_PATH_LENGTH = 4096
// Some programs treat a backslash as a separator, decode percent signs, or cut a name at a control character.
const ODD = /[\\%\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** Tests for `/notes`, `src` or `~/notes`, and everything below it. */
function withinPath(base: string): Within | string {
  const folder = base.length > 1 && base.endsWith('/') ? base.slice(0, -1) : base
  const names = folder.split('/').slice(folder.startsWith('/') ? 1 : 0)
  if (folder === '' || folder.startsWith('//') || ODD.test(folder) || !names.every(isPlainName)) {
    return `\`${base}\` is not a usable directory; write one like \`/notes\` or \`src\`, without \`.\` and \`..\``
  }
  return (text) => text.length <= MAX_PATH_LENGTH && !ODD.test(text) && staysBelow(folder, text)
}

/** Returns whether a text begins with the folder as written, and no later name leads out of it. */
function staysBelow(folder: string, text: string): boolean {
  if (text === folder) return true
  if (!text.startsWith(`${folder}/`)) return false
  let depth = 0
  for (const name of text.slice(folder.length + 1).split('/')) {
    if (name === '' || name === '.') continue
    if (name === '..') depth--
    else if (isPlainName(name)) depth++
    else return false
    if (depth < 0) return false
  }
  return true
}

/** Returns whether every program treats this as a plain name. */
function isPlainName(name: string): boolean {
  const seen = isBeyondAscii(name) ? fold(name) : name
  return !MAY_LEAD_OUT.test(seen) && !/[/\\]/.test(seen)
}

// Some programs drop trailing dots, white space and invisible characters: `.. ` is `..` to them. Some read `..;x` as `..`, and
// those that decode twice read `..?x` so. Some map U+2044, U+2215, the yen or the won sign to a slash or a backslash.
const MAY_LEAD_OUT =
  /^[.\s]*(?:[;:?#]|$)|(?:^|[\u00a5\u20a9\u2044\u2215\u2216\u29f5\u29f8])\s*\.[.\s]*(?:$|[\u00a5\u20a9\u2044\u2215\u2216\u29f5\u29f8])/

/** Tests for `example.com` and every hostname below it; for an address only itself. */
function withinHost(base: string): Within | string {
  const [host = '', ...others] = readHost(base)
  if (host === '' || others.length > 0) {
    return `\`${base}\` is not a hostname; write one like \`example.com\`, without a scheme, a port or \`*\``
  }
  const isAddress = /^[0-9.]+$|:/.test(host)
  return (text) => {
    const found = plainHost(text)
    return found !== undefined && (found === host || (!isAddress && found.endsWith(`.${host}`)))
  }
}

/** Returns the hostname of a text in its usual spelling. Another spelling may be another hostname for some programs. */
function plainHost(text: string): string | undefined {
  // The Kelvin sign becomes a plain `k` in lower case.
  if (isBeyondAscii(text)) return undefined
  const [host, ...others] = readHost(text)
  const spelled = text.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  return others.length === 0 && host !== '' && host === spelled ? host : undefined
}

/** Tests for `https://example.com/api` and everything below it: the same scheme, hostname and port, and a path inside. */
function withinUrl(base: string): Within | string {
  const origin = readHttpUrl(base)
  const folder = pathOf(base).replace(/\/$/, '')
  const names = folder.split('/').slice(1)
  if (!origin || /[?#]/.test(base) || !names.every(isUrlName)) {
    return `\`${base}\` is not a usable URL; write one like \`https://example.com/api\``
  }
  return (text) => {
    const found = readHttpUrl(text)
    if (!found || !isSameOrigin(found, origin)) return false
    const path = pathOf(text) || '/'
    return path.split('/').every((name) => name === '' || isUrlName(name)) && staysBelow(folder, path)
  }
}

function isSameOrigin(a: HttpUrl, b: HttpUrl): boolean {
  return a.scheme === b.scheme && a.host === b.host && a.port === b.port
}

/** Returns the path of a URL that `readHttpUrl` accepts: the part between the hostname and the query. */
function pathOf(url: string): string {
  return /^https?:\/\/[^/?#]*([^?#]*)/i.exec(url)?.[1] ?? ''
}

/** Returns whether a name in a URL path is plain, decoded or not. A percent sign after decoding may be decoded again. */
function isUrlName(name: string): boolean {
  if (name === '.' || name === '..') return true
  try {
    const decoded = decodeURIComponent(name)
    return !ODD.test(decoded) && isPlainName(decoded)
  } catch {
    // Not UTF-8; some programs accept it anyway.
    return false
  }
}
