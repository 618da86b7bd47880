// Reads a request: its parameters, tools, texts with their channels, and tool results.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { rephrase, settingsOf, type Passage } from './results.ts'
import { ToolList } from './tools.ts'
import { memberName } from './toolsets.ts'
import { wordsIn } from './context-texts.ts'
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
import { isGiven } from '../filter.ts'
import { blockKind } from './blocks.ts'
import { isForced, isStructured, streamOf } from '../parameters.ts'
import { takeMembers } from '../request-members.ts'
import { MESSAGES_MEMBERS } from './request-members.ts'

/** Reads a request. Its results can be changed in place later. @throws Refused */
export function readRequest(
  body: JsonObject,
  further: ReadonlySet<string>,
  restored: Restored = (text) => text,
): RequestReading {
  const dropped = takeMembers(body, MESSAGES_MEMBERS, further)
  checkFallbacks(body['fallbacks'])
  const list = new ToolList()
  list.takeAll(body['tools'])
  list.takeServers(body['mcp_servers'])
  list.takeContainer(body['container'])
  const conversation = new RequestTurns(list, restored)
  conversation.takeSystem(body['system'])
  conversation.takeMessages(body['messages'])
  return {
    stream: streamOf(body),
    structured: isStructured(formatOf(body)),
    forced: isForced(body['tool_choice']),
    tools: list.tools,
    hosted: list.hosted,
    turns: conversation.turns,
    changed: dropped || conversation.changed,
  }
}

/** The format of the output; the older name is `output_format`. */
function formatOf({ output_config: config, output_format: older }: JsonObject): Json | undefined {
  return (isObject(config) ? config['format'] : undefined) ?? older
}

const FALLBACK: readonly string[] = ['model', 'max_tokens', 'output_config', 'speed', 'thinking']

