// Where the field begins and ends in which a place of a text stands. Tools often answer with YAML or JSON as one text; what an
// attacker has put into one field says nothing about the others.

/** A stretch of a text. */
export interface Stretch {
  readonly start: number
  readonly end: number
}

/** Finds the field around a place. */
type FieldAt = (place: number) => Stretch

/** How a text is divided. One that is neither YAML nor JSON is one field. */
export function fieldsOf(text: string): FieldAt {
  const whole = { start: 0, end: text.length }
  const divided = dividedInto(text)
  return (place) => fieldAt(divided, place) ?? whole
}

/** The fields of a text, in order; none if it is neither YAML nor JSON. */
export function dividedInto(text: string): readonly Stretch[] {
  return isJson(text) ? stringsIn(text) : yamlFieldsIn(text)
}

function fieldAt(fields: readonly Stretch[], place: number): Stretch | undefined {
  let low = 0
  let high = fields.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((fields[middle]?.start ?? 0) <= place) low = middle + 1
    else high = middle
  }
  const field = fields[low - 1]
  return field && place < field.end ? field : undefined
}

const OPENING = /^\s*[[{]\s*["\]}[{\d]/

/** Whether a text looks like JSON. */
export function isJson(text: string): boolean {
  return OPENING.test(text.slice(0, 64))
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** What stands between double quotes. */
function stringsIn(text: string): readonly Stretch[] {
  const found: Stretch[] = []
  for (let start = text.indexOf('"'); start >= 0; start = text.indexOf('"', start)) {
    let end = start + 1
    while (end < text.length && text.charCodeAt(end) !== QUOTE)
      end += text.charCodeAt(end) === BACKSLASH ? 2 : 1
    found.push({ start, end: Math.min(text.length, end + 1) })
    start = end + 1
  }
  return found
}

// `key: …`, `- key: …` and `- …`, as YAML writes them.
const KEY = /^( *)((?:- )*)([\w"'][\w "'.@/()-]{0,60}:(?: |$))?/
const MOST_LINES = 20_000
const MAX_KEY = 80

/** The fields of a text that is written as YAML: each from its key to the next one that is not deeper. */
function yamlFieldsIn(text: string): readonly Stretch[] {
  if (!keyIn(text.slice(0, MAX_KEY).split('\n', 1)[0] ?? '')) return []
  const starts: number[] = []
  let start = 0
  // A text in a field is written deeper than its key: what looks like a key in there is none.
  let within = Infinity
  for (let line = 0; line < MOST_LINES && start < text.length; line++) {
    const next = text.indexOf('\n', start)
    const end = next < 0 ? text.length : next
    const key = keyIn(text.slice(start, Math.min(end, start + MAX_KEY)))
    if (key && key.depth <= within) {
      starts.push(start)
      within = opensText(text, start + key.length, end) ? key.depth : Infinity
    }
    start = end + 1
  }
  return starts.map((from, i) => ({ start: from, end: starts[i + 1] ?? text.length }))
}

/** The key or the dash that a line begins with: how deep it is, and where what it stands for begins. */
function keyIn(line: string): { readonly depth: number; readonly length: number } | undefined {
  const [whole = '', indent = '', dashes = '', name] = KEY.exec(line) ?? []
  if (name !== undefined) return { depth: indent.length + dashes.length, length: whole.length }
  // What goes on in a list is written as deep as what stands behind its dash.
  return dashes === '' ? undefined : { depth: indent.length + dashes.length - 2, length: whole.length }
}

/** Whether a value begins on this line that may go on over the next ones: text that is quoted, or announced as such. */
function opensText(text: string, from: number, end: number): boolean {
  const value = text.slice(from, Math.min(end, from + 4)).trimStart()
  return value !== '' && !value.startsWith('[') && !value.startsWith('{')
}
