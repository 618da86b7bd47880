// Reading a YAML file of ours: every mistake at once, each with its place and what to write instead.

import { isMap, isScalar, isSeq, LineCounter, parseDocument, visit, type Document, type Node } from 'yaml'

/** Something wrong in a file. */
export interface Mistake {
  readonly line: number
  readonly column: number
  readonly message: string
}

/** A value in a file, at its place. */
export interface Place {
  readonly node: Node | null
  readonly offset: number
}

/** Longest file, in characters. */
const MAX_LENGTH = 1 << 20

/** A file being read. What is wrong is noted, and reading goes on with the next part. */
export interface Reader {
  readonly root: Place
  readonly mistakes: readonly Mistake[]
  /** The line of a place, from 1. */
  line(place: Place): number
  /** Notes a mistake at a place, `inside` characters further on. */
  note(place: Place, message: string, inside?: number): void
  /** The members of a mapping by name; unknown names are mistakes. Undefined if it is no mapping. */
  fields<Name extends string>(place: Place, names: readonly Name[]): Partial<Record<Name, Place>> | undefined
  /** The members of a mapping whose names are free. */
  entries(
    place: Place,
    what: string,
  ): readonly { readonly name: string; readonly key: Place; readonly value: Place }[]
  /** The items of a list. */
  items(place: Place, what: string): readonly Place[]
  /** A text that is not empty. */
  text(place: Place, what: string): string | undefined
  /** A list of texts, or one text. */
  texts(place: Place, what: string): readonly { readonly text: string; readonly place: Place }[]
  /** One of a closed list of words. */
  word<W extends string>(place: Place, what: string, words: readonly W[]): W | undefined
  /** A number between two bounds. */
  number(place: Place, what: string, least: number, most: number): number | undefined
  /** A stretch of time such as `15m`, in milliseconds. */
  duration(place: Place, what: string, most: number): number | undefined
  flag(place: Place, what: string): boolean | undefined
  /** The value as plain data. */
  plain(place: Place): unknown
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A stretch of time as our files write it, in milliseconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, digits, unit] = /^([1-9][0-9]{0,5})(s|m|h|d)$/.exec(text) ?? []
  return digits === undefined || unit === undefined ? undefined : Number(digits) * (UNITS[unit] ?? 0)
}

/** Starts reading a file. */
export function readYaml(text: string): Reader {
  const lines = new LineCounter()
  const mistakes: Mistake[] = []
  const noteAt = (offset: number, message: string): void => {
    const { line, col } = lines.linePos(offset)
    mistakes.push({ line: Math.max(line, 1), column: Math.max(col, 1), message })
  }
  const document = open(text, lines, noteAt)
  const root = { node: document?.contents ?? null, offset: 0 }
  return {
    ...readerOf(noteAt),
    root,
    mistakes,
    line: ({ offset }) => Math.max(lines.linePos(offset).line, 1),
  }
}

function open(
  text: string,
  lines: LineCounter,
  note: (offset: number, message: string) => void,
): Document | undefined {
  if (text.length > MAX_LENGTH) {
    note(0, `the file is longer than ${MAX_LENGTH} characters; split what it describes`)
    return undefined
  }
  const document = parseDocument(text, { lineCounter: lines, strict: true, uniqueKeys: true, version: '1.2' })
  for (const { pos, message } of [...document.errors, ...document.warnings]) {
    note(pos[0], `not readable as YAML: ${firstLine(message)}`)
  }
  if (document.errors.length > 0) return undefined
  refuseCleverness(document, note)
  return document
}

/** A policy is read by people: what stands there is all there is. */
function refuseCleverness(document: Document, note: (offset: number, message: string) => void): void {
  visit(document, {
    Alias: (_, { range }) => note(range?.[0] ?? 0, 'an alias is not allowed here; write the value out'),
    Node: (_, node) => {
      const { anchor, tag, range } = node
      if (anchor !== undefined) note(range?.[0] ?? 0, 'an anchor is not allowed here; write the value out')
      if (tag !== undefined) note(range?.[0] ?? 0, 'a tag is not allowed here; remove it')
    },
  })
}

function firstLine(message: string): string {
  const [first = ''] = message.split('\n')
  return first.replace(/ at line \d+, column \d+:?$/, '')
}

