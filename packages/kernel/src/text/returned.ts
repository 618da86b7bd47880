// Finds short texts that a tool returned in separate fields: names of people, tables and branches, numbers of records. They are
// not opaque, so they prove no origin. But an agent that uses one did not invent it.

import { dividedInto, isJson, type Span } from './fields.ts'
import type { Spoken } from '../gates/taint/remembered.ts'

const MAX_FIELD_LENGTH = 48
const MAX_FIELDS = 48
const MAX_READ = 16_384
const EMPTY_LINE = /\n[ \t]*\n/
const NAME = /[\p{L}_]/u
const NOT_A_NAME = /@|:\/\/|^(?:true|false|null|none|yes|no|ok)$/iu

/** A field and its position. */
interface Returned extends Span {
  readonly field: Spoken
}

/** Returns the normal form of a field. */
export function fieldOf(text: string): Spoken {
  return { kind: 'field', text: trimmed(text.normalize('NFKC')).toLowerCase() }
}

/** Returns the fields of a tool's text. A short text without data format is one field. */
export function returnedIn(text: string): readonly Returned[] {
  if (text.length <= MAX_FIELD_LENGTH && !text.includes('\n') && !isJson(text))
    return fieldsAt(text, [{ start: 0, end: text.length }])
  const head = headOf(text.slice(0, MAX_READ))
  const divided = dividedInto(head)
  return fieldsAt(head, divided.length > 0 ? divided : cellsIn(head))
}

const CELL = /[^|\n]+/g

/** Returns the cells of a table with bars between columns; none if a line is not a row. */
function cellsIn(text: string): readonly Span[] {
  const lines = text.trimEnd().split('\n')
  if (lines.length < 2 || !lines.every((line) => line.includes('|'))) return []
  return [...text.matchAll(CELL)].map(({ index, 0: cell }) => ({ start: index, end: index + cell.length }))
}

/** Returns the text before the first empty line. After it, the content is written by a person and not by the tool. */
function headOf(text: string): string {
  const end = isJson(text) ? -1 : text.search(EMPTY_LINE)
  return end < 0 ? text : text.slice(0, end)
}

/** A JSON key is followed by a colon. */
const KEY_COLON = /^\s{0,3}:/
const KEY = /^\s*(?:- )*(?:[\w"'][\w "'.@/()-]{0,60}:\s+)?/

function fieldsAt(text: string, spans: readonly Span[]): readonly Returned[] {
  const found: Returned[] = []
  for (const { start, end } of spans) {
    if (found.length >= MAX_FIELDS) break
    if (KEY_COLON.test(text.slice(end, end + 4))) continue
    const whole = text.slice(start, Math.min(end, start + 2 * MAX_FIELD_LENGTH + 64))
    const field = trimmed(whole.slice(KEY.exec(whole)?.[0].length ?? 0))
    const isShort = field.length > 0 && field.length <= MAX_FIELD_LENGTH && !field.includes('\n')
    if (isShort && NAME.test(field) && !NOT_A_NAME.test(field))
      found.push({ start, end, field: fieldOf(field) })
  }
  return found
}

function trimmed(text: string): string {
  return text.replace(/^[\s"'[{(]+/u, '').replace(/[\s"'\]}),]+$/u, '')
}
