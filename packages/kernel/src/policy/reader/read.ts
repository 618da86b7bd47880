// Parses YAML files. It reports every mistake at once, each with its place and a remedy.

import { isMap, isScalar, isSeq, LineCounter, type Node } from 'yaml'
import { hasControls, MAX_MISTAKES, oneLine, openDocument, quoted, type Note } from './document.ts'

/** A mistake in a file. */
export interface Mistake {
  readonly line: number
  readonly column: number
  readonly message: string
}

/** A value in a file, with its place. */
export interface Place {
  readonly node: Node | null
  readonly offset: number
}

/** Maximum length of a message; some quote a part of the file. */
const MAX_MESSAGE = 2000

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses a duration such as `15m` to milliseconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, digits, unit] = /^([1-9][0-9]{0,5})(s|m|h|d)$/.exec(text) ?? []
  return digits === undefined || unit === undefined ? undefined : Number(digits) * (UNITS[unit] ?? 0)
}

/** Starts to parse a file. */
export function readYaml(text: string): Reader {
  return new Reader(text)
}

/** Returns the first mistakes by place, and the number of the others. */
export function firstMistakes(mistakes: readonly Mistake[]): readonly Mistake[] {
  const sorted = mistakes.toSorted((a, b) => a.line - b.line || a.column - b.column)
  const next = sorted[MAX_MISTAKES]
  const more = sorted.length - MAX_MISTAKES
  // One more mistake takes no more space than its count.
  if (next === undefined || more === 1) return sorted
  return [...sorted.slice(0, MAX_MISTAKES), { ...next, message: `and ${more} more mistakes after this line` }]
}

/** A file that is being parsed. Mistakes are noted, and parsing continues with the next part. */
export class Reader {
  readonly root: Place
  readonly mistakes: readonly Mistake[]
  readonly #noteAt: Note
  readonly #lines: LineCounter

  constructor(text: string) {
    const lines = linesOf(text)
    const mistakes: Mistake[] = []
    this.#lines = lines
    this.#noteAt = (offset, message) => {
      const { line, col } = lines.linePos(offset)
      mistakes.push({ line, column: col, message: oneLine(message, MAX_MESSAGE) })
    }
    this.mistakes = mistakes
    this.root = { node: openDocument(text, this.#noteAt)?.contents ?? null, offset: 0 }
  }

  /** Returns the line of a place, from 1. */
  line({ offset }: Place): number {
    return this.#lines.linePos(offset).line
  }

  /** Notes a mistake at a place, plus `inside` characters. */
  note({ offset }: Place, message: string, inside = 0): void {
    this.#noteAt(offset + inside, message)
  }

  /** Notes a mistake if there is no value. */
  #orNote<T>(place: Place, value: T | undefined, message: string): T | undefined {
    if (value === undefined) this.note(place, message)
    return value
  }

  /** Returns the members of a mapping by name; unknown names are mistakes. Undefined if it is not a mapping. */
  fields<Name extends string>(
    place: Place,
    names: readonly Name[],
  ): Partial<Record<Name, Place>> | undefined {
    if (!isMap(place.node)) {
      this.note(place, `must be a mapping of ${names.map(quoted).join(', ')}`)
      return undefined
    }
    const found: Partial<Record<Name, Place>> = {}
    for (const { name, key, value } of this.entries(place, '')) {
      const known = names.find((each) => each === name)
      if (known !== undefined) found[known] = value
      else this.note(key, `${quoted(name)} is not known here; ${suggestion(name, names)}`)
    }
    return found
  }

  /** Returns the members of a mapping with free names. */
  entries(
    place: Place,
    what: string,
  ): readonly { readonly name: string; readonly key: Place; readonly value: Place }[] {
    if (!isMap(place.node)) {
      this.note(place, `${what} must be a mapping; write \`name: value\` lines below it`)
      return []
    }
    return place.node.items.flatMap(({ key, value }) => {
      const at = placeOf(key as Node | null, place.offset)
      const name = scalarAt(at)
      if (typeof name === 'string')
        return [{ name, key: at, value: placeOf(value as Node | null, at.offset) }]
      this.note(at, 'a name must be text; put it in quotes')
      return []
    })
  }

  /** Returns the items of a list. */
  items(place: Place, what: string): readonly Place[] {
    return (
      this.#orNote(place, itemsAt(place), `${what} must be a list; write \`[a, b]\` or \`- \` lines`) ?? []
    )
  }

  /** Returns whether it is an empty list. */
  isEmptyList(place: Place): boolean {
    return itemsAt(place)?.length === 0
  }

  /** Returns a list of texts, or one text as a list. */
  texts(place: Place, what: string): readonly { readonly text: string; readonly place: Place }[] {
    return (itemsAt(place) ?? [place]).flatMap((each) => {
      const text = this.text(each, what)
      return text === undefined ? [] : [{ text, place: each }]
    })
  }

