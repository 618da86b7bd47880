// `path.within`, `host.within` and `url.within`: whether a text lies inside of a directory, a domain or a URL, for every program
// that could read the text. What programs could read differently lies nowhere inside.

import { fold, isBeyondAscii, readHost } from '../../destinations/host.ts'
import { readHttpUrl, type HttpUrl } from '../../destinations/url.ts'

/** What a text can be inside of, by the word before `.within`. */
export const WITHIN_KINDS = ['path', 'host', 'url'] as const
/** What a text can be inside of. */
export type WithinKind = (typeof WITHIN_KINDS)[number]

/** The kind that a name before `.within` stands for; undefined if it is none, or the variable of a loop. */
export function withinKindOf(name: string, locals: readonly string[] = []): WithinKind | undefined {
  return locals.includes(name) ? undefined : WITHIN_KINDS.find((kind) => kind === name)
}

/** Whether a text lies inside. */
type Within = (text: string) => boolean

/** The test for a base, or in words what is wrong with the base. */
export function parseWithin(kind: WithinKind, base: string): Within | string {
  if (kind === 'path') return withinPath(base)
  return kind === 'host' ? withinHost(base) : withinUrl(base)
}

/** Whether a text can be the second argument of `within`. */
export function isWithinBase(kind: WithinKind, base: string): boolean {
  return typeof parseWithin(kind, base) !== 'string'
}

// Longer than any path that a system takes, and than any URL that `readHttpUrl` takes.
const LONGEST = 4096
// A backslash separates names for some, percent signs are decoded by some, and controls end or cut a name for some.
const ODD = /[\\%\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** `/notes`, `src` or `~/notes`, and what is below it. */
function withinPath(base: string): Within | string {
  const folder = base.length > 1 && base.endsWith('/') ? base.slice(0, -1) : base
  const names = folder.split('/').slice(folder.startsWith('/') ? 1 : 0)
  if (folder === '' || folder.startsWith('//') || ODD.test(folder) || !names.every(isPlainName)) {
    return `\`${base}\` is no directory that a path can be inside of; write one like \`/notes\` or \`src\`, without \`.\` and \`..\``
  }
  return (text) => text.length <= LONGEST && !ODD.test(text) && staysBelow(folder, text)
}

/** Whether a text begins with the folder as it is written, and no name after that leads out of it. */
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

/** Whether every program takes this for a name, and for nothing else. */
function isPlainName(name: string): boolean {
  const seen = isBeyondAscii(name) ? fold(name) : name
  return !MAY_LEAD_OUT.test(seen) && !/[/\\]/.test(seen)
}

// Some drop dots and any white space at the end of a name, and what cannot be seen: `.. ` is `..` to them. For some `..;x` is `..`, and
// for who decodes twice `..?x`. And some write what their code page lacks as a slash or a backslash: U+2044, U+2215, the yen, the won.
const MAY_LEAD_OUT =
  /^[.\s]*(?:[;:?#]|$)|(?:^|[\u00a5\u20a9\u2044\u2215\u2216\u29f5\u29f8])\s*\.[.\s]*(?:$|[\u00a5\u20a9\u2044\u2215\u2216\u29f5\u29f8])/

/** `example.com` and every host below it; an address alone. */
function withinHost(base: string): Within | string {
  const [host = '', ...others] = readHost(base)
  if (host === '' || others.length > 0) {
    return `\`${base}\` is no host; write one like \`example.com\`, without a scheme, a port or \`*\``
  }
  const isAddress = /^[0-9.]+$|:/.test(host)
  return (text) => {
    const found = plainHost(text)
    return found !== undefined && (found === host || (!isAddress && found.endsWith(`.${host}`)))
  }
}

/** The host of a text that is written as hosts are; another spelling of it may be another host to somebody. */
function plainHost(text: string): string | undefined {
  // The Kelvin sign in lower case is a plain `k`.
  if (isBeyondAscii(text)) return undefined
  const [host, ...others] = readHost(text)
  const spelled = text.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  return others.length === 0 && host !== '' && host === spelled ? host : undefined
}

/** `https://example.com/api` and what is below it: the same scheme, host and port, and a path that stays there. */
function withinUrl(base: string): Within | string {
  const origin = readHttpUrl(base)
  const folder = pathOf(base).replace(/\/$/, '')
  const names = folder.split('/').slice(1)
  if (!origin || /[?#]/.test(base) || !names.every(isUrlName)) {
    return `\`${base}\` is no URL that another can be inside of; write one like \`https://example.com/api\``
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

/** The path of a URL that `readHttpUrl` has read: what is between the host and the query. */
function pathOf(url: string): string {
  return /^https?:\/\/[^/?#]*([^?#]*)/i.exec(url)?.[1] ?? ''
}

/** A name in the path of a URL, decoded or not. A percent sign in what was decoded may be decoded again. */
function isUrlName(name: string): boolean {
  if (name === '.' || name === '..') return true
  try {
    const decoded = decodeURIComponent(name)
    return !ODD.test(decoded) && isPlainName(decoded)
  } catch {
    // Not UTF-8: some programs read it all the same.
    return false
  }
}
