// Parses lists of hostnames in a policy.

import { parseHostPattern, type HostPattern } from '../../destinations/pattern.ts'
import type { Place, Reader } from './read.ts'

/** Returns the patterns of a list of hostnames; empty if the list is missing. */
export function readHosts(reader: Reader, place: Place | undefined, what: string): readonly HostPattern[] {
  if (!place) return []
  return reader.texts(place, what).flatMap(({ text, place: at }) => {
    const pattern = parseHostPattern(text)
    if (typeof pattern !== 'string') return [pattern]
    reader.note(at, pattern)
    return []
  })
}