type Note = (offset: number, message: string) => void

function readerOf(noteAt: Note): Omit<Reader, 'root' | 'mistakes' | 'line'> {
  const note = ({ offset }: Place, message: string, inside = 0): void => noteAt(offset + inside, message)
  const scalar = (place: Place): unknown => (isScalar(place.node) ? place.node.value : undefined)

  const entries: Reader['entries'] = (place, what) => {
    if (!isMap(place.node)) {
      note(place, `${what} must be a mapping; write \`name: value\` lines below it`)
      return []
    }
    return place.node.items.flatMap(({ key, value }) => {
      const at = placeOf(key as Node | null, place.offset)
      const name = scalar(at)
      if (typeof name !== 'string') {
        note(at, 'a name must be text; put it in quotes')
        return []
      }
      return [{ name, key: at, value: placeOf(value as Node | null, at.offset) }]
    })
  }

  const text: Reader['text'] = (place, what) => {
    const value = scalar(place)
    if (typeof value === 'string' && value !== '') return value
    note(place, `${what} must be text; put it in quotes if it looks like something else`)
    return undefined
  }

  return {
    note,
    entries,
    text,
    fields(place, names) {
      if (!isMap(place.node)) {
        note(place, `must be a mapping of ${names.map(quoted).join(', ')}`)
        return undefined
      }
      const found: Partial<Record<(typeof names)[number], Place>> = {}
      for (const { name, key, value } of entries(place, '')) {
        const known = names.find((each) => each === name)
        if (known !== undefined) found[known] = value
        else note(key, `${quoted(name)} is not known here; ${suggestion(name, names)}`)
      }
      return found
    },
    items(place, what) {
      if (isSeq(place.node)) return place.node.items.map((item) => placeOf(item as Node | null, place.offset))
      note(place, `${what} must be a list; write \`[a, b]\` or \`- \` lines`)
      return []
    },
    texts(place, what) {
      const places = isSeq(place.node)
        ? place.node.items.map((item) => placeOf(item as Node | null, place.offset))
        : [place]
      return places.flatMap((each) => {
        const value = text(each, what)
        return value === undefined ? [] : [{ text: value, place: each }]
      })
    },
    word(place, what, words) {
      const value = scalar(place)
      const found = words.find((each) => each === value)
      if (found === undefined) note(place, `${what} must be one of ${words.map(quoted).join(', ')}`)
      return found
    },
    number(place, what, least, most) {
      const value = scalar(place)
      if (typeof value === 'number' && value >= least && value <= most) return value
      note(place, `${what} must be a number from ${least} to ${most}`)
      return undefined
    },
    duration(place, what, most) {
      const value = scalar(place)
      const length = typeof value === 'string' ? parseDuration(value) : undefined
      if (length !== undefined && length <= most) return length
      note(
        place,
        `${what} must be a time such as \`30s\`, \`15m\`, \`2h\` or \`7d\`, at most ${most / 86_400_000} days`,
      )
      return undefined
    },
    flag(place, what) {
      const value = scalar(place)
      if (typeof value === 'boolean') return value
      note(place, `${what} must be true or false`)
      return undefined
    },
    plain: ({ node }) => (node === null ? null : (node.toJSON() as unknown)),
  }
}

function placeOf(node: Node | null, otherwise: number): Place {
  return { node, offset: node?.range?.[0] ?? otherwise }
}

function quoted(name: string): string {
  return `\`${name.slice(0, 60)}\``
}

function suggestion(name: string, names: readonly string[]): string {
  const near = names.find((each) => isNear(each, name))
  return near === undefined ? `write one of ${names.map(quoted).join(', ')}` : `did you mean ${quoted(near)}?`
}

/** One slip of the finger apart: a letter more, less, other, or two swapped. */
function isNear(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false
  let i = 0
  while (i < a.length && a[i] === b[i]) i++
  const rest = (text: string, skip: number): string => text.slice(i + skip)
  const swapped = a[i] === b[i + 1] && a[i + 1] === b[i] && rest(a, 2) === rest(b, 2)
  return rest(a, 1) === rest(b, 1) || rest(a, 1) === rest(b, 0) || rest(a, 0) === rest(b, 1) || swapped
}
