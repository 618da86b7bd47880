import type { Place, Reader } from './read.ts'

/** Parses a mapping with one of a closed list of words per key. Missing keys get their defaults. */
export function readEnumMap<Name extends string, Word extends string>(
  reader: Reader,
  place: Place | undefined,
  words: readonly Word[],
  otherwise: Readonly<Record<Name, Word>>,
  // Safe cast: the defaults have all keys.
  names: readonly Name[] = Object.keys(otherwise) as Name[],
): Readonly<Record<Name, Word>> {
  const fields = place && reader.fields(place, names)
  const read: Record<Name, Word> = { ...otherwise }
  for (const name of names) {
    const at = fields?.[name]
    if (at) read[name] = reader.word(at, `\`${name}\``, words) ?? otherwise[name]
  }
  return read
}
