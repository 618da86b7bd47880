// Short texts that a tool has returned by themselves, in a field of their own: names of people, tables and branches, numbers of
// records. They are not opaque, so they prove nothing; but who acts on one has not made it up.

import { dividedInto, isJson, type Stretch } from './fields.ts'
import type { Spoken } from '../gates/taint/remembered.ts'

const LONGEST = 48
const MOST_FIELDS = 48
const MOST_READ = 16_384
const EMPTY_LINE = /\n[ \t]*\n/
const NAME = /[\p{L}_]/u
const NO_NAME = /@|:\/\/|^(?:true|false|null|none|yes|no|ok)$/iu

/** A field and where it stands. */
interface Returned extends Stretch {
  readonly field: Spoken
}

/** What a text is called as a field. */
export function fieldOf(text: string): Spoken {
  return { kind: 'field', text: trimmed(text.normalize('NFKC')).toLowerCase() }
}

/** The fields of a text that a tool returned. A text that is not written as data is one field, if it is short. */
export function returnedIn(text: string): readonly Returned[] {
  if (text.length <= LONGEST && !text.includes('\n') && !isJson(text))
    return fieldsAt(text, [{ start: 0, end: text.length }])
  const head = headOf(text.slice(0, MOST_READ))
  const divided = dividedInto(head)
  return fieldsAt(head, divided.length > 0 ? divided : cellsIn(head))
}

const CELL = /[^|\n]+/g

/** The cells of a table whose columns are told apart by bars; none if a line is no row of it. */
function cellsIn(text: string): readonly Stretch[] {
  const lines = text.trimEnd().split('\n')
  if (lines.length < 2 || !lines.every((line) => line.includes('|'))) return []
  return [...text.matchAll(CELL)].map(({ index, 0: cell }) => ({ start: index, end: index + cell.length }))
}

/** Behind an empty line begins what somebody has written, not the tool. */
function headOf(text: string): string {
  const end = isJson(text) ? -1 : text.search(EMPTY_LINE)
  return end < 0 ? text : text.slice(0, end)
}

/** What stands behind a name of JSON. */
const AS_KEY = /^\s{0,3}:/
const KEY = /^\s*(?:- )*(?:[\w"'][\w "'.@/()-]{0,60}:\s+)?/

function fieldsAt(text: string, stretches: readonly Stretch[]): readonly Returned[] {
  const found: Returned[] = []
  for (const { start, end } of stretches) {
    if (found.length >= MOST_FIELDS) break
    if (AS_KEY.test(text.slice(end, end + 4))) continue
    const whole = text.slice(start, Math.min(end, start + 2 * LONGEST + 64))
    const field = trimmed(whole.slice(KEY.exec(whole)?.[0].length ?? 0))
    const isShort = field.length > 0 && field.length <= LONGEST && !field.includes('\n')
    if (isShort && NAME.test(field) && !NO_NAME.test(field)) found.push({ start, end, field: fieldOf(field) })
  }
  return found
}

function trimmed(text: string): string {
  return text.replace(/^[\s"'[{(]+/u, '').replace(/[\s"'\]}),]+$/u, '')
}
