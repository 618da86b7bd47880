// Parses YAML files. It reports every mistake at once, each with its place and a remedy.

import {
  Composer,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  Parser,
  visit,
  type CST,
  type Document,
  type Node,
  type YAMLMap,
} from 'yaml'

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

/** Maximum length of a file, in characters. */
const MAX_LENGTH = 1 << 20
/** Maximum depth. The library recurses, and a stack overflow inside a regular expression ends the process. */
const MAX_DEPTH = 64
/** Maximum mistakes to report. */
const MAX_MISTAKES = 100
/** Maximum length of a message; some quote a part of the file. */
const MAX_MESSAGE = 2000

/** A file that is being parsed. Mistakes are noted, and parsing continues with the next part. */
export interface Reader {
  readonly root: Place
  readonly mistakes: readonly Mistake[]
  /** Returns the line of a place, from 1. */
  line(place: Place): number
  /** Notes a mistake at a place, plus `inside` characters. */
  note(place: Place, message: string, inside?: number): void
  /** Returns the members of a mapping by name; unknown names are mistakes. Undefined if it is not a mapping. */
  fields<Name extends string>(place: Place, names: readonly Name[]): Partial<Record<Name, Place>> | undefined
  /** Returns the members of a mapping with free names. */
  entries(
    place: Place,
    what: string,
  ): readonly { readonly name: string; readonly key: Place; readonly value: Place }[]
  /** Returns the items of a list. */
  items(place: Place, what: string): readonly Place[]
  /** Returns a non-empty text. */
  text(place: Place, what: string): string | undefined
  /** Returns a non-empty text without line breaks or other control characters. */
  textLine(place: Place, what: string): string | undefined
  /** Returns whether it is an empty list. */
  isEmptyList(place: Place): boolean
  /** Returns a list of texts, or one text as a list. */
  texts(place: Place, what: string): readonly { readonly text: string; readonly place: Place }[]
  /** Returns one of a closed list of words. */
  word<W extends string>(place: Place, what: string, words: readonly W[]): W | undefined
  /** Returns a number between two bounds. */
  number(place: Place, what: string, least: number, most: number): number | undefined
  /** Returns an integer between two bounds. */
  whole(place: Place, what: string, least: number, most: number): number | undefined
  /** Returns a duration such as `15m`, in milliseconds. */
  duration(place: Place, what: string, most: number): number | undefined
  flag(place: Place, what: string): boolean | undefined
  /** Returns the value as plain data. */
  plain(place: Place): unknown
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses a duration such as `15m` to milliseconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, digits, unit] = /^([1-9][0-9]{0,5})(s|m|h|d)$/.exec(text) ?? []
  return digits === undefined || unit === undefined ? undefined : Number(digits) * (UNITS[unit] ?? 0)
}

/** Starts to parse a file. */
export function readYaml(text: string): Reader {
  const lines = linesOf(text)
  const mistakes: Mistake[] = []
  const noteAt: Note = (offset, message) => {
    const { line, col } = lines.linePos(offset)
    mistakes.push({ line, column: col, message: oneLine(message, MAX_MESSAGE) })
  }
  const document = open(text, noteAt)
  const root = { node: document?.contents ?? null, offset: 0 }
  return {
    ...readerOf(noteAt),
    root,
    mistakes,
    line: ({ offset }) => lines.linePos(offset).line,
  }
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

type Note = (offset: number, message: string) => void

function linesOf(text: string): LineCounter {
  const lines = new LineCounter()
  lines.addNewLine(0)
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1)
  return lines
}

/** Returns whether a text has control characters, which can hide text or forge lines. */
export function hasControls(text: string): boolean {
  return CONTROL.test(text)
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/
const CONTROLS = new RegExp(CONTROL, 'g')

/** Returns a message as one short line of well-formed text. */
function oneLine(message: string, most: number): string {
  const short = message.length > most ? `${message.slice(0, most - 1)}…` : message
  return short.replace(CONTROLS, ' ').toWellFormed()
}

/** Characters that YAML forbids, and a bare carriage return, which only some programs show as a new line. */
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff\p{Surrogate}]|\r(?!\n)/u

