// Which values of a text carry the labels that were found in it by shape: those that the data itself is, and those that stand in one
// field with it. An address does not become personal data because a card number stands further down on the same page.

import { dividedInto, type Stretch } from './fields.ts'

/** A part of a text that carries a label. */
interface Labelled extends Stretch {
  readonly label: string
}

/** A longer stretch, or one of several lines, is running text and no field of data. */
const MAX_FIELD = 200
/** A text that is not written as data is one field if it is as short as this. */
const MAX_ALONE = 48

/** The labels of each of the values, which are in the order in which they start. Takes time in line with their number. */
export function labelsOfValues(
  text: string,
  marks: readonly Labelled[],
  values: readonly Stretch[],
): readonly (readonly string[])[] {
  if (marks.length === 0 || values.length === 0) return values.map(() => NONE)
  const fields = dataFieldsIn(text)
  const labels = [...new Set(marks.map(({ label }) => label))].sort()
  const found: string[][] = values.map(() => [])
  for (const label of labels) {
    const own = joined(marks.filter((mark) => mark.label === label))
    // First the fields that such data stands in, then what these and the data cover.
    const holding = overlapping(own, fields)
    const around = fields.filter((_, i) => holding[i])
    overlapping(joined([...own, ...around]), values).forEach((is, i) => is && found[i]?.push(label))
  }
  return found
}

const NONE: readonly string[] = []

/** The fields of a text that hold data, in order. */
function dataFieldsIn(text: string): readonly Stretch[] {
  const divided = dividedInto(text)
  if (divided.length > 0) return divided.filter(({ start, end }) => isField(text.slice(start, end)))
  return text.length <= MAX_ALONE && !text.includes('\n') ? [{ start: 0, end: text.length }] : []
}

function isField(text: string): boolean {
  return text.length <= MAX_FIELD && !text.trim().includes('\n')
}

/** The same places as stretches that do not touch, in order. */
function joined(stretches: readonly Stretch[]): readonly Stretch[] {
  const found: Stretch[] = []
  for (const { start, end } of [...stretches].sort((a, b) => a.start - b.start)) {
    const last = found.at(-1)
    if (last && start <= last.end)
      found[found.length - 1] = { start: last.start, end: Math.max(last.end, end) }
    else found.push({ start, end })
  }
  return found
}

/** Which of these, in the order in which they start, share a character with one of those that do not touch. */
function overlapping(apart: readonly Stretch[], stretches: readonly Stretch[]): readonly boolean[] {
  let next = 0
  return stretches.map(({ start, end }) => {
    while ((apart[next]?.end ?? Infinity) <= start) next++
    return (apart[next]?.start ?? Infinity) < end
  })
}
