// Decides which values of a text get the labels that were found in it: the labelled data and the values in the same field. An
// address is not personal data because a card number is further down on the same page.

import { dividedInto, type Span } from './fields.ts'

/** A labelled range of a text. */
interface Labelled extends Span {
  readonly label: string
}

/** A longer field, or one with several lines, is running text and not data. */
const MAX_FIELD = 200
/** A text without data format is one field up to this length. */
const MAX_SHORT_TEXT = 48

/** Returns the labels of each value. The values must be sorted by start. The time is linear in their number. */
export function labelsOfValues(
  text: string,
  marks: readonly Labelled[],
  values: readonly Span[],
): readonly (readonly string[])[] {
  if (marks.length === 0 || values.length === 0) return values.map(() => NONE)
  const fields = dataFieldsIn(text)
  const labels = [...new Set(marks.map(({ label }) => label))].sort()
  const found: string[][] = values.map(() => [])
  for (const label of labels) {
    const own = mergedSpans(marks.filter((mark) => mark.label === label))
    // Finds the fields with such data first, then the values that overlap these fields or the data.
    const holding = overlapping(own, fields)
    const around = fields.filter((_, i) => holding[i])
    overlapping(mergedSpans([...own, ...around]), values).forEach((is, i) => is && found[i]?.push(label))
  }
  return found
}

const NONE: readonly string[] = []

/** Returns the data fields of a text, in order. */
function dataFieldsIn(text: string): readonly Span[] {
  const divided = dividedInto(text)
  if (divided.length > 0) return divided.filter(({ start, end }) => isField(text.slice(start, end)))
  return text.length <= MAX_SHORT_TEXT && !text.includes('\n') ? [{ start: 0, end: text.length }] : []
}

function isField(text: string): boolean {
  return text.length <= MAX_FIELD && !text.trim().includes('\n')
}

/** Returns the ranges sorted and merged. */
function mergedSpans(spans: readonly Span[]): readonly Span[] {
  const found: Span[] = []
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    const last = found.at(-1)
    if (last && start <= last.end)
      found[found.length - 1] = { start: last.start, end: Math.max(last.end, end) }
    else found.push({ start, end })
  }
  return found
}

/** Returns for each range, sorted by start, whether it overlaps one of the merged ranges. */
function overlapping(merged: readonly Span[], spans: readonly Span[]): readonly boolean[] {
  let next = 0
  return spans.map(({ start, end }) => {
    while ((merged[next]?.end ?? Infinity) <= start) next++
    return (merged[next]?.start ?? Infinity) < end
  })
}
