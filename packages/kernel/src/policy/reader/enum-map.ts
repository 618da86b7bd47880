import type { Place, Reader } from './read.ts'

/** Reads a mapping that has one of a closed list of words for each of its keys; what is not said has its default. */
export function readEnumMap<Name extends string, Word extends string>(
  reader: Reader,
  place: Place | undefined,
  words: readonly Word[],
  otherwise: Readonly<Record<Name, Word>>,
  // Sound: the defaults have each of the keys.
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
