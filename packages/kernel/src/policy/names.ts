import { isName } from '../call.ts'
import type { Place, Reader } from './read.ts'

/** Names of a policy stand in receipts, or are held against names that do. */
export function checkName(reader: Reader, place: Place, name: string, what: string): void {
  // Taken first: to TypeScript, a string that is no name is nothing.
  const { length } = name
  if (isName(name)) return
  if (length > 256) reader.note(place, `${what} is longer than 256 characters; shorten it`)
  else if (length === 0) reader.note(place, `${what} is empty; write its name, or \`*\` for any`)
  else reader.note(place, `${what} has a control character such as a line break; remove it`)
}
