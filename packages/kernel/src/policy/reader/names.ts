// Names and short texts, wherever a policy has one.

import { isName } from '../../names.ts'
import { hasControls, type Place, type Reader } from './read.ts'

/** Names of a policy stand in receipts, or are held against names that do. */
export function checkName(reader: Reader, place: Place, name: string, what: string): void {
  // Taken first: to TypeScript, a string that is no name is nothing.
  const { length } = name
  if (isName(name)) return
  if (length > 256) reader.note(place, `${what} is longer than 256 characters; shorten it`)
  else if (length === 0) reader.note(place, `${what} is empty; write its name, or \`*\` for any`)
  else reader.note(place, `${what} has a control character such as a line break; remove it`)
}

/** The names in a list that is left out for any. An empty one would say nobody and mean everybody. */
export function readNames(
  reader: Reader,
  place: Place | undefined,
  field: string,
  what: string,
  remedy = 'is an empty list; leave it out for any',
): readonly string[] {
  if (!place) return []
  if (reader.isEmptyList(place)) reader.note(place, `${field} ${remedy}`)
  return reader.texts(place, what).map((each) => {
    checkName(reader, each.place, each.text, what)
    return each.text
  })
}

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/

/** Names of rules stand in receipts: each is plain, and there once. Adds it to those that were seen. */
export function checkId(reader: Reader, place: Place, id: string, seen: Set<string>): void {
  if (id !== '' && !ID.test(id)) {
    reader.note(place, 'an `id` is letters, digits, dot, dash and underscore, at most 100')
  }
  if (seen.has(id)) reader.note(place, `the id \`${id.slice(0, 100)}\` is taken; give each rule its own`)
  seen.add(id)
}

/** A text of one line, of at most so many characters. */
export function readShort(reader: Reader, place: Place, what: string, most: number): string | undefined {
  const text = reader.text(place, what)
  if (text === undefined) return undefined
  if (text.length > most) reader.note(place, `${what} is longer than ${most} characters; shorten it`)
  if (hasControls(text))
    reader.note(place, `${what} has a control character; write it in one line, in quotes`)
  return text
}
