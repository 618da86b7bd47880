// Finds words that mix letters of two scripts that look alike.

import { isQuoted } from './context.ts'
import { at, codeAt, startOf, type View } from './view.ts'
import { LOOKS_LIKE } from './lookalikes.ts'
import { LOW, MEDIUM } from './report.ts'
import { note, type ScanState } from './scan-state.ts'

const MIN_WORD_LENGTH = 4
// A disguised word keeps at least this many plain letters.
const MIN_PLAIN_LETTERS = 2

/** Notes Latin words in which a few letters of another script replace Latin ones. */
export function mixedScripts(state: ScanState): void {
  const { view, reading } = state
  for (let i = 0; i + 1 < reading.mixed.length; i += 2) {
    const start = at(reading.mixed, i)
    const end = at(reading.mixed, i + 1)
    const changes = end - start < MIN_WORD_LENGTH ? 0 : scriptChanges(view, start, end)
    // A Russian ending on a foreign word is one change. A disguised letter inside a word makes two.
    if (changes === 0) continue
    const hides = changes > 1 && !isQuoted(view, start, end)
    note(state, 'MIXED_SCRIPT', hides ? MEDIUM : LOW, start, end)
  }
}

/** Counts the script changes in a word; 0 if a letter resembles no Latin letter. */
function scriptChanges(view: View, start: number, end: number): number {
  let changes = 0
  let plain = 0
  let before = -1
  for (let i = start; i < end; i++) {
    const code = codeAt(view, i)
    if (code === 0x27 || code === 0x2019) continue
    if (LOOKS_LIKE[code] === 0) return 0
    const other = code >= 0x370 ? 1 : 0
    if (before >= 0 && other !== before) changes++
    if (view.text.charCodeAt(startOf(view, i)) < 128) plain++
    before = other
  }
  return plain < MIN_PLAIN_LETTERS ? 0 : changes
}