  /** Returns a non-empty text. */
  text(place: Place, what: string): string | undefined {
    return this.#orNote(place, textAt(place), `${what} must be text; ${QUOTES}`)
  }

  /** Returns a non-empty text without line breaks or other control characters. */
  textLine(place: Place, what: string): string | undefined {
    const text = textAt(place)
    const line = text === undefined || hasControls(text) ? undefined : text
    return this.#orNote(place, line, `${what} must be text in one line; ${QUOTES}`)
  }

  /** Returns one of a closed list of words. */
  word<W extends string>(place: Place, what: string, words: readonly W[]): W | undefined {
    const value = scalarAt(place)
    const found = words.find((each) => each === value)
    if (found === undefined) this.note(place, `${what} must be one of ${words.map(quoted).join(', ')}`)
    return found
  }

  /** Returns a mapping with one of a closed list of words per key. Missing keys get their defaults. */
  words<Name extends string, Word extends string>(
    place: Place | undefined,
    words: readonly Word[],
    otherwise: Readonly<Record<Name, Word>>,
    // Safe cast: the defaults have all keys.
    names: readonly Name[] = Object.keys(otherwise) as Name[],
  ): Readonly<Record<Name, Word>> {
    const fields = place && this.fields(place, names)
    const read: Record<Name, Word> = { ...otherwise }
    for (const name of names) {
      const at = fields?.[name]
      if (at) read[name] = this.word(at, `\`${name}\``, words) ?? otherwise[name]
    }
    return read
  }

  /** Returns a number between two bounds. */
  number(place: Place, what: string, least: number, most: number): number | undefined {
    return this.#orNote(
      place,
      numberAt(place, least, most),
      `${what} must be a number from ${least} to ${most}`,
    )
  }

  /** Returns an integer between two bounds. */
  whole(place: Place, what: string, least: number, most: number): number | undefined {
    const value = numberAt(place, least, most)
    const whole = Number.isInteger(value) ? value : undefined
    return this.#orNote(place, whole, `${what} must be a whole number from ${least} to ${most}`)
  }

  /** Returns a duration such as `15m`, in milliseconds. */
  duration(place: Place, what: string, most: number): number | undefined {
    const length = parseDuration(textAt(place) ?? '')
    const short = length !== undefined && length <= most ? length : undefined
    const days = most / 86_400_000
    return this.#orNote(
      place,
      short,
      `${what} must be a time such as \`30s\`, \`15m\`, \`2h\` or \`7d\`, at most ${days} days`,
    )
  }

  flag(place: Place, what: string): boolean | undefined {
    const value = scalarAt(place)
    return this.#orNote(
      place,
      typeof value === 'boolean' ? value : undefined,
      `${what} must be true or false`,
    )
  }

  /** Returns the value as plain data. */
  plain({ node }: Place): unknown {
    return node === null ? null : (node.toJSON() as unknown)
  }
}

const QUOTES = 'put it in quotes if it looks like something else'

function linesOf(text: string): LineCounter {
  const lines = new LineCounter()
  lines.addNewLine(0)
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1)
  return lines
}

function scalarAt({ node }: Place): unknown {
  return isScalar(node) ? node.value : undefined
}

function textAt(place: Place): string | undefined {
  const value = scalarAt(place)
  return typeof value === 'string' && value !== '' ? value : undefined
}

function numberAt(place: Place, least: number, most: number): number | undefined {
  const value = scalarAt(place)
  return typeof value === 'number' && value >= least && value <= most ? value : undefined
}

function itemsAt({ node, offset }: Place): readonly Place[] | undefined {
  return isSeq(node) ? node.items.map((item) => placeOf(item as Node | null, offset)) : undefined
}

function placeOf(node: Node | null, otherwise: number): Place {
  return { node, offset: node?.range?.[0] ?? otherwise }
}

function suggestion(name: string, names: readonly string[]): string {
  const near = names.find((each) => isNear(each, name))
  return near === undefined ? `write one of ${names.map(quoted).join(', ')}` : `did you mean ${quoted(near)}?`
}

/** Returns whether two names differ by one typo: a letter more, less, changed, or two swapped. */
function isNear(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false
  let i = 0
  while (i < a.length && a[i] === b[i]) i++
  const rest = (text: string, skip: number): string => text.slice(i + skip)
  const swapped = a[i] === b[i + 1] && a[i + 1] === b[i] && rest(a, 2) === rest(b, 2)
  return rest(a, 1) === rest(b, 1) || rest(a, 1) === rest(b, 0) || rest(a, 0) === rest(b, 1) || swapped
}
