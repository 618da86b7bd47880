// Finds the opaque values of a text in one pass over its words.

import {
  hostsOf,
  hostText,
  isHost,
  isPathCode,
  MAX_ADDRESS,
  nameEnd,
  readMailAt,
  readUrlAt,
} from './address.ts'
import { classOf, DIGIT, isAlphanumeric, isDigit, isForeign, isUnspaced, MARK, NONE } from './characters.ts'
import type { Folded } from './fold.ts'
import { readCard, readIban, readPhone, type NumberReading } from './numbers.ts'
import { isRandomText, readToken, MIN_TOKEN_LENGTH } from './token.ts'
import { isDottedName, isPackedCode, nextCandidate, withoutMarks } from './word-bounds.ts'

/** The kind of a value. */
export type ValueKind = 'email' | 'url' | 'host' | 'iban' | 'card' | 'phone' | 'wallet' | 'id' | 'key'

/** An opaque value in a text. */
export interface Value {
  readonly kind: ValueKind
  /** The normal form: all spellings of one thing have the same. */
  readonly text: string
  /** The position in the original text. */
  readonly start: number
  readonly end: number
}

const PLUS = 0x2b
const SLASH = 0x2f
const COLON = 0x3a
const SIGN = 0x40
const BACKSLASH = 0x5c

/** Finds the values of one text. */
export class Scanner {
  readonly #text: string
  readonly #folded: Folded
  readonly #limit: number
  readonly #found: Value[] = []
  #at = 0
  // The ends of the ranges that were already checked as a name and as base64.
  #named = 0
  #packed = 0
  // No e-mail address begins before this position: after the last address and outside of hostnames.
  #floor = 0

  constructor(folded: Folded, limit: number) {
    this.#text = folded.text
    this.#folded = folded
    this.#limit = limit
  }

  /** Returns the values, sorted by start. */
  run(): readonly Value[] {
    for (this.#at = nextCandidate(this.#text, 0); this.#at < this.#text.length;) {
      if (this.#found.length >= this.#limit) break
      this.#step()
      this.#at = nextCandidate(this.#text, this.#at)
    }
    return this.#found.sort((a, b) => a.start - b.start).slice(0, this.#limit)
  }

  #step(): void {
    const code = this.#code(this.#at)
    const kind = classOf(code)
    if (kind !== NONE && kind !== MARK) this.#word(this.#wordStart())
    else if (code === PLUS) this.#plus()
    else if (code === SIGN) this.#sign()
    else if (code >= 0x80 && isForeign(code)) this.#foreign(this.#at)
    else this.#at++
  }

