// Parses labels of data in a policy.

import type { Place, Reader } from './read.ts'

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
