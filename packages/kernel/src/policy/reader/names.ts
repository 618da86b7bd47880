// Parses names, labels and short texts in a policy.

import { isName } from '../../names.ts'
import { hasControls } from './document.ts'
import type { Place, Reader } from './read.ts'

/** Notes a mistake if a name is invalid. Names appear in receipts or are compared with names in receipts. */
export function checkName(reader: Reader, place: Place, name: string, what: string): void {
  // Read first, because TypeScript narrows a string that is not a name to `never`.
  const { length } = name
  if (isName(name)) return
  if (length > 256) reader.note(place, `${what} is longer than 256 characters; shorten it`)
  else if (length === 0) reader.note(place, `${what} is empty; write its name, or \`*\` for any`)
  else reader.note(place, `${what} has a control character such as a line break; remove it`)
}

/** Parses an optional list of names. An empty list is a mistake, because it would match everything instead of nothing. */
export function readNames(
  reader: Reader,
  place: Place | undefined,
  field: string,
  what: string,
  remedy = 'is an empty list; remove it to match any',
): readonly string[] {
  if (!place) return []
  if (reader.isEmptyList(place)) reader.note(place, `${field} ${remedy}`)
  return reader.texts(place, what).map((each) => {
    checkName(reader, each.place, each.text, what)
    return each.text
  })
}

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/

/** Checks the id of a rule and adds it to `seen`. Ids appear in receipts, so they must be plain and unique. */
export function checkId(reader: Reader, place: Place, id: string, seen: Set<string>): void {
  if (id !== '' && !ID.test(id)) {
    reader.note(place, 'an `id` may only have letters, digits, dots, dashes and underscores, at most 100')
  }
  if (seen.has(id))
    reader.note(place, `the id \`${id.slice(0, 100)}\` is already used; give each rule its own`)
  seen.add(id)
}

/** Parses a text of one line with at most `most` characters. */
export function readShort(reader: Reader, place: Place, what: string, most: number): string | undefined {
  const text = reader.text(place, what)
  if (text === undefined) return undefined
  if (text.length > most) reader.note(place, `${what} is longer than ${most} characters; shorten it`)
  if (hasControls(text))
    reader.note(place, `${what} has a control character; write it in one line, in quotes`)
  return text
}

const LABEL = /^[a-z][a-z0-9-]{0,31}$/

/** Parses a list of labels, or one label; `what` names the list. Invalid and repeated labels are mistakes. */
export function readLabels(reader: Reader, place: Place, what: string): readonly string[] {
  const labels = new Set<string>()
  for (const { text, place: at } of reader.texts(place, `a label in ${what}`)) {
    if (!checkLabel(reader, at, text)) continue
    if (labels.has(text)) reader.note(at, `\`${text}\` appears twice in ${what}; remove one`)
    labels.add(text)
  }
  return [...labels]
}

/** Returns whether a text is a label, and notes a mistake if not. */
export function checkLabel(reader: Reader, place: Place, text: string): boolean {
  if (LABEL.test(text)) return true
  const written = text.length > 60 ? `${text.slice(0, 60)}…` : text
  const rule = 'a lowercase letter, then lowercase letters, digits and dashes, at most 32 characters'
  reader.note(place, `\`${written}\` is not a label; write ${rule}, such as \`personal\``)
  return false
}
