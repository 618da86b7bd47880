// Decodes escapes in place: percent codes, HTML entities, and the escapes of JSON and program code.

import { codeAt, endOf, startOf, write, writer, written, type View, type Writer } from './view.ts'

/** The maximum number of decoding rounds. */
const DEPTH = 3

/** Returns the view with its escapes decoded; undefined if there are none. */
export function decodeEscapes(view: View): View | undefined {
  let current: View | undefined
  for (let depth = 0; depth < DEPTH; depth++) {
    const next = decodeOnce(current ?? view)
    if (next === undefined) break
    current = next
  }
  return current
}

function decodeOnce(view: View): View | undefined {
  const first = firstEscape(view)
  if (first === view.length) return undefined
  const out = writer(view.length)
  for (let i = 0; i < view.length;) {
    const code = view.codes[i] ?? 0
    const read = i >= first && mayEscape(code) ? escapeAt(view, i, code, out) : 0
    if (read === 0) write(out, code, startOf(view, i), endOf(view, i))
    i += Math.max(1, read)
  }
  return written(out, view.text, 'decoded')
}

/** Returns the position of the first escape, or the length of the view. Most such signs begin no escape. */
function firstEscape(view: View): number {
  const nowhere = writer(0)
  for (let i = 0; i < view.length; i++) {
    const code = view.codes[i] ?? 0
    if (mayEscape(code) && escapeAt(view, i, code, nowhere) > 0) return i
  }
  return view.length
}

function mayEscape(code: number): boolean {
  return code === 0x25 || code === 0x26 || code === 0x5c
}

/** Decodes the escape at a position; returns its length, or 0 if there is none. */
function escapeAt(view: View, i: number, code: number, out: Writer): number {
  if (code === 0x25) return escapedBytes(view, i, code, out)
  if (code === 0x26) return entity(view, i, out)
  return backslash(view, i, out)
}

/** Writes a character that replaces `size` units; returns `size`. */
function put(view: View, i: number, size: number, point: number, out: Writer): number {
  const from = startOf(view, i)
  const to = endOf(view, i + size - 1)
  if (point > 0xffff) {
    write(out, 0xd800 + ((point - 0x10000) >> 10), from, to)
    write(out, 0xdc00 + (point & 0x3ff), from, to)
  } else write(out, point, from, to)
  return size
}

function digitAt(view: View, i: number, base: number): number {
  const code = codeAt(view, i)
  const digit = code >= 48 && code < 58 ? code - 48 : (code | 32) >= 97 ? (code | 32) - 87 : -1
  return code < 128 && digit < base ? digit : -1
}

/** Returns a hexadecimal number with exactly this many digits; -1 if there is none. */
function numberAt(view: View, i: number, digits: number): number {
  let value = 0
  for (let at = i; at < i + digits; at++) {
    const digit = digitAt(view, at, 16)
    if (digit < 0) return -1
    value = value * 16 + digit
  }
  return value
}

/** Returns the byte that a sign and two digits encode; -1 if there is none. */
export function byteAt(view: View, i: number, sign: number): number {
  return codeAt(view, i) === sign ? numberAt(view, i + 1, 2) : -1
}

/** Decodes one UTF-8 character with escaped bytes. An invalid byte becomes one character. */
export function escapedBytes(view: View, i: number, sign: number, out: Writer): number {
  const first = byteAt(view, i, sign)
  if (first < 0) return 0
  const more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : 0
  let point = more === 0 ? first : first & (0x3f >> more)
  for (let n = 1; n <= more; n++) {
    const next = byteAt(view, i + n * 3, sign)
    if (next < 0x80 || next > 0xbf) return put(view, i, 3, first, out)
    point = point * 64 + (next & 63)
  }
  return put(view, i, (more + 1) * 3, Math.min(point, 0x10ffff), out)
}

const NAMED: ReadonlyMap<string, number> = new Map(
  Object.entries({
    amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', sol: '/', bsol: '\\', colon: ':', semi: ';', comma: ',',
    period: '.', excl: '!', quest: '?', num: '#', dollar: '$', percnt: '%', grave: '`', vert: '|', verbar: '|', lpar: '(',
    rpar: ')', lcub: '{', rcub: '}', lsqb: '[', rsqb: ']', lbrack: '[', rbrack: ']', equals: '=', plus: '+', hyphen: '-',
    lowbar: '_', commat: '@', ast: '*', Tab: '\t', NewLine: '\n', zwnj: '\u200c', zwj: '\u200d', shy: '\u00ad',
    ZeroWidthSpace: '\u200b', auml: 'ä', ouml: 'ö', uuml: 'ü', szlig: 'ß', eacute: 'é', egrave: 'è', agrave: 'à',
    ccedil: 'ç', ntilde: 'ñ', oacute: 'ó', iacute: 'í', atilde: 'ã', otilde: 'õ', mdash: '—', ndash: '–', hellip: '…',
    ldquo: '“', rdquo: '”', lsquo: '‘', rsquo: '’', laquo: '«', raquo: '»', copy: '©',
  }).map(([name, text]) => [name, text.charCodeAt(0)]),
) // oxfmt-ignore
const MAX_NAME = 16

function entity(view: View, i: number, out: Writer): number {
  if (codeAt(view, i + 1) === 0x23) return numbered(view, i, out)
  let name = ''
  for (let at = i + 1; at <= i + MAX_NAME; at++) {
    const code = codeAt(view, at)
    if (code === 0x3b) {
      const point = NAMED.get(name)
      return point === undefined ? 0 : put(view, i, at - i + 1, point, out)
    }
    if ((code | 32) < 97 || (code | 32) > 122) return 0
    name += String.fromCharCode(code)
  }
  return 0
}

/** `&#105;`, `&#x69;`, also without the semicolon and with leading zeros. */
function numbered(view: View, i: number, out: Writer): number {
  const hex = (codeAt(view, i + 2) | 32) === 0x78
  const start = i + (hex ? 3 : 2)
  let end = start
  let point = 0
  for (; end < start + 10; end++) {
    const digit = digitAt(view, end, hex ? 16 : 10)
    if (digit < 0) break
    point = Math.min(point * (hex ? 16 : 10) + digit, 0x110000)
  }
  if (end === start || point > 0x10ffff) return 0
  if (codeAt(view, end) === 0x3b) end++
  return put(view, i, end - i, point, out)
}

/** `\u0069`, `\u{69}`, `\x69`, and short escapes. */
function backslash(view: View, i: number, out: Writer): number {
  switch (codeAt(view, i + 1)) {
    case 0x75:
      return unicode(view, i, out)
    case 0x78: {
      const value = numberAt(view, i + 2, 2)
      return value < 0 ? 0 : put(view, i, 4, value, out)
    }
    case 0x6e:
    case 0x72:
      return put(view, i, 2, 10, out)
    case 0x74:
      return put(view, i, 2, 9, out)
    case 0x22:
    case 0x2f:
    case 0x5c:
      return put(view, i, 2, codeAt(view, i + 1), out)
    default:
      return 0
  }
}

function unicode(view: View, i: number, out: Writer): number {
  const value = numberAt(view, i + 2, 4)
  if (value >= 0) return put(view, i, 6, value, out)
  if (codeAt(view, i + 2) !== 0x7b) return 0
  let point = 0
  for (let at = i + 3; at < i + 10; at++) {
    if (codeAt(view, at) === 0x7d && at > i + 3)
      return point > 0x10ffff ? 0 : put(view, i, at - i + 1, point, out)
    const digit = digitAt(view, at, 16)
    if (digit < 0) return 0
    point = point * 16 + digit
  }
  return 0
}