/** A fallback may bring its own parameters. */
function checkFallbacks(fallbacks: Json | undefined): void {
  const entries = isList(fallbacks) ? fallbacks : []
  if (entries.every((one) => isObject(one) && Object.keys(one).every((name) => FALLBACK.includes(name))))
    return
  throw notGoverned(
    `\`fallbacks\` has an unknown member; send only ${FALLBACK.map((name) => `\`${name}\``).join(', ')}`,
    'fallbacks',
  )
}

const ROLES: readonly Json[] = ['user', 'assistant', 'system']

const MAX_MESSAGES = 20_000
const MAX_BLOCKS = 100_000
const MAX_RESULTS = 10_000

class RequestTurns {
  readonly turns: (TurnText | Result)[] = []
  /** Whether something was removed from a result. */
  changed = false
  readonly #list: ToolList
  readonly #restored: Restored
  #blocks = 0
  #results = 0
  /** The names of earlier calls, by id; undefined if two calls have one id. */
  readonly #calls = new Map<string, string | undefined>()

  constructor(list: ToolList, restored: Restored) {
    this.#list = list
    this.#restored = restored
  }

  takeSystem(system: Json | undefined): void {
    if (isGiven(system)) this.#takeContent(system, 'system', 'system')
  }

  takeMessages(messages: Json | undefined): void {
    if (!isList(messages)) throw ambiguous('`messages` must be a list', 'messages')
    if (messages.length > MAX_MESSAGES) throw tooMany('messages', MAX_MESSAGES)
    for (const message of messages) {
      if (!isObject(message)) throw ambiguous('a message must be an object', 'messages')
      const role = message['role']
      if (role === undefined || !ROLES.includes(role))
        throw ambiguous('a message has an unknown role', 'messages')
      // A system message may have settings only.
      const content = message['content'] ?? (role === 'system' ? [] : undefined)
      this.#takeContent(content, role, 'messages')
    }
  }

  #takeContent(content: Json | undefined, role: Json, param: string): void {
    if (typeof content === 'string') {
      if (role !== 'assistant') this.#say('USER', [content])
      return
    }
    if (!isList(content)) throw ambiguous('`content` must be a string or a list', param)
    for (const block of content) {
      if (!isObject(block)) throw ambiguous('a content block must be an object', param)
      this.#takeBlock(block, role)
    }
  }

  #count(): void {
    if (++this.#blocks > MAX_BLOCKS) throw tooMany('content blocks', MAX_BLOCKS)
  }

  #takeBlock(block: JsonObject, role: Json): void {
    this.#count()
    if (isProviderResult(block)) return this.#say('TOOL_OUTPUT', wordsIn(block, this.#restored))
    switch (typeof block['type'] === 'string' ? block['type'] : '') {
      case 'text':
        if (typeof block['text'] !== 'string') throw ambiguous('a text block has no `text`', 'messages')
        return role === 'assistant' ? undefined : this.#say('USER', [block['text']])
      case 'document':
      case 'search_result':
        return this.#say('TOOL_OUTPUT', wordsIn(block, this.#restored))
      case 'tool_use':
        return this.#takeCall(block)
      case 'tool_result':
        this.#takeResult(block)
        return
      case 'tool_addition':
        return this.#takeAddition(block)
      case 'compaction':
        return this.#takeCompaction(block)
      default:
        // The upstream accepts or refuses it.
        return
    }
  }

  #say(channel: TurnText['channel'], texts: readonly string[]): void {
    for (const text of texts) if (text !== '') this.turns.push({ kind: 'said', channel, text })
  }

  #takeResult(block: JsonObject): void {
    if (++this.#results > MAX_RESULTS) throw tooMany('tool results', MAX_RESULTS)
    const { result, changed } = resultOf(block, this.#callOf(block), this.#restored, () => this.#count())
    this.turns.push(result)
    this.changed ||= changed
  }

  #takeCall({ id, name, toolset_name: toolset }: JsonObject): void {
    if (typeof id !== 'string') return
    const tool = memberName(toolset, name)
    this.#calls.set(id, this.#calls.has(id) && this.#calls.get(id) !== tool ? undefined : tool)
  }

  #callOf({ tool_use_id: id }: JsonObject): string | undefined {
    return typeof id === 'string' ? this.#calls.get(id) : undefined
  }

  /** Tools that are added during the conversation. A reference names a declared and judged tool. */
  #takeAddition({ tool }: JsonObject): void {
    const type = isObject(tool) ? tool['type'] : undefined
    if (isObject(tool) && type === 'tool_definition') return this.#list.takeAddition(tool['definition'])
    if (type === 'tool_reference' || type === 'mcp_tool_reference' || type === 'mcp_toolset_reference') return
    throw notGoverned('a `tool_addition` has an unknown type; use `tools`', 'messages')
  }

  #takeCompaction({ tool_changes: changes }: JsonObject): void {
    if (!isGiven(changes)) return
    if (!isList(changes) || !changes.every(isObject))
      throw ambiguous('`tool_changes` must be a list of objects', 'messages')
    for (const change of changes) {
      this.#count()
      if (change['type'] === 'tool_addition') this.#takeAddition(change)
      else if (change['type'] !== 'tool_removal') {
        throw notGoverned('a tool change has an unknown type; use `tools`', 'messages')
      }
    }
  }
}

function resultOf(
  given: JsonObject,
  tool: string | undefined,
  restored: Restored,
  counted: () => void,
): { readonly result: Result; readonly changed: boolean } {
  // Sound: the block is a part of the body, which may be changed.
  const block = given as Record<string, Json>
  const content = block['content'] ?? []
  const texts: string[] = []
  const leftOut = { any: false }
  const passage: Passage = {
    by(text) {
      texts.push(text)
      return text
    },
    leftOut() {
      leftOut.any = true
    },
    counted,
    restored,
  }
  const noted = rephrase(content, passage)
  const settings = settingsOf(block, passage)
  if (leftOut.any)
    replace(block, Object.hasOwn(block, 'content') ? { ...settings, content: noted } : settings)
  const { tool_use_id: id, is_error: failed } = block
  const result: Result = {
    kind: 'result',
    ref: typeof id === 'string' ? id : undefined,
    tool,
    failed: failed === true,
    content,
    texts,
    rewrite(others) {
      if (others.length !== texts.length) throw new RangeError('the number of texts must stay the same')
      const next = others.values()
      block['content'] = rephrase(content, {
        by: () => next.next().value ?? '',
        leftOut: () => undefined,
        counted: () => undefined,
        restored,
      })
    },
    withhold(note) {
      block['content'] = note
    },
  }
  return { result, changed: leftOut.any }
}

/** Removes members that are unknown here, because a model might read them. */
function replace(block: Record<string, Json>, by: JsonObject): void {
  for (const name of Object.keys(block)) if (!Object.hasOwn(by, name)) Reflect.deleteProperty(block, name)
  Object.assign(block, by)
}

/** Whether a block is the result of a provider tool earlier in the conversation. An uploaded file has no text. */
function isProviderResult(block: JsonObject): boolean {
  const kind = blockKind(block)
  return kind?.role === 'ran' && !kind.input && block['type'] !== 'container_upload'
}

function tooMany(what: string, most: number): Refused {
  return tooLarge(`there are more than ${most} ${what}; send a shorter conversation`, 'messages')
}
