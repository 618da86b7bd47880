// Lists of hosts, wherever a policy has one.

import { parseHostPattern, type HostPattern } from '../../destinations/pattern.ts'
import type { Place, Reader } from './read.ts'

/** The patterns of a list of hosts; one that is left out is empty. */
export function readHosts(reader: Reader, place: Place | undefined, what: string): readonly HostPattern[] {
  if (!place) return []
  return reader.texts(place, what).flatMap(({ text, place: at }) => {
    const pattern = parseHostPattern(text)
    if (typeof pattern !== 'string') return [pattern]
    reader.note(at, pattern)
    return []
  })
}
