// What tools have answered, as a request hands it to the model: which texts it holds, and how to put others in their place.

import type { Json, JsonObject } from '@tollgate/evidence'
import { Refused, type Result } from '../dialect.ts'
import { isList, isObject, only } from '../filter.ts'
import { idOf } from './text.ts'

/** A value as the texts in it, and the same value around other texts. */
interface Pieces {
  readonly texts: readonly string[]
  rebuild(texts: readonly string[]): Json
}

/** One kind of item that is a result. */
interface ResultKind {
  /** The member that holds it. */
  readonly member: string
  read(value: Json | undefined): Pieces
  /** What stands in its place once it is withheld. */
  note(text: string, value: Json | undefined): Json
  /** Whether the note has no place in it, and stands in a message behind it. */
  readonly isMute: boolean
  hasFailed(item: JsonObject): boolean
}

const never = (): boolean => false

const WORDS: ResultKind = {
  member: 'output',
  read: readOutput,
  note: (text) => text,
  isMute: false,
  hasFailed: never,
}

const SHELL: ResultKind = {
  ...WORDS,
  read: (value) => all(listOf(value), readCommand),
  note: noteForShell,
  hasFailed: ({ output }) => isList(output) && output.some(isBadEnd),
}

const PATCH: ResultKind = {
  ...WORDS,
  read: (value) => (value === undefined || value === null ? fixed(null) : readOutput(value)),
  hasFailed: ({ status }) => status === 'failed',
}

// There must be a picture: a single clear point.
const NO_PICTURE = {
  type: 'computer_screenshot',
  image_url:
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
}

const SCREEN: ResultKind = { ...WORDS, read: readScreen, note: () => NO_PICTURE, isMute: true }

const FOUND: ResultKind = {
  ...WORDS,
  member: 'tools',
  read: (value) => deep(value ?? null),
  note: () => [],
  isMute: true,
}

const RESULTS: Readonly<Record<string, ResultKind>> = {
  function_call_output: WORDS,
  custom_tool_call_output: WORDS,
  local_shell_call_output: WORDS,
  shell_call_output: SHELL,
  apply_patch_call_output: PATCH,
  computer_call_output: SCREEN,
  tool_search_output: FOUND,
}

/** Whether an item of this type is a result. */
export function isResultType(type: string): boolean {
  return Object.hasOwn(RESULTS, type)
}

const KEPT = ['type', 'id', 'call_id', 'status', 'caller', 'execution', 'max_output_length'] as const

/** Where a result stands, and of which call it is. */
export interface ResultPlace {
  readonly list: readonly Json[]
  readonly ref: string | undefined
  readonly tool: string | undefined
}

/** Reads a result. @throws Refused if it may hold texts that nobody here can read. */
export function resultOf(item: JsonObject, { list, ref, tool }: ResultPlace): Result {
  const { type } = item
  const kind = (typeof type === 'string' ? RESULTS[type] : undefined) ?? WORDS
  const content = item[kind.member] ?? null
  const pieces = kind.read(item[kind.member])
  const { texts } = pieces
  return {
    kind: 'result',
    ref,
    tool,
    failed: kind.hasFailed(item),
    content,
    texts,
    rewrite(others) {
      if (others.length !== texts.length) throw new RangeError('a result must keep the number of its texts')
      Object.assign(item, { [kind.member]: pieces.rebuild(others) })
    },
    withhold(note) {
      become(item, { ...only(item, KEPT), [kind.member]: kind.note(note, content) })
      if (kind.isMute) insertAfter(list, item, { type: 'message', role: 'user', content: note })
    },
  }
}

/** Makes another item of one, in its place in the body. */
export function become(item: JsonObject, other: JsonObject): void {
  for (const name of Object.keys(item)) Reflect.deleteProperty(item, name)
  Object.assign(item, other)
}

function insertAfter(list: readonly Json[], item: JsonObject, other: JsonObject): void {
  // Sound: the body is ours to change.
  const body = list as Json[]
  body.splice(body.indexOf(item) + 1, 0, other)
}

