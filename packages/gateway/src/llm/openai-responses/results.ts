// Tool results in a request: finds the texts in them, and replaces them.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { ambiguous, type Refused, type Restored, type Result, type ReadResult } from '../dialect.ts'
import { isGiven, only } from '../filter.ts'
import { readFileData, readPicture, type FileContent } from '../files.ts'
import { COMMAND, FILE_PART, PICTURE_PART, resultMembers, TEXT_PART, tidy, type Members } from './members.ts'
import { idOf } from './text.ts'

interface Notes {
  readonly restored: Restored
  /** The texts that a model would read, in order. */
  readonly texts: string[]
  /** Whether something was removed. */
  changed: boolean
}

/** Builds a value with other texts, as many as it has. */
type Rebuild = (next: () => string) => Json

interface ResultKind {
  /** The member with the content. */
  readonly member: string
  readonly members: Members
  read(value: Json | undefined, notes: Notes): Rebuild
  /** The content that replaces a withheld one. */
  note(text: string, value: Json | undefined): Json
  /** Whether the note does not fit into the content, so that a message after it carries the note. */
  readonly isMute: boolean
  hasFailed(item: JsonObject): boolean
}

const never = (): boolean => false

const WORDS: ResultKind = {
  member: 'output',
  members: resultMembers('output'),
  read: readOutput,
  note: (text) => text,
  isMute: false,
  hasFailed: never,
}

const SHELL: ResultKind = {
  ...WORDS,
  read: (value, notes) => all(listOf(value), (command) => readCommand(command, notes)),
  note: noteForShell,
  hasFailed: ({ output }) => isList(output) && output.some(isBadEnd),
}

const PATCH: ResultKind = {
  ...WORDS,
  read: (value, notes) => (isGiven(value) ? readOutput(value, notes) : () => null),
  hasFailed: ({ status }) => status === 'failed',
}

// A screenshot is required: one transparent pixel.
const NO_PICTURE = {
  type: 'computer_screenshot',
  image_url:
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
}

const SCREEN: ResultKind = { ...WORDS, read: readScreen, note: () => NO_PICTURE, isMute: true }

const FOUND: ResultKind = {
  ...WORDS,
  member: 'tools',
  members: resultMembers('tools'),
  read: (value = null, { texts }) => {
    const collect = (text: string): string => {
      texts.push(text)
      return text
    }
    replaced(value, collect)
    return (next) => replaced(value, next)
  },
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

/** The position of a result, and its call. */
interface ResultPlace {
  readonly list: readonly Json[]
  /** Its index in the list. Later insertions may move it. */
  readonly index: number
  readonly ref: string | undefined
  readonly tool: string | undefined
  readonly restored: Restored
}

/** Reads a result. @throws Refused if it may hold unreadable text. */
export function resultOf(item: JsonObject, { list, index, ref, tool, restored }: ResultPlace): ReadResult {
  const { type } = item
  const kind = (typeof type === 'string' ? RESULTS[type] : undefined) ?? WORDS
  const texts: string[] = []
  const notes: Notes = { restored, texts, changed: tidy(item, kind.members) }
  const rebuild = kind.read(item[kind.member], notes)
  const content = item[kind.member] ?? null
  const result: Result = {
    kind: 'result',
    ref,
    tool,
    failed: kind.hasFailed(item),
    content,
    texts,
    rewrite(others) {
      if (others.length !== texts.length) throw new RangeError('the number of texts must stay the same')
      let at = 0
      Object.assign(item, { [kind.member]: rebuild(() => others[at++] ?? '') })
    },
    withhold(note) {
      become(item, { ...only(item, KEPT), [kind.member]: kind.note(note, content) })
      if (kind.isMute) insertAfter(list, index, item, { type: 'message', role: 'user', content: note })
    },
  }
  return { result, changed: notes.changed }
}

/** Replaces an item in place. */
export function become(item: JsonObject, other: JsonObject): void {
  for (const name of Object.keys(item)) Reflect.deleteProperty(item, name)
  Object.assign(item, other)
}

function insertAfter(list: readonly Json[], index: number, item: JsonObject, other: JsonObject): void {
  // Sound: the body may be changed.
  const body = list as Json[]
  body.splice(body.indexOf(item, index) + 1, 0, other)
}

function leaf(text: string, { texts }: Notes, around: (text: string) => Json): Rebuild {
  texts.push(text)
  return (next) => around(next())
}

function all(values: readonly Json[], read: (value: Json) => Rebuild): Rebuild {
  const pieces = values.map(read)
  return (next) => pieces.map((rebuild) => rebuild(next))
}

const PLAIN_NAME = /^[\w$.-]{1,64}$/

/** The same value with other texts. A member name that is not plain counts as text. */
function replaced(value: Json, by: (text: string) => string): Json {
  if (typeof value === 'string') return by(value)
  if (isList(value)) return value.map((item) => replaced(item, by))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      PLAIN_NAME.test(name) ? name : by(name),
      replaced(member, by),
    ]),
  )
}

