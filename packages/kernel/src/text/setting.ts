// How a value stands in a text: by itself, in running text, or where something is asked for. Data names its values alone in a field
// or behind a label; who wants something done with a value says so in a sentence. That holds in any language; which sentences ask
// for something is known for some.

import { fieldsOf, type Stretch } from './fields.ts'
import { asksForAction } from './asking.ts'
import { standsInRow } from './row.ts'

/** How a value stands. */
export type Setting = 'plain' | 'prose' | 'ordered'

/** How far around a value is read, in characters. */
const REACH = 320
/** With fewer words around it a value stands alone. */
const FEWEST_WORDS = 4
/** Around so many values of a text is read; of the others it is only known that they stand in it. */
const MOST_READ = 1024

/** How each of the values of a text stands in it. */
export function settingsIn(text: string, values: readonly Stretch[]): readonly Setting[] {
  if (values.length === 0) return []
  const fieldAt = fieldsOf(text)
  let outer: Stretch & { readonly setting: Setting } = { start: 0, end: 0, setting: 'prose' }
  return values.map((value, i) => {
    // A host stands as its page does.
    if (value.start < outer.end) return outer.setting
    const setting = i < MOST_READ ? settingOf(text, value, fieldAt(value.start)) : 'prose'
    outer = { start: value.start, end: value.end, setting }
    return setting
  })
}

function settingOf(text: string, value: Stretch, field: Stretch): Setting {
  const before = text.slice(paragraphStart(text, value.start, field.start), value.start)
  const after = text.slice(value.end, paragraphEnd(text, value.end, field.end))
  const own = lastSentence(before)
  const rest = firstSentence(after)
  // The value stands for a word: it may be the object of what is asked for.
  if (asksForAction(`${own} x ${rest}`)) return 'ordered'
  const isAlone =
    LABELLED.test(own.trimStart()) ||
    wordsIn(own) + wordsIn(rest) < FEWEST_WORDS ||
    standsInRow(text.slice(field.start, field.end), {
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

/** The sentence that a text breaks off in. */
function lastSentence(text: string): string {
  let start = 0
  for (const { index } of text.matchAll(SENTENCE_END)) start = index + 1
  // A short line that is only a label is no part of the sentence before it.
  const line = text.slice(text.lastIndexOf('\n') + 1)
  return line.length < text.length - start && SHORT_LABEL.test(line) ? line : text.slice(start)
}

const SHORT_LABEL = /^.{1,32}[:=]\s{0,3}["'`<]?$/

/** The rest of the sentence or the line that a text goes on with. */
function firstSentence(text: string): string {
  const end = text.search(/[.!?](?=[\s"')\]]|$)|[。！？\n]/u)
  return end < 0 ? text : text.slice(0, end)
}

function wordsIn(text: string): number {
  const spaced = text.match(/[\p{L}\p{N}'’-]+/gu)?.length ?? 0
  // Without spaces between them, two letters are about a word.
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
