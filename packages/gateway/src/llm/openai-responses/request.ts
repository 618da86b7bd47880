// Reads a Responses request: its tools, texts with their channels, and tool results.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import {
  ambiguous,
  notGoverned,
  tooLarge,
  type Refused,
  type RequestReading,
  type Restored,
  type Result,
  type TurnText,
} from '../dialect.ts'
import { entryOf, isGiven, only } from '../filter.ts'
import { Approvals } from './approvals.ts'
import { callKind, refOf } from './calls.ts'
import { readFileData } from '../files.ts'
import { isForced, isStructured, searchesWeb, streamOf } from '../parameters.ts'
import { takeMembers } from '../request-members.ts'
import { ranKind } from './ran.ts'
import { RESPONSES_MEMBERS } from './request-members.ts'
import { become, isResultType, resultOf, resultRef } from './results.ts'
import { idOf, OUR_MESSAGE } from './text.ts'
import { ToolBook } from './tools.ts'

export interface ResponsesReading extends RequestReading {
  /** Items that the request refers to by id, and calls that it approves. */
  readonly references: readonly string[]
  /** Approvals that it uses for the first time. */
  readonly spends: readonly string[]
  /** Whether reading changed the body: members were dropped, or items of the gateway are written out. */
  readonly changed: boolean
}

const MAX_ITEMS = 20_000
const MAX_RESULTS = 10_000

/** Reads a request. @throws Refused */
export function readRequest(
  body: JsonObject,
  further: ReadonlySet<string>,
  restored: Restored = (text) => text,
): ResponsesReading {
  const dropped = takeMembers(body, RESPONSES_MEMBERS, further)
  checkValues(body)
  const stream = streamOf(body)
  const book = new ToolBook()
  // `models` is not in the dialect, but may be configured.
  const isOnline = searchesWeb(body['model']) || searchesWeb(body['models'])
  if (isOnline) book.take([{ type: 'web_search' }], 'model')
  book.take(body['tools'], 'tools')
  const talk = new RequestTalk(book, restored)
  talk.takeAll(body)
  const { text } = body
  return {
    stream,
    forced: isForced(body['tool_choice']),
    structured: isObject(text) && isStructured(text['format']),
    tools: book.tools,
    hosted: book.hosted,
    turns: talk.turns,
    references: [...talk.references, ...talk.approvals.needed()],
    spends: talk.approvals.spent(),
    changed: dropped || talk.changed,
  }
}

/** Refuses values that would let a call arrive unseen. */
function checkValues(body: JsonObject): void {
  const { background, context_management: management } = body
  if (isGiven(background) && background !== false) {
    throw notGoverned(
      'a background response is not governed; set `background` to false, or stream the response',
      'background',
    )
  }
  if (isGiven(management) && !isCompaction(management)) {
    throw notGoverned('`context_management` has an unknown type; use only `compaction`', 'context_management')
  }
}

function isCompaction(management: Json): boolean {
  return isList(management) && management.every((entry) => isObject(entry) && entry['type'] === 'compaction')
}

/** The conversation in a request, item by item. */
class RequestTalk {
  readonly turns: (TurnText | Result)[] = []
  /** Items at the provider that the request refers to. */
  readonly references: string[] = []
  readonly approvals: Approvals = new Approvals()
  changed = false
  readonly #book: ToolBook
  readonly #restored: Restored
  /** The tools of earlier calls, by the id in their results. */
  readonly #calls = new Map<string, string>()
  /** The ids in results, by the item ids of their calls. */
  readonly #ids = new Map<string, string>()
  #results = 0

  constructor(book: ToolBook, restored: Restored) {
    this.#book = book
    this.#restored = restored
  }

  takeAll({ instructions, input }: JsonObject): void {
    if (typeof instructions === 'string') this.#say('USER', instructions)
    else if (isGiven(instructions)) throw ambiguous('`instructions` must be a string', 'input')
    if (typeof input === 'string') this.#say('USER', input)
    else if (isList(input)) {
      if (input.length > MAX_ITEMS) throw tooMany(`${MAX_ITEMS} items`)
      for (const [index, item] of input.entries()) this.#take(item, input, index)
    } else if (isGiven(input)) throw ambiguous('`input` must be a string or a list of items', 'input')
  }

  #take(item: Json, list: readonly Json[], index: number): void {
    if (!isObject(item)) throw ambiguous('an item of `input` must be an object', 'input')
    const type = typeOf(item)
    if (type === 'message') this.#takeMessage(item)
    else if (type === 'item_reference') this.#takeReference(item)
    else if (isResultType(type)) this.#takeResult(item, list, index)
    else if (type === 'additional_tools') this.#book.take(item['tools'], 'input')
    else if (type === 'configuration_update') checkUpdate(item)
    else if (type === 'mcp_approval_response') this.#takeAnswer(item)
    else if (!this.#takeCall(item) && !this.#takeEcho(item, type) && !SILENT.has(type)) throw unknownItem()
  }