  #code(at: number): number {
    return this.#text.charCodeAt(at)
  }

  /** In escaped text, the `n` of `\n` is not part of the next word. */
  #wordStart(): number {
    const isEscape = this.#code(this.#at - 1) === BACKSLASH && 'nrt'.includes(this.#text.charAt(this.#at))
    return isEscape && isAlphanumeric(this.#code(this.#at + 1)) ? this.#at + 1 : this.#at
  }

  /** Reads an ASCII word of letters, digits and inner marks. Its content and the next character decide what it is. */
  #word(start: number): void {
    const text = this.#text
    let end = start
    let classes = 0
    for (let kind = classOf(text.charCodeAt(end)); kind !== NONE; kind = classOf(text.charCodeAt(++end))) {
      classes |= 1 << kind
    }
    const next = text.charCodeAt(end)
    this.#at = end
    if (next === SIGN) return
    if (next === COLON && this.#url(start, end)) return
    if (next >= 0x80 && isForeign(next) && this.#foreign(start)) return
    if ((classes & (1 << MARK)) !== 0 && this.#host(start, end)) return
    if ((classes & (1 << DIGIT)) === 0 || this.#number(start)) return
    if (!this.#blob(start, end)) this.#tokens(start, end)
  }

  /** Reads `scheme://…`, also with slashes that are escaped as in JSON. */
  #url(start: number, colon: number): boolean {
    const isEscaped = this.#text.startsWith('\\/\\/', colon + 1)
    if (!isEscaped && !this.#text.startsWith('//', colon + 1)) return false
    const scheme = this.#text.slice(Math.max(start, colon - 32), colon).toLowerCase()
    return this.#address(start, scheme, colon + (isEscaped ? 5 : 3))
  }

  #address(start: number, scheme: string, from: number): boolean {
    const reading = readUrlAt(this.#text, start, scheme, from)
    if (reading === undefined) return false
    const { url, hosts, next } = reading
    // A URL without path and port is only a host.
    if (!hosts.some((host) => host.text === url.text)) this.#add('url', url.text, url.start, url.end)
    for (const host of hosts) this.#add('host', host.text, host.start, host.end)
    this.#at = this.#floor = next
    return true
  }

  /** Reads `evil.test`, `evil.test/path` or `evil.test:8080`. */
  #host(start: number, end: number): boolean {
    const last = withoutMarks(this.#text, end)
    const name = this.#text.slice(start, Math.min(last, start + MAX_ADDRESS))
    const next = this.#code(last)
    if (!name.includes('.') || !isHost(name, next, this.#code(last + 1))) return false
    const hasMore = next === COLON ? isDigit(this.#code(last + 1)) : isPathCode(next)
    if (hasMore && last === end) return this.#address(start, '', start)
    for (const host of hostsOf(name)) this.#add('host', host, start, last)
    this.#floor = end
    return true
  }

  /** Reads a name with non-ASCII letters, such as `bücher.test`. Otherwise skips the non-ASCII characters. */
  #foreign(start: number): boolean {
    const end = start < this.#named ? start : nameEnd(this.#text, start)
    this.#named = Math.max(this.#named, end)
    const last = withoutMarks(this.#text, end)
    const name = this.#text.slice(start, Math.min(last, start + MAX_ADDRESS))
    const isName = this.#code(end) !== SIGN && name.includes('.')
    if (isName && isHost(name, this.#code(last), this.#code(last + 1))) {
      for (const host of hostsOf(name)) this.#add('host', host, start, last)
      // Without spaces, a sentence can run into the name, so its ASCII part is checked separately.
      if (!isUnspaced(this.#code(start))) {
        this.#at = this.#floor = last
        return true
      }
    }
    while (isForeign(this.#code(this.#at))) this.#at++
    return false
  }

  #number(start: number): boolean {
    const card = readCard(this.#text, start)
    const iban = card ? undefined : readIban(this.#text, start)
    return this.#take('card', card, start) || this.#take('iban', iban, start)
  }

  #plus(): void {
    const start = this.#at++
    if (!isDigit(this.#code(start + 1)) || isAlphanumeric(this.#code(start - 1))) return
    this.#take('phone', readPhone(this.#text, start), start)
  }

  #take(kind: ValueKind, reading: NumberReading | undefined, start: number): boolean {
    if (reading === undefined) return false
    this.#add(kind, reading.text, start, reading.end)
    this.#at = reading.end
    return true
  }

  #sign(): void {
    const sign = this.#at++
    const mail = readMailAt(this.#text, sign, this.#floor)
    if (mail === undefined) return
    this.#add('email', mail.text, mail.start, mail.end)
    this.#at = this.#floor = mail.end
    // `git@evil.test:path` refers to that host.
    if (this.#code(mail.end) === COLON && /[A-Za-z/~]/.test(this.#text.charAt(mail.end + 1))) {
      this.#add('host', hostText(mail.text.slice(mail.text.lastIndexOf('@') + 1)), sign + 1, mail.end)
    }
  }

  /** Reads base64 with `+` and `/` as one value, not as several pieces. */
  #blob(start: number, end: number): boolean {
    const next = this.#code(end)
    if ((next !== PLUS && next !== SLASH) || start < this.#packed) return false
    let last = end
    while (isPackedCode(this.#code(last))) last++
    this.#packed = last
    const text = this.#text.slice(start, Math.min(last, start + MAX_ADDRESS))
    if (text.length < 40 || !isRandomText(text)) return false
    this.#add('key', text, start, last)
    this.#at = last
    return true
  }

  /** Reads the word, or its parts between dots, unless it is a number, a version or a file name. */
  #tokens(start: number, end: number): void {
    if (end - start < MIN_TOKEN_LENGTH) return
    const word = this.#text.slice(start, Math.min(end, start + MAX_ADDRESS))
    if (word.includes('.') && isDottedName(word)) return
    let at = start
    for (const part of word.split('.')) {
      const own = part.slice(0, withoutMarks(part, part.length))
      const token = readToken(own, this.#code(at - 1) === 0x23)
      if (token) this.#add(token.kind, token.text, at, at + own.length)
      at += part.length + 1
    }
  }

  #add(kind: ValueKind, text: string, start: number, end: number): void {
    this.#found.push({ kind, text, start: this.#folded.start(start), end: this.#folded.end(end) })
  }
}
