// A first look at a source, before the parser's: what would exhaust the parser's stack, what it would read
// differently from the specification, and what is CEL but not supported.

import { Refused } from './failure.ts'

/** Longest source, in characters. */
const MAX_SOURCE_LENGTH = 4096

// The parser goes one call deeper for each sign, and counts none of them.
const MAX_SIGNS = 32

const NEXT = /\s+|\/\/[^\n]*|([bBrR]?)("""|'''|"|')|([0-9A-Za-z_]+)(\s*\{)?|[.[{]\?|!=|[^]/y

/** @throws Refused for a source that must not reach the parser. */
export function scan(source: string): void {
  if (source.length > MAX_SOURCE_LENGTH) {
    throw new Refused(MAX_SOURCE_LENGTH, `the condition is longer than ${MAX_SOURCE_LENGTH} characters`)
  }
  if (!source.isWellFormed()) throw new Refused(0, 'the condition holds half of a surrogate pair')
  let signs = 0
  for (let at = 0; at < source.length;) {
    NEXT.lastIndex = at
    const [token = '', prefix = '', quote, word, brace] = NEXT.exec(source) ?? []
    refuse(token, word, brace, at)
    if (!/^(?:\s|\/\/)/.test(token)) signs = token === '!' || token === '-' ? signs + 1 : 0
    if (signs > MAX_SIGNS) throw new Refused(at, `more than ${MAX_SIGNS} signs stand in a row; drop some`)
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

/** A round bracket of a source, outside of texts and comments. */
export interface Bracket {
  readonly at: number
  readonly opens: boolean
}

/** The round brackets of a source that the parser took. */
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

/** The offset after the closing quote, or the end of the source: the parser reports a string that is not closed. */
function endOfString(source: string, start: number, prefix: string, quote: string): number {
  const raw = /r/i.test(prefix)
  for (let at = start; at < source.length; at++) {
    if (/b/i.test(prefix) && source.charCodeAt(at) > 0x7f) {
      throw new Refused(at, 'a bytes literal holds a character outside of ASCII; write its bytes as `\\xNN`')
    }
    if (source.startsWith(quote, at)) return at + quote.length
    if (source[at] !== '\\') continue
    at++
    // The specification ends a raw string here, and the parser does not.
    if (raw && source.startsWith(quote, at)) {
      throw new Refused(at - 1, 'a raw string has a backslash before a quote; write it without the `r`')
    }
  }
  return source.length
}