/** Parsing ended early; no further mistakes are reported. */
class Stopped extends Error {
  readonly offset: number

  constructor(offset: number, message: string) {
    super(message)
    this.offset = offset
  }
}

function open(text: string, note: Note): Document | undefined {
  if (text.length > MAX_LENGTH) {
    note(0, `the file is longer than ${MAX_LENGTH} characters; split it`)
    return undefined
  }
  const unprintable = UNPRINTABLE.exec(text)
  if (unprintable) {
    note(unprintable.index, 'there is a control character or a lone surrogate here; remove it')
    return undefined
  }
  try {
    return compose(text, note)
  } catch (fault) {
    // Any other error of the library is a mistake in the file, too.
    if (fault instanceof Stopped) note(fault.offset, fault.message)
    else note(0, 'not readable as YAML; simplify it')
    return undefined
  }
}

function compose(text: string, note: Note): Document | undefined {
  let errors = 0
  let stopped: Stopped | undefined
  const fail: Note = (offset, message) => {
    // The library wraps the error in another one at an outer place; the first one counts.
    if (++errors > MAX_MISTAKES)
      throw (stopped ??= new Stopped(offset, 'too many mistakes; the rest of the file was not checked'))
    note(offset, oneLine(`not readable as YAML: ${firstLine(message)}`, 200))
  }
  const composer = new Composer({ strict: true, uniqueKeys: false, resolveKnownTags: false, version: '1.2' })
  // The library's own handler keeps every error with its stack: a million of them take ten seconds. If a later version ignores
  // `onError`, the errors are still in the document.
  const onError = (at: ErrorPlace, _: string, message: string): void => fail(startOf(at), message)
  Object.assign(composer, { onError })
  const [document] = composer.compose(tokensOf(text, fail), true, text.length)
  for (const { pos, message } of [...(document?.errors ?? []), ...(document?.warnings ?? [])]) {
    fail(pos[0], message)
  }
  // Also after errors: for the library an unknown tag is an error, and the remedy comes from here.
  if (document) refuseIndirection(document, note)
  return errors === 0 ? document : undefined
}

/** The place of an error in the library. */
type ErrorPlace = number | readonly number[] | { readonly offset: number }

function startOf(place: ErrorPlace): number {
  if (typeof place === 'number') return place
  return 'offset' in place ? place.offset : (place[0] ?? 0)
}

/** Returns the tokens of the only document in a file. */
function* tokensOf(text: string, fail: Note): Generator<CST.Token> {
  let documents = 0
  for (const token of parse(text)) {
    const { type, offset } = token
    if (type === 'directive')
      throw new Stopped(offset, 'a directive (`%`) is not allowed here; remove the line')
    if (type === 'document' && ++documents > 1) {
      throw new Stopped(offset, 'a second document (`---`) is not allowed here; write one file for each')
    }
    if (type === 'error') fail(offset, token.message)
    else yield token
  }
}

function* parse(text: string): Generator<CST.Token> {
  const parser = new Parser()
  const lexemes = new Lexer().lex(text)
  const skip = (length: number): void => void (parser.offset += length)
  for (const lexeme of hasLongGap(text) ? withoutGaps(lexemes, skip) : lexemes) {
    yield* parser.next(lexeme)
    if (parser.stack.length > MAX_DEPTH) {
      throw new Stopped(parser.offset, `nested deeper than ${MAX_DEPTH} levels; write it flatter`)
    }
  }
  yield* parser.end()
}

/** The lexer's marker before a plain or block scalar. */
const SCALAR = '\u001f'

/** Maximum consecutive lines without content that reach the parser, which handles such lines in quadratic time. */
const MAX_GAP = 100

