// Finds the fields of a text. Tools often return YAML or JSON as one text. Content of one field says nothing about the others.

/** A range of a text. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Returns the field around a position. */
type FieldAt = (place: number) => Span

/** Returns a lookup of fields by position. A text that is neither YAML nor JSON is one field. */
export function fieldsOf(text: string): FieldAt {
  const whole = { start: 0, end: text.length }
  const divided = dividedInto(text)
  return (place) => fieldAt(divided, place) ?? whole
}

/** Returns the fields of a text, in order; none if it is neither YAML nor JSON. */
export function dividedInto(text: string): readonly Span[] {
  return isJson(text) ? stringsIn(text) : yamlFieldsIn(text)
}

function fieldAt(fields: readonly Span[], place: number): Span | undefined {
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

/** Returns whether a text looks like JSON. */
export function isJson(text: string): boolean {
  return OPENING.test(text.slice(0, 64))
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Returns the strings in double quotes. */
function stringsIn(text: string): readonly Span[] {
  const found: Span[] = []
  for (let start = text.indexOf('"'); start >= 0; start = text.indexOf('"', start)) {
    let end = start + 1
    while (end < text.length && text.charCodeAt(end) !== QUOTE)
      end += text.charCodeAt(end) === BACKSLASH ? 2 : 1
    found.push({ start, end: Math.min(text.length, end + 1) })
    start = end + 1
  }
  return found
}

// The YAML forms `key: …`, `- key: …` and `- …`.
const KEY = /^( *)((?:- )*)([\w"'][\w "'.@/()-]{0,60}:(?: |$))?/
const MAX_LINES = 20_000
const MAX_KEY = 80

/** Returns the fields of a YAML text: each from its key to the next key that is not deeper. */
function yamlFieldsIn(text: string): readonly Span[] {
  if (!keyIn(text.slice(0, MAX_KEY).split('\n', 1)[0] ?? '')) return []
  const starts: number[] = []
  let start = 0
  // Text of a field is indented deeper than its key, so a deeper line that looks like a key is text.
  let within = Infinity
  for (let line = 0; line < MAX_LINES && start < text.length; line++) {
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

/** Returns the depth and length of the key or dash at the start of a line. */
function keyIn(line: string): { readonly depth: number; readonly length: number } | undefined {
  const [whole = '', indent = '', dashes = '', name] = KEY.exec(line) ?? []
  if (name !== undefined) return { depth: indent.length + dashes.length, length: whole.length }
  // The members of a list item are as deep as the text after its dash.
  return dashes === '' ? undefined : { depth: indent.length + dashes.length - 2, length: whole.length }
}

/** Returns whether a value begins on this line that can continue on the next ones. */
function opensText(text: string, from: number, end: number): boolean {
  const value = text.slice(from, Math.min(end, from + 4)).trimStart()
  return value !== '' && !value.startsWith('[') && !value.startsWith('{')
}
