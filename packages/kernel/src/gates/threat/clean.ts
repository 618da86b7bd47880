// Cleans a view: removes invisible characters, replaces styled letters by plain ones, and decodes hidden channels into text.
// Reports hidden content.

import * as kind from './characters.ts'
import { bidi, hiddenRun, privateRun, zeroWidth } from './hidden.ts'
import { add, LOW, MEDIUM, type Report } from './report.ts'
import { codeAt, endOf, startOf, write, writer, written, type View, type Writer } from './view.ts'

// A cache of the simpler forms of characters.
const FORMS = new Uint16Array(65_536)
const LONGER = new Map<number, string>()
const IS_LONGER = 0xffff

/** Returns the view without disguise. */
export function cleanView(view: View, report: Report): View {
  const out = writer(view.length + 64)
  const most = view.length * 2 + 64
  for (let i = 0; i < view.length;) {
    const code = view.codes[i] ?? 0
    if (code < 128) {
      write(out, code, startOf(view, i), endOf(view, i))
      i++
    } else if (out.length < most) i = cleanOne(view, i, code, out, report)
    else i++
  }
  return written(out, view.text, view.origin)
}

/** Cleans the character at a position; returns the next position. */
function cleanOne(view: View, i: number, code: number, out: Writer, report: Report): number {
  switch (kind.CLEANING[code]) {
    case kind.INVISIBLE:
      return zeroWidth(view, i, report)
    case kind.BIDI:
      return bidi(view, i, report)
    case kind.MARK:
      return marks(view, i, report)
    case kind.SELECTOR:
      return hiddenRun(view, i, out, report)
    case kind.PRIVATE:
      return privateRun(view, i, out, report)
    case kind.SURROGATE:
      return pair(view, i, code, out, report)
    case kind.BLANK:
      write(out, 32, startOf(view, i), endOf(view, i))
      return i + 1
    case kind.FORM:
      form(view, i, code, out)
      return i + 1
    case kind.STRANGE:
      add(report, 'PRIVATE_USE', LOW, startOf(view, i), endOf(view, i))
      return i + 1
    case undefined:
    default:
      write(out, code, startOf(view, i), endOf(view, i))
      return i + 1
  }
}

// Fully pointed Hebrew has four marks on a letter, and tables of signs have more.
const MANY_MARKS = 16

function marks(view: View, i: number, report: Report): number {
  let end = i + 1
  while (end < view.length && kind.CLEANING[view.codes[end] ?? 0] === kind.MARK) end++
  if (end - i >= MANY_MARKS) add(report, 'STACKED_MARKS', MEDIUM, startOf(view, i), endOf(view, end - 1))
  return end
}

function form(view: View, i: number, code: number, out: Writer): void {
  let plain = FORMS[code] ?? 0
  if (plain === 0) plain = learnForm(code)
  const from = startOf(view, i)
  const to = endOf(view, i)
  if (plain !== IS_LONGER) {
    write(out, plain, from, to)
    return
  }
  const text = LONGER.get(code) ?? ''
  for (let unit = 0; unit < text.length; unit++) write(out, text.charCodeAt(unit), from, to)
}

function learnForm(code: number): number {
  const text = formOf(String.fromCharCode(code))
  const plain = text.length === 1 ? text.charCodeAt(0) : IS_LONGER
  if (plain === IS_LONGER) LONGER.set(code, text)
  FORMS[code] = plain
  return plain
}

/** Returns the letters of a character without combining marks. */
function formOf(character: string): string {
  let text = ''
  for (const unit of character.normalize('NFKD').split('')) {
    if (kind.CLEANING[unit.charCodeAt(0)] !== kind.MARK) text += unit
  }
  return text
}

function pair(view: View, i: number, code: number, out: Writer, report: Report): number {
  const next = i + 1 < view.length ? (view.codes[i + 1] ?? 0) : 0
  if (code >= 0xdc00 || next < 0xdc00 || next > 0xdfff) {
    add(report, 'LONE_SURROGATE', LOW, startOf(view, i), endOf(view, i))
    write(out, 0xfffd, startOf(view, i), endOf(view, i))
    return i + 1
  }
  const point = (code - 0xd800) * 0x400 + (next - 0xdc00) + 0x10000
  // Tags and supplementary selectors.
  if (point >= 0xe0000 && point <= 0xe01ef) return hiddenRun(view, i, out, report)
  if (point >= 0xf0000) return privateRun(view, i, out, report)
  const letter = letterOf(point)
  // Letters written as flags are separate words.
  const flag = point >= 0x1f1e6 && point <= 0x1f1ff
  if (flag && !isFlag(view, i - 2)) write(out, 32, startOf(view, i), endOf(view, i))
  for (const unit of letter.split('')) write(out, unit.charCodeAt(0), startOf(view, i), endOf(view, i + 1))
  if (flag && !isFlag(view, i + 2)) write(out, 32, startOf(view, i + 1), endOf(view, i + 1))
  return i + 2
}

function isFlag(view: View, i: number): boolean {
  const low = i < 0 ? 0 : codeAt(view, i + 1)
  return low >= 0xdde6 && low <= 0xddff && codeAt(view, i) === 0xd83c
}

/** Returns a styled letter as a plain one, and `\ufffd` for other supplementary characters. */
function letterOf(point: number): string {
  if (point >= 0x1d400 && point <= 0x1d7ff) return formOf(String.fromCodePoint(point))
  if (point >= 0x1f1e6 && point <= 0x1f1ff) return String.fromCharCode(point - 0x1f1e6 + 97)
  if (point >= 0x1f130 && point <= 0x1f189) return squared(point)
  return '\ufffd'
}

/** Letters in squares and circles: three alphabets, 32 positions each. */
function squared(point: number): string {
  const index = (point - 0x1f130) & 31
  return index < 26 ? String.fromCharCode(index + 97) : '\ufffd'
}