/** Returns whether a file may have more lines without content in a row than the parser gets. Most files have not, and read faster. */
function hasLongGap(text: string): boolean {
  let gap = 0
  for (const line of text.split('\n')) {
    gap = /^[ \t]*(?:#|\r?$)/.test(line) ? gap + 1 : 0
    if (gap > MAX_GAP) return true
  }
  return false
}

/** Returns the lexemes of a file, and shortens long runs of empty or comment lines. Calls `skip` with the length of what it left out. */
function* withoutGaps(lexemes: Iterable<string>, skip: (length: number) => void): Generator<string> {
  // The current line while it has only blanks and a comment; undefined after anything else.
  let line: string[] | undefined = []
  let gap = 0
  let before = ''
  for (const lexeme of lexemes) {
    const isContent = before === SCALAR
    const isBreak = !isContent && (lexeme === '\n' || lexeme === '\r\n')
    before = isContent ? '' : lexeme
    if (line && !isContent && /^[ \t#]/.test(lexeme)) {
      line.push(lexeme)
      continue
    }
    gap = line && isBreak ? gap + 1 : 0
    const all: readonly string[] = [...(line ?? []), lexeme]
    if (gap > MAX_GAP) skip(all.join('').length)
    else yield* all
    line = isBreak || (isContent && lexeme.endsWith('\n')) ? [] : undefined
  }
  yield* line ?? []
}

/** Refuses YAML features that hide what is in force, because people read these files. */
function refuseIndirection(document: Document, note: Note): void {
  visit(document, (_, node) => {
    if (isPair(node)) refuseKey(node.key, note)
    if (!isNode(node)) return
    const at = node.range?.[0] ?? 0
    if (isAlias(node)) note(at, 'an alias is not allowed here; write the value out')
    if (node.anchor !== undefined) note(at, 'an anchor is not allowed here; write the value out')
    if (node.tag !== undefined) note(at, 'a tag is not allowed here; remove it')
    if (isMap(node)) refuseTwice(node, note)
    if (isScalar(node) && typeof node.value === 'string' && !node.value.isWellFormed()) {
      note(at, 'a text has a lone surrogate such as `\\ud800`; write the whole character')
    }
  })
}

function refuseKey(key: unknown, note: Note): void {
  if (isMap(key) || isSeq(key))
    note(key.range?.[0] ?? 0, 'a name cannot be a list or a mapping; write a text')
}

function refuseTwice({ items }: YAMLMap, note: Note): void {
  const seen = new Set<string>()
  for (const { key } of items) {
    if (!isScalar(key)) continue
    const name = nameOf(key.value)
    if (seen.has(name)) note(key.range?.[0] ?? 0, `${quoted(name)} appears twice here; remove one`)
    seen.add(name)
  }
}

/** Returns the name of a key in plain data, where `1` and `"1"` are the same. */
function nameOf(key: unknown): string {
  const isPlain = typeof key === 'string' || typeof key === 'number' || typeof key === 'boolean'
  return isPlain ? String(key) : ''
}

function firstLine(message: string): string {
  const [first = ''] = message.split('\n', 1)
  return first
}

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
    textLine(place, what) {
      const value = scalar(place)
      if (typeof value === 'string' && value !== '' && !hasControls(value)) return value
      note(place, `${what} must be text in one line; put it in quotes if it looks like something else`)
      return undefined
    },
    isEmptyList: ({ node }) => isSeq(node) && node.items.length === 0,
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
    whole(place, what, least, most) {
      const value = scalar(place)
      if (Number.isInteger(value) && Number(value) >= least && Number(value) <= most) return Number(value)
      note(place, `${what} must be a whole number from ${least} to ${most}`)
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

/** Returns whether two names differ by one typo: a letter more, less, changed, or two swapped. */
function isNear(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false
  let i = 0
  while (i < a.length && a[i] === b[i]) i++
  const rest = (text: string, skip: number): string => text.slice(i + skip)
  const swapped = a[i] === b[i + 1] && a[i + 1] === b[i] && rest(a, 2) === rest(b, 2)
  return rest(a, 1) === rest(b, 1) || rest(a, 1) === rest(b, 0) || rest(a, 0) === rest(b, 1) || swapped
}
