// Reading `tollgate.yaml`: every mistake is noted with its place and what to write instead, and reading goes on.

import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
} from 'yaml'

/** Something wrong in the file. */
export interface ConfigMistake {
  readonly line: number
  readonly column: number
  readonly message: string
}

/** A value in the file, at its place. */
export interface Place {
  readonly node: Node | null
  readonly offset: number
}

/** The file being read. */
export interface ConfigReader {
  readonly root: Place
  /** What is wrong so far, in the order of the file. */
  mistakes(): readonly ConfigMistake[]
  note(place: Place, message: string): void
  /** The members of a mapping by name; unknown names are mistakes. Undefined if it is no mapping. */
  fields<Name extends string>(place: Place, names: readonly Name[]): Partial<Record<Name, Place>> | undefined
  /** The items of a list. */
  items(place: Place, what: string): readonly Place[]
  /** A text that is not empty. */
  text(place: Place, what: string): string | undefined
  /** One of a closed list of words. */
  word<W extends string>(place: Place, what: string, words: readonly W[]): W | undefined
  /** Yes or no. */
  flag(place: Place, what: string): boolean | undefined
  /** A whole number between two bounds. */
  whole(place: Place, what: string, least: number, most: number): number | undefined
  /** A number with one of these units, such as `30d`; the answer is in the smallest. */
  measure(place: Place, form: Measure): number | undefined
}

/** How a quantity is written. */
export interface Measure {
  readonly what: string
  readonly units: Readonly<Record<string, number>>
  readonly least: number
  readonly most: number
  /** What to write, for the message. */
  readonly example: string
}

const MAX_LENGTH = 1 << 16

/** Starts reading a text. */
export function readConfigText(text: string): ConfigReader {
  const lines = new LineCounter()
  const found: ConfigMistake[] = []
  const noteAt = (offset: number, message: string): void => {
    const { line, col } = lines.linePos(offset)
    found.push({ line: Math.max(line, 1), column: Math.max(col, 1), message })
  }
  const document = openDocument(text, lines, noteAt)
  return {
    ...valueReader(({ offset }, message) => noteAt(offset, message)),
    root: placeOf(document?.contents ?? null, 0),
    mistakes: () => found.toSorted((a, b) => a.line - b.line || a.column - b.column),
  }
}

function openDocument(
  text: string,
  lineCounter: LineCounter,
  note: (offset: number, message: string) => void,
): Document | undefined {
  if (text.length > MAX_LENGTH) {
    note(0, `the file is longer than ${MAX_LENGTH} characters; it only says how the gateway runs`)
    return undefined
  }
  const document = parseDocument(text, {
    lineCounter,
    version: '1.2',
    prettyErrors: false,
    logLevel: 'error',
  })
  for (const { pos, message } of [...document.errors, ...document.warnings]) {
    const [first = ''] = message.split('\n', 1)
    note(pos[0], `not readable as YAML: ${lowered(first)}`)
  }
  visit(document, (_, node) => {
    if (isAlias(node)) note(node.range?.[0] ?? 0, 'an alias is not allowed here; write the value out')
  })
  return document.errors.length === 0 ? document : undefined
}

type Values = Omit<ConfigReader, 'root' | 'mistakes'>

function valueReader(note: ConfigReader['note']): Values {
  const scalar = ({ node }: Place): unknown => (isScalar(node) ? node.value : undefined)

  function noteUnless<T>(place: Place, value: T | undefined, message: string): T | undefined {
    if (value === undefined) note(place, message)
    return value
  }

  return {
    note,
    fields(place, names) {
      if (!isMap(place.node)) {
        note(place, `must be a mapping of ${names.map(quoted).join(', ')}`)
        return undefined
      }
      const all: Partial<Record<(typeof names)[number], Place>> = {}
      for (const { key, value } of place.node.items) {
        // Sound: what the parser makes are nodes, or null where nothing is written.
        const at = placeOf(key as Node | null, place.offset)
        const known = names.find((name) => name === scalar(at))
        if (known !== undefined) all[known] = placeOf(value as Node | null, at.offset)
        else
          note(
            at,
            `${quoted(String(scalar(at)))} is not known here; ${suggestion(String(scalar(at)), names)}`,
          )
      }
      return all
    },
    items(place, what) {
      if (isSeq(place.node)) return place.node.items.map((item) => placeOf(item as Node | null, place.offset))
      note(place, `${what} must be a list; write \`[a, b]\` or \`- \` lines`)
      return []
    },
    text(place, what) {
      const value = scalar(place)
      const fit = typeof value === 'string' && value !== '' && !CONTROL.test(value) ? value : undefined
      return noteUnless(
        place,
        fit,
        `${what} must be text in one line; put it in quotes if it looks like something else`,
      )
    },
    word(place, what, words) {
      const fit = words.find((each) => each === scalar(place))
      return noteUnless(place, fit, `${what} must be one of ${words.map(quoted).join(', ')}`)
    },
    flag(place, what) {
      const value = scalar(place)
      return noteUnless(
        place,
        typeof value === 'boolean' ? value : undefined,
        `${what} must be \`true\` or \`false\``,
      )
    },
    whole(place, what, least, most) {
      const value = scalar(place)
      const fit = typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most
      return noteUnless(
        place,
        fit ? value : undefined,
        `${what} must be a whole number from ${least} to ${most}`,
      )
    },
    measure(place, { what, units, least, most, example }) {
      const [, digits, unit] = /^([1-9][0-9]{0,8})([A-Za-z]+)$/.exec(String(scalar(place))) ?? []
      const value = Number(digits) * (units[unit ?? ''] ?? NaN)
      const fit = value >= least && value <= most ? value : undefined
      return noteUnless(place, fit, `${what} must be ${example}`)
    },
  }
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

function placeOf(node: Node | null, otherwise: number): Place {
  return { node, offset: node?.range?.[0] ?? otherwise }
}

function quoted(name: string): string {
  return `\`${name.slice(0, 60).replaceAll(new RegExp(CONTROL, 'g'), ' ')}\``
}

function lowered(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}

/** What to write instead of a name that is not known. */
export function suggestion(name: string, names: readonly string[]): string {
  const near = names.find((each) => isNear(each, name))
  return near === undefined ? `write one of ${names.map(quoted).join(', ')}` : `did you mean ${quoted(near)}?`
}

/** Nearly the same: a letter or two more, less or other, or written with `_` for `-`. */
function isNear(a: string, b: string): boolean {
  const [x, y] = [a, b].map((each) => each.toLowerCase().replaceAll('_', '-')) as [string, string]
  return x === y || distance(x, y) <= (Math.max(x.length, y.length) > 5 ? 2 : 1)
}

/** Levenshtein's. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const other = a[i - 1] === b[j - 1] ? 0 : 1
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + other))
    }
    row = next
  }
  return row[b.length] ?? 0
}