function leaf(text: string, around: (text: string) => Json = (other) => other): Pieces {
  return { texts: [text], rebuild: ([other = '']) => around(other) }
}

function fixed(value: Json): Pieces {
  return { texts: [], rebuild: () => value }
}

function all(values: readonly Json[], read: (value: Json) => Pieces): Pieces {
  return together(values.map(read), (rebuilt) => rebuilt)
}

function together(pieces: readonly Pieces[], join: (values: readonly Json[]) => Json): Pieces {
  return {
    texts: pieces.flatMap(({ texts }) => texts),
    rebuild: (texts) => {
      const left = [...texts]
      return join(pieces.map((piece) => piece.rebuild(left.splice(0, piece.texts.length))))
    },
  }
}

/** Every text in a value, however deep. */
function deep(value: Json): Pieces {
  if (typeof value === 'string') return leaf(value)
  if (isList(value)) return all(value, deep)
  if (!isObject(value)) return fixed(value)
  const names = Object.keys(value)
  return together(Object.values(value).map(deep), (values) =>
    Object.fromEntries(names.map((name, index) => [name, values[index] ?? null])),
  )
}

function readOutput(value: Json | undefined): Pieces {
  return typeof value === 'string' ? leaf(value) : all(listOf(value), readPart)
}

const SILENT: ReadonlySet<Json | undefined> = new Set(['input_image', 'input_file'])
const SPOKEN: ReadonlySet<Json | undefined> = new Set(['input_text', 'output_text', 'text'])

function readPart(part: Json): Pieces {
  if (!isObject(part)) throw unreadable()
  const { type, text, filename } = part
  if (SPOKEN.has(type) && typeof text === 'string') return leaf(text, (other) => ({ ...part, text: other }))
  if (!SILENT.has(type)) throw unreadable()
  return typeof filename === 'string'
    ? leaf(filename, (other) => ({ ...part, filename: other }))
    : fixed(part)
}

function readCommand(command: Json): Pieces {
  if (!isObject(command)) throw unreadable()
  const { stdout, stderr } = command
  if (typeof stdout !== 'string' || typeof stderr !== 'string') throw unreadable()
  return together([leaf(stdout), leaf(stderr)], ([out = '', err = '']) => ({
    ...command,
    stdout: out,
    stderr: err,
  }))
}

function readScreen(value: Json | undefined): Pieces {
  const isScreen =
    isObject(value) && (value['type'] === 'computer_screenshot' || value['type'] === 'input_image')
  if (!isScreen) throw unreadable()
  return fixed(value)
}

function listOf(value: Json | undefined): readonly Json[] {
  if (!isList(value)) throw unreadable()
  return value
}

function unreadable(): Refused {
  return new Refused(
    400,
    'AMBIGUOUS_INPUT',
    'a tool result holds something that is not known here; send texts, pictures or files',
    'input',
  )
}

function isBadEnd(command: Json): boolean {
  const outcome = isObject(command) ? command['outcome'] : undefined
  return isObject(outcome) && (outcome['type'] === 'timeout' || (outcome['exit_code'] ?? 0) !== 0)
}

function noteForShell(text: string, value: Json | undefined): Json {
  const commands = isList(value) && value.length > 0 ? value : [null]
  return commands.map((command, index) => ({
    stdout: '',
    stderr: index === 0 ? text : '',
    outcome: outcomeOf(isObject(command) ? command['outcome'] : undefined),
  }))
}

function outcomeOf(outcome: Json | undefined): JsonObject {
  if (!isObject(outcome)) return { type: 'exit', exit_code: 1 }
  const { type, exit_code } = outcome
  if (type === 'timeout') return { type }
  return { type: 'exit', exit_code: typeof exit_code === 'number' ? exit_code : 1 }
}

/** How a result refers to its call. */
export function resultRef({ call_id, id }: JsonObject, ids: ReadonlyMap<string, string>): string | undefined {
  // Of a local shell the official types say `id` for it, where the wire has `call_id`.
  const own = idOf(id)
  return idOf(call_id) ?? (own === undefined ? undefined : (ids.get(own) ?? own))
}