function readOutput(value: Json | undefined, notes: Notes): Rebuild {
  if (typeof value === 'string') return leaf(value, notes, (other) => other)
  return all(listOf(value), (part) => readPart(part, notes))
}

const TEXT_TYPES: ReadonlySet<Json | undefined> = new Set(['input_text', 'output_text', 'text'])

function readPart(part: Json, notes: Notes): Rebuild {
  if (!isObject(part)) throw unreadable()
  const { type, text } = part
  if (type === 'input_image') return readImage(part, notes)
  if (type === 'input_file') return readFile(part, notes)
  if (!TEXT_TYPES.has(type) || typeof text !== 'string') throw unreadable()
  notes.changed = tidy(part, TEXT_PART) || notes.changed
  return leaf(text, notes, (other) => ({ ...part, text: other }))
}

function readImage(part: JsonObject, notes: Notes): Rebuild {
  notes.changed = tidy(part, PICTURE_PART) || notes.changed
  const { image_url: url, file_id } = part
  requireInline(file_id)
  return readContent(part, 'image_url', url, readPicture, notes)
}

function readFile(part: JsonObject, notes: Notes): Rebuild {
  notes.changed = tidy(part, FILE_PART) || notes.changed
  const { filename, file_data, file_id, file_url } = part
  requireInline(file_id)
  requireInline(file_url)
  if (!isGiven(filename)) return readContent(part, 'file_data', file_data, readFileData, notes)
  if (typeof filename !== 'string') throw unreadable()
  const name = leaf(filename, notes, (other) => other)
  const data = readContent(part, 'file_data', file_data, readFileData, notes)
  return (next) => {
    const other = name(next)
    return { ...asObject(data(next)), filename: other }
  }
}

/** Reads a member that holds a file or an image. */
function readContent(
  part: JsonObject,
  member: string,
  value: Json | undefined,
  read: (data: string) => FileContent,
  notes: Notes,
): Rebuild {
  if (!isGiven(value)) return () => part
  const content: FileContent =
    typeof value === 'string' ? read(notes.restored(value)) : { kind: 'unreadable' }
  if (content.kind === 'unreadable') throw hidden(member)
  if (content.kind === 'other') return () => part
  const { text } = content
  return leaf(text, notes, (other) => (other === text ? part : { ...part, [member]: content.encode(other) }))
}

function asObject(value: Json): JsonObject {
  return isObject(value) ? value : {}
}

function readCommand(command: Json, notes: Notes): Rebuild {
  if (!isObject(command)) throw unreadable()
  const { stdout, stderr } = command
  if (typeof stdout !== 'string' || typeof stderr !== 'string') throw unreadable()
  notes.changed = tidy(command, COMMAND) || notes.changed
  notes.texts.push(stdout, stderr)
  return (next) => ({ ...command, stdout: next(), stderr: next() })
}

function readScreen(value: Json | undefined, notes: Notes): Rebuild {
  const isScreen =
    isObject(value) && (value['type'] === 'computer_screenshot' || value['type'] === 'input_image')
  if (!isScreen) throw unreadable()
  return readImage(value, notes)
}

function listOf(value: Json | undefined): readonly Json[] {
  if (!isList(value)) throw unreadable()
  return value
}

function unreadable(): Refused {
  return ambiguous('a tool result holds content of an unknown type; send texts, images or files', 'input')
}

/** Refuses content at another place, which only the model would read. */
function requireInline(pointer: Json | undefined): void {
  if (!isGiven(pointer)) return
  throw ambiguous(
    'a tool result refers to a file or an image at another place, which the gateway cannot inspect; send its content as `input_text`, `file_data` or a `data:image/` URL',
    'input',
  )
}

function hidden(member: string): Refused {
  const remedy =
    member === 'image_url'
      ? 'send a `data:image/` URL or an https URL'
      : 'send base64 or a data URL, with text in UTF-8, or send it as `input_text`'
  return ambiguous(`the \`${member}\` of a tool result cannot be read; ${remedy}`, 'input')
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

/** The call id of a result. */
export function resultRef({ call_id, id }: JsonObject, ids: ReadonlyMap<string, string>): string | undefined {
  // For a local shell the official types have `id`, while the wire has `call_id`.
  const own = idOf(id)
  return idOf(call_id) ?? (own === undefined ? undefined : (ids.get(own) ?? own))
}
