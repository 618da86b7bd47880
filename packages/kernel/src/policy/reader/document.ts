// Opens YAML files strictly: one document within limits, without features that hide what is in force.

import {
  Composer,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  Parser,
  visit,
  type CST,
  type Document,
  type YAMLMap,
} from 'yaml'

/** Maximum length of a file, in characters. */
const MAX_LENGTH = 1 << 20
/** Maximum depth. The library recurses, and a stack overflow inside a regular expression ends the process. */
const MAX_DEPTH = 64
/** Maximum mistakes to report. */
export const MAX_MISTAKES = 100

/** Notes a mistake at an offset. */
export type Note = (offset: number, message: string) => void

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

/** Returns the only document of a file; undefined after a mistake. */
export function openDocument(text: string, note: Note): Document | undefined {
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

/** Returns whether a text has control characters, which can hide text or forge lines. */
export function hasControls(text: string): boolean {
  return CONTROL.test(text)
}

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/
const CONTROLS = new RegExp(CONTROL, 'g')

/** Returns a message as one short line of well-formed text. */
export function oneLine(message: string, most: number): string {
  const short = message.length > most ? `${message.slice(0, most - 1)}…` : message
  return short.replace(CONTROLS, ' ').toWellFormed()
}

/** Returns a name for a message. */
export function quoted(name: string): string {
  return `\`${name.slice(0, 60)}\``
}
