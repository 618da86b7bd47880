// Scans a source before the parser. It refuses input that would exhaust the parser's stack, that the parser reads differently from
// the specification, or that is CEL but not supported.

import { Refused } from './failure.ts'

/** Maximum length of a source, in characters. */
const MAX_SOURCE_LENGTH = 4096

// The parser recurses for each sign without a limit.
const MAX_SIGNS = 32

const NEXT = /\s+|\/\/[^\n]*|([bBrR]?)("""|'''|"|')|([0-9A-Za-z_]+)(\s*\{)?|[.[{]\?|!=|[^]/y

/** @throws Refused for a source that must not reach the parser. */
export function scan(source: string): void {
  if (source.length > MAX_SOURCE_LENGTH) {
    throw new Refused(
      MAX_SOURCE_LENGTH,
      `the condition is longer than ${MAX_SOURCE_LENGTH} characters; shorten it`,
    )
  }
  if (!source.isWellFormed()) throw new Refused(0, 'the condition contains a lone surrogate; remove it')
  let signs = 0
  for (let at = 0; at < source.length;) {
    NEXT.lastIndex = at
    const [token = '', prefix = '', quote, word, brace] = NEXT.exec(source) ?? []
    refuse(token, word, brace, at)
    if (!/^(?:\s|\/\/)/.test(token)) signs = token === '!' || token === '-' ? signs + 1 : 0
    if (signs > MAX_SIGNS) throw new Refused(at, `more than ${MAX_SIGNS} consecutive signs; remove some`)
    at = quote === undefined ? at + token.length : endOfString(source, at + token.length, prefix, quote)
  }
}

function refuse(token: string, word: string | undefined, brace: string | undefined, at: number): void {
  if (token === '`') {
    throw new Refused(at, 'quoted field names are not supported; write `map["name"]`')
  }
  if (token.length === 2 && token.endsWith('?')) {
    throw new Refused(at, `the optional syntax \`${token}\` is not supported; test with \`has()\``)
  }
  if (brace !== undefined && word !== undefined && word !== 'in') {
    throw new Refused(at, `messages like \`${word}{}\` are not supported; write a map`)
  }
}

/** A round bracket of a source, outside texts and comments. */
export interface Bracket {
  readonly at: number
  readonly opens: boolean
}

/** Returns the round brackets of a source that the parser accepted. */
export function bracketsIn(source: string): readonly Bracket[] {
  const found: Bracket[] = []
  for (let at = 0; at < source.length;) {
    NEXT.lastIndex = at
    const [token = '', prefix = '', quote] = NEXT.exec(source) ?? []
    if (token === '(' || token === ')') found.push({ at, opens: token === '(' })
    at = quote === undefined ? at + token.length : endOfString(source, at + token.length, prefix, quote)
  }
  return found
}

/** Returns the offset after the closing quote, or the end of the source. The parser reports an unclosed string. */
function endOfString(source: string, start: number, prefix: string, quote: string): number {
  const raw = /r/i.test(prefix)
  for (let at = start; at < source.length; at++) {
    if (/b/i.test(prefix) && source.charCodeAt(at) > 0x7f) {
      throw new Refused(at, 'a bytes literal contains a non-ASCII character; write its bytes as `\\xNN`')
    }
    if (source.startsWith(quote, at)) return at + quote.length
    if (source[at] !== '\\') continue
    at++
    // The specification ends a raw string here; the parser does not.
    if (raw && source.startsWith(quote, at)) {
      throw new Refused(at - 1, 'a raw string has a backslash before a quote; write it without the `r`')
    }
  }
  return source.length
}