  #takeMessage(item: JsonObject): void {
    const { role, content } = item
    if (role === 'assistant') this.#disown(item)
    else if (role !== 'user' && role !== 'system' && role !== 'developer')
      throw ambiguous('a message of `input` has an unknown role', 'input')
    else if (typeof content === 'string') this.#say('USER', content)
    else if (isList(content)) for (const part of content) if (isObject(part)) this.#takePart(part)
  }

  #takePart(part: JsonObject): void {
    this.#sayAll('USER', part['text'])
    const { type, file_data } = part
    if (type !== 'input_file' || typeof file_data !== 'string') return
    const data = this.#restored(file_data)
    const file = readFileData(data)
    if (file.kind === 'text') this.#say('TOOL_OUTPUT', file.text)
    // Another reader may be able to decode it. Here it counts as received.
    else if (file.kind === 'unreadable') this.#say('TOOL_OUTPUT', data)
  }

  /** Removes the id of the gateway, which the upstream does not know. */
  #disown(item: JsonObject): void {
    if (isOurs(item['id'])) this.#replace(item, only(item, ['type', 'role', 'content', 'phase']))
  }

  #replace(item: JsonObject, other: JsonObject): void {
    become(item, other)
    this.changed = true
  }

  #takeReference(item: JsonObject): void {
    const id = idOf(item['id'])
    if (id === undefined) throw ambiguous('a reference to an item has no id', 'input')
    if (!isOurs(id)) {
      this.references.push(id)
      return
    }
    const text = `A tool call was denied by Tollgate. Receipt: ${id.slice(OUR_MESSAGE.length)}`
    this.#replace(item, { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] })
  }

  #takeResult(item: JsonObject, list: readonly Json[], index: number): void {
    if (++this.#results > MAX_RESULTS) throw tooMany(`${MAX_RESULTS} tool results`)
    if (item['type'] === 'tool_search_output') this.#takeFound(item)
    const ref = resultRef(item, this.#ids)
    const tool = ref === undefined ? undefined : this.#calls.get(ref)
    const read = resultOf(item, { list, index, ref, tool, restored: this.#restored })
    this.turns.push(read.result)
    this.changed ||= read.changed
  }

  /** Tools found by a client search may be called. Tools found by the provider must already be declared. */
  #takeFound({ tools, execution }: JsonObject): void {
    if (execution === 'client') this.#book.take(tools, 'input')
    else this.#book.repeat(tools, 'input')
  }

  #takeAnswer(item: JsonObject): void {
    this.approvals.answer(item)
    this.#sayAll('USER', item['reason'])
  }

  #takeCall(item: JsonObject): boolean {
    if (item['type'] === 'mcp_approval_request') this.approvals.repeat(item)
    const tool = callKind(item)?.tool(item) ?? (isBoth(item) ? ranKind(item)?.tool : undefined)
    const ref = refOf(item)
    if (tool === undefined || ref === undefined) return callKind(item) !== undefined
    this.#calls.set(ref, tool)
    const id = idOf(item['id'])
    if (id !== undefined) this.#ids.set(id, ref)
    return true
  }

  #takeEcho(item: JsonObject, type: string): boolean {
    if (type === 'mcp_call') this.approvals.run(item)
    const names = entryOf(ECHOES, type)
    for (const name of names ?? []) this.#sayAll('TOOL_OUTPUT', item[name])
    return names !== undefined
  }

  #sayAll(channel: TurnText['channel'], value: Json | undefined): void {
    if (typeof value === 'string') this.#say(channel, value)
    else if (isList(value)) for (const item of value) this.#sayAll(channel, item)
    else if (isObject(value)) for (const item of Object.values(value)) this.#sayAll(channel, item)
  }

  #say(channel: TurnText['channel'], text: string): void {
    this.turns.push({ kind: 'said', channel, text })
  }
}

/** Items that the provider ran earlier, and their members with tool output. */
const ECHOES: Readonly<Record<string, readonly string[]>> = {
  web_search_call: ['action', 'results'],
  file_search_call: ['results'],
  code_interpreter_call: ['outputs'],
  image_generation_call: [],
  mcp_call: ['output', 'error'],
  mcp_list_tools: ['tools', 'error'],
  shell_call: [],
  tool_search_call: [],
  program: [],
  program_output: ['result'],
}

/** Items of the model, or without text. */
const SILENT: ReadonlySet<string> = new Set(['reasoning', 'compaction', 'compaction_trigger'])

function typeOf(item: JsonObject): string {
  const { type } = item
  if (typeof type === 'string') return type
  if (isGiven(type)) throw ambiguous('the type of an item of `input` must be a string', 'input')
  return 'role' in item ? 'message' : 'item_reference'
}

function isBoth({ type }: JsonObject): boolean {
  return type === 'shell_call'
}

function isOurs(id: Json | undefined): boolean {
  return typeof id === 'string' && id.startsWith(OUR_MESSAGE)
}

const UPDATES: ReadonlySet<string> = new Set(['type', 'id', 'reasoning'])

function checkUpdate(item: JsonObject): void {
  if (!Object.keys(item).every((name) => UPDATES.has(name))) throw unknownItem()
}

function unknownItem(): Refused {
  return notGoverned('an item of `input` has an unknown type; leave it out', 'input')
}

function tooMany(parts: string): Refused {
  return tooLarge(`\`input\` has more than ${parts}; leave out old items`, 'input')
}
