// Finds targets in running text by their marks: a colon, an `@`, slashes, a dot.

import { parseIpv6 } from './address.ts'
import { MAX_TARGETS, unreadable, type Target } from './destination.ts'
import { readHost } from './host.ts'
import { readMailto } from './mail.ts'
import { isQuad, lookOf } from './name.ts'
import { hasAuthority, readAuthority, readHostPort, takesMany, type UrlStart } from './url.ts'

// Reading an authority can look 1,024 characters ahead without consuming them, so the number of reads is limited.
const MAX_READS = 5000
const MAX_NAME = 2048
const MAX_LOCAL = 256

const MARK = /[:@]|[/\\]{2,}|\.(?=[A-Za-z0-9\u0080-\uffff])/g
const SLASHES = /[/\\]*/y
const BACKSLASHES = /\\*/y
// The maximum extent of an authority, and the part of it in which no other target can begin.
const REACH = /[^\s/"'`<>]{0,1025}/y
const CONSUMED = /[^\s/\\?#"'`<>,;()|{}]*/y
const CONSUMED_MANY = /[^\s/\\?#"'`<>;()|{}]*/y
const WORD = /[^\s"'`<>]{0,1025}/y
const QUOTES = /["'`<>]*/y
const PORT = /[0-9]{1,5}(?![0-9A-Za-z_])/y
const NAME = /[A-Za-z0-9._\-\u0080-\uffff]*/y
const MAIL_HOST = /\[[^\]\s]{0,64}\]|[A-Za-z0-9._%\-\u0080-\uffff]*/y
// White space and comments are allowed between `@` and the host (RFC 5322, 3.4.1 and 4.4).
const GAP = /(?:[ \t\r\n]|\([^()]{0,256}\)){0,8}/y
const DEVICE = /[?.][/\\]+(?:UNC[/\\]+)?/iy
const IPV6 = /[0-9A-Fa-f:.]{0,48}/y

/** Returns every target in running text, possibly with duplicates. Past the limits, the list ends with an unreadable one. */
export function scanMarks(text: string): readonly Target[] {
  return new MarkScanner(text).run()
}

class MarkScanner {
  readonly #text: string
  readonly #found: Target[] = []
  #reads = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Goes from mark to mark. Each step is bounded or consumes what it has read. */
  run(): readonly Target[] {
    let at = 0
    while (true) {
      MARK.lastIndex = at
      const mark = MARK.exec(this.#text)
      if (mark === null) return this.#found
      if (this.#found.length >= MAX_TARGETS || this.#reads >= MAX_READS) break
      at = this.#look(mark.index)
    }
    this.#found.push(unreadable(''))
    return this.#found
  }

  /** Adds the target at the mark; returns the next position. */
  #look(mark: number): number {
    switch (this.#text.charAt(mark)) {
      case ':':
        return this.#colon(mark)
      case '@':
        return this.#sign(mark)
      case '.':
        return this.#dot(mark)
      default:
        return this.#slashes(mark)
    }
  }

  #colon(colon: number): number {
    // Most colons of a text.
    if (/^[\s"'`]?$/.test(this.#text.charAt(colon + 1))) return colon + 1
    const slashes = this.#match(SLASHES, colon + 1)
    const start: UrlStart = { scheme: this.#scheme(colon), slashes }
    const from = colon + 1 + slashes.length
    if (start.scheme === 'mailto') {
      this.#reads++
      this.#found.push(...readMailto(this.#match(WORD, colon + 1)))
    }
    // `http:` without slashes begins a URL if a host follows. Otherwise it is a word.
    const isUrl =
      hasAuthority(start) && (slashes !== '' || /[\w.%[\u0080-\uffff]/.test(this.#text.charAt(from)))
    if (isUrl && !this.#isDrive(start)) return this.#authority(start, from)
    return this.#port(colon) ?? this.#ipv6(colon) ?? colon + 1
  }

  #scheme(colon: number): string {
    const start = this.#back(colon, isSchemeCode)
    const run = this.#text.slice(Math.max(start, colon - 32), colon)
    return run.replace(/^[^A-Za-z]+/, '').toLowerCase()
  }

  /** `C:\\temp`, with escaped backslashes. */
  #isDrive({ scheme, slashes }: UrlStart): boolean {
    return scheme.length === 1 && slashes.startsWith('\\')
  }

  /** Reads the authority at a position; returns the position after the part in which no other target can begin. */
  #authority(start: UrlStart, from: number): number {
    this.#reads++
    const text = this.#match(REACH, from)
    this.#found.push(...readAuthority(start, text, false))
    // A quotation mark or a tag ends the URL, but a shell continues the word: `https://example.com'.evil.test'`.
    const quotes = this.#match(QUOTES, from + text.length)
    const next = this.#text.charAt(from + text.length + quotes.length)
    const continues = /[<>]/.test(quotes) ? /[.@%$-]/ : /[\w.@%$\-\u0080-\uffff]/
    if (quotes !== '' && continues.test(next)) this.#found.push(unreadable(start.scheme))
    return from + this.#match(takesMany(start.scheme) ? CONSUMED_MANY : CONSUMED, from).length
  }

  /** Reads `evil.test:8080`, `10.0.0.1:80` or `redis:6379/0`. */
  #port(colon: number): number | undefined {
    const digits = this.#match(PORT, colon + 1)
    if (digits === '') return undefined
    const start = this.#back(colon, isNameCode)
    const name = this.#text.slice(Math.max(start, colon - MAX_NAME), colon).replace(/^[-._]+/, '')
    const end = colon + 1 + digits.length
    const hasPath = this.#text.charAt(end) === '/'
    const look = lookOf(name)
    const isLabel = digits.length > 1 && /^[A-Za-z][\w-]*$/.test(name)
    const counts = look === 'host' || isQuad(name) || (hasPath && (look !== 'none' || isLabel))
    if (!counts || isSlash(this.#text.charAt(start - 1))) return undefined
    this.#found.push(...readHostPort('', `${name}:${digits}`))
    return end
  }

  /** Reads a bare IPv6 address: `::1`, `[fe80::1]`. Without a digit it is usually `a::b` in code. */
  #ipv6(colon: number): number | undefined {
    let start = colon
    while (colon - start < 4 && /[0-9A-Fa-f]/.test(this.#text.charAt(start - 1))) start--
    if (/[\w:.\-\u0080-\uffff]/.test(this.#text.charAt(start - 1))) return undefined
    const run = this.#match(IPV6, start)
    const next = this.#text.charAt(start + run.length)
    const address = run.replace(/[.:]$/, (last) => (run.endsWith('::') ? last : ''))
    if (/[\w\u0080-\uffff]/.test(next) || !/[0-9]/.test(address)) return undefined
    if (parseIpv6(address) === undefined) return undefined
    const end = start + run.length
    const port = this.#text.startsWith(']:', end) ? this.#match(PORT, end + 2) : ''
    this.#found.push(...readHostPort('', `[${address}]:${port}`))
    return end + (port === '' ? 0 : port.length + 2)
  }

  /** Reads an e-mail address or `user@host:path`. */
  #sign(sign: number): number {
    const gap = this.#match(GAP, sign + 1)
    const start = sign + 1 + gap.length
    const run = this.#match(MAIL_HOST, start)
    const host = trimmedEnd(run)
    const end = start + run.length
    const hasLocal = /[^\s/\\:,;=?&@<>([{|]/.test(this.#text.charAt(sign - 1))
    const isPath = this.#text.charAt(end) === ':' && /[A-Za-z/~.]/.test(this.#text.charAt(end + 1))
    if (!(hasLocal ? isMailHost(host, gap !== '', isPath) : this.#isRoute(host, end))) return sign + 1
    const hosts = host.startsWith('[') ? readHost(host.slice(1, -1).replace(/^IPv6:/i, '')) : readHost(host)
    this.#found.push(...hosts.map((name) => ({ scheme: 'mailto', host: name, port: 0 })))
    if (isPath && hasLocal) this.#found.push(...readHostPort('ssh', host))
    this.#routed(sign)
    return end
  }

  /** Returns whether it is the first hop of `@evil.test:user@example.com` (RFC 5322, 4.4). */
  #isRoute(host: string, end: number): boolean {
    return lookOf(host) !== 'none' && /[:,]/.test(this.#text.charAt(end))
  }

  /** `user%evil.test@example.com` and `evil.test!user@example.com` pass through both hosts. */
  #routed(sign: number): void {
    const start = Math.max(this.#back(sign, isLocalCode), sign - MAX_LOCAL)
    const pieces = this.#text.slice(start, sign).split(/[%!]/)
    if (pieces.length < 2) return
    const names = pieces.filter((piece) => lookOf(piece) !== 'none')
    this.#found.push(...names.flatMap((name) => readHostPort('mailto', name)))
  }

  /** Reads a dotted word: an IPv4 address, `www.…`, or a name with a path. `#colon` handles ports. */
  #dot(dot: number): number {
    const start = this.#back(dot, isNameCode)
    const end = start + this.#match(NAME, start).length
    const next = this.#text.charAt(end)
    if (next === ':' && this.#match(PORT, end + 1) !== '') return end
    if (end - start > MAX_NAME) return end
    const name = this.#text.slice(start, end)
    if (isQuad(name)) {
      this.#found.push(...readHostPort('', name).filter(({ host }) => host !== ''))
      return end
    }
    const before = this.#text.charAt(start - 1)
    if (before === '@' || isSlash(before)) return end
    const isWeb = /^www\.[^.]+\.[^.]/i.test(name)
    if (isWeb || (next === '/' && lookOf(name) === 'host'))
      this.#found.push(...readHostPort('', trimmedEnd(name)))
    return end
  }

  /** Reads `//host/path` and `\\host\share` at the start of a word. Many such texts are comments or escapes. */
  #slashes(mark: number): number {
    const slashes = this.#match(SLASHES, mark)
    let from = mark + slashes.length
    if (!/^[\s"'`(=,[<>:{|]?$/.test(this.#text.charAt(mark - 1))) return from
    const device = this.#match(DEVICE, from)
    from += device.length
    const isShare = /unc/i.test(device)
    if (device !== '' && !isShare) return from
    const host = this.#match(MAIL_HOST, from)
    const isHost =
      isShare || this.#isSharePath(slashes, from + host.length) || this.#isNetworkHost(host, from)
    return isHost ? this.#authority({ scheme: '', slashes }, from) : from
  }

  /** Returns whether it is `\\host\share`, or the same with every backslash escaped. */
  #isSharePath(slashes: string, end: number): boolean {
    const separator = this.#match(BACKSLASHES, end)
    const share = this.#text.charAt(end + separator.length)
    return /^\\+$/.test(slashes) && separator.length * 2 === slashes.length && /[A-Za-z0-9$_]/.test(share)
  }

  #isNetworkHost(host: string, from: number): boolean {
    const next = this.#text.charAt(from + host.length)
    if (host.startsWith('[') || isQuad(host) || next === '@') return true
    const look = lookOf(host.slice(0, MAX_NAME))
    return look === 'host' || (look !== 'none' && /[/\\:]/.test(next))
  }

  /** Returns the start of the run of such characters that ends here. */
  #back(end: number, belongs: (code: number) => boolean): number {
    let start = end
    while (start > 0 && belongs(this.#text.charCodeAt(start - 1))) start--
    return start
  }

  #match(pattern: RegExp, at: number): string {
    pattern.lastIndex = at
    return pattern.exec(this.#text)?.[0] ?? ''
  }
}

/** Returns whether the text after an `@` makes it an address, unlike `react@18.2.0`, `checkout@v4` or `image@sha256:…`. */
function isMailHost(host: string, hasGap: boolean, isPath: boolean): boolean {
  if (hasGap && !host.startsWith('[')) return lookOf(host) === 'host'
  if (host.startsWith('[')) return /^\[(?:IPv6:)?[0-9a-fx.:]*[.:][0-9a-fx.:]*\]$/i.test(host)
  const dot = host.lastIndexOf('.')
  const top = host.slice(dot + 1)
  const isTop = /^(?:[A-Za-z]{2,}|xn--.*)$/.test(top) || /[%\u0080-\uffff]/.test(top)
  if (dot > 0 && isTop) return true
  return isQuad(host) || lookOf(host) === 'host' || (isPath && host !== '' && !/^sha[0-9]+$/i.test(host))
}

/** Removes punctuation of the sentence. */
function trimmedEnd(name: string): string {
  let end = name.length
  while (end > 0 && '.-_%'.includes(name.charAt(end - 1))) end--
  return name.slice(0, end)
}

function isSlash(character: string): boolean {
  return character === '/' || character === '\\'
}

function isAlphanumeric(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
}

function isSchemeCode(code: number): boolean {
  return isAlphanumeric(code) || code === 0x2b || code === 0x2d || code === 0x2e
}

function isNameCode(code: number): boolean {
  return isAlphanumeric(code) || code === 0x2d || code === 0x2e || code === 0x5f || code >= 0x80
}

/** Characters of a dot-atom (RFC 5322, 3.2.3) except the slash. */
function isLocalCode(code: number): boolean {
  return isNameCode(code) || "!#$%&'*+=?^`{|}~".includes(String.fromCharCode(code))
}
