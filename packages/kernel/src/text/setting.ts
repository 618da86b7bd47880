// Determines how a value occurs in a text: alone, in running text, or in a request. Data has its values alone in a field or after
// a label. A request for an action on a value is a sentence. This is true in any language, but requests are recognised in some
// languages only.

import { fieldsOf, type Span } from './fields.ts'
import { asksForAction } from './asking.ts'
import { isInRow } from './row.ts'

/** The way a value occurs: alone, in running text, or in a request. */
export type Setting = 'plain' | 'prose' | 'ordered'

/** The maximum distance that is read around a value, in characters. */
const REACH = 320
/** With fewer words around it, a value is alone. */
const MIN_WORDS = 4
/** The context of this many values is read. All others count as running text. */
const MAX_CONTEXTS = 1024

/** Returns the setting of each value of a text. */
export function settingsIn(text: string, values: readonly Span[]): readonly Setting[] {
  if (values.length === 0) return []
  const fieldAt = fieldsOf(text)
  let outer: Span & { readonly setting: Setting } = { start: 0, end: 0, setting: 'prose' }
  return values.map((value, i) => {
    // A host inside a URL has the setting of the URL.
    if (value.start < outer.end) return outer.setting
    const setting = i < MAX_CONTEXTS ? settingOf(text, value, fieldAt(value.start)) : 'prose'
    outer = { start: value.start, end: value.end, setting }
    return setting
  })
}

function settingOf(text: string, value: Span, field: Span): Setting {
  const before = text.slice(paragraphStart(text, value.start, field.start), value.start)
  const after = text.slice(value.end, paragraphEnd(text, value.end, field.end))
  const own = lastSentence(before)
  const rest = firstSentence(after)
  // `x` replaces the value, which may be the object of the request.
  if (asksForAction(`${own} x ${rest}`)) return 'ordered'
  const isAlone =
    LABELLED.test(own.trimStart()) ||
    wordsIn(own) + wordsIn(rest) < MIN_WORDS ||
    isInRow(text.slice(field.start, field.end), {
      start: value.start - field.start,
      end: value.end - field.start,
    })
  const isAsked = before.length > own.length && asksForAction(before)
  if (isAlone) return isAsked ? 'prose' : 'plain'
  return isAsked ? 'ordered' : 'prose'
}

// At most four words, then a colon or a form of "is": "My e-mail is", "IBAN:", "Kontonummer lautet".
const LABELLED =
  /^[^\p{L}\p{N}]{0,8}(?:[\p{L}\p{N}'’/.-]{1,24}[ \t]{1,2}){0,3}[\p{L}\p{N}'’/.#-]{1,24}[ \t]{0,2}(?:[:=：]|(?<=[ \t])(?:is|are|ist|lautet|est|es|è|é|jest|to|это)|是|为|為|は)[\s"'`<([*_]{0,8}$/u

const SENTENCE_END = /[.!?](?=[\s"')\]]|$)|[。！？]|\n(?=[ \t]{0,20}(?:[-*•>|#]|\d{1,2}[.)]))/gu

/** Returns the unfinished last sentence of a text. */
function lastSentence(text: string): string {
  let start = 0
  for (const { index } of text.matchAll(SENTENCE_END)) start = index + 1
  // A short line that is only a label does not belong to the sentence before it.
  const line = text.slice(text.lastIndexOf('\n') + 1)
  return line.length < text.length - start && SHORT_LABEL.test(line) ? line : text.slice(start)
}

const SHORT_LABEL = /^.{1,32}[:=]\s{0,3}["'`<]?$/

/** Returns the text up to the end of its first sentence or line. */
function firstSentence(text: string): string {
  const end = text.search(/[.!?](?=[\s"')\]]|$)|[。！？\n]/u)
  return end < 0 ? text : text.slice(0, end)
}

function wordsIn(text: string): number {
  const spaced = text.match(/[\p{L}\p{N}'’-]+/gu)?.length ?? 0
  // In scripts without spaces, two letters are about one word.
  const dense =
    text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu)?.length ?? 0
  return Math.max(spaced, Math.floor(dense / 2))
}

const EMPTY_LINE = /\n[ \t]{0,80}\n/g

function paragraphStart(text: string, place: number, field: number): number {
  const least = Math.max(field, place - REACH)
  let start = least
  for (const {
    index,
    0: { length },
  } of text.slice(least, place).matchAll(EMPTY_LINE))
    start = least + index + length
  return start
}

function paragraphEnd(text: string, place: number, field: number): number {
  const most = Math.min(field, place + REACH)
  const at = text.slice(place, most).search(EMPTY_LINE)
  return at < 0 ? most : place + at
}
