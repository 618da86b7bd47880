// Labels of data, wherever a policy names them.

import type { Place, Reader } from './read.ts'

const LABEL = /^[a-z][a-z0-9-]{0,31}$/

/** Reads a list of labels, or one label; `what` names the list. What is no label, or here twice, is a mistake. */
export function readLabels(reader: Reader, place: Place, what: string): readonly string[] {
  const labels = new Set<string>()
  for (const { text, place: at } of reader.texts(place, `a label in ${what}`)) {
    if (!checkLabel(reader, at, text)) continue
    if (labels.has(text)) reader.note(at, `\`${text}\` is twice in ${what}; remove one of the two`)
    labels.add(text)
  }
  return [...labels]
}

/** Whether a text is a label; one that is none is a mistake. */
export function checkLabel(reader: Reader, place: Place, text: string): boolean {
  if (LABEL.test(text)) return true
  const written = text.length > 60 ? `${text.slice(0, 60)}…` : text
  const rule = 'a small letter, then small letters, digits and dashes, at most 32'
  reader.note(place, `\`${written}\` is no label; write ${rule}, such as \`personal\``)
  return false
}
