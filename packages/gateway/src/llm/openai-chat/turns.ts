// The messages of a Chat Completions request: texts with their channels, and tool results.

import { isList, isObject, type JsonObject } from '@tollgate/evidence'
import { ambiguous, type Restored, type Result, type TurnText, type ReadResult } from '../dialect.ts'
import { readFileData } from '../files.ts'
import { legacyRef, plainName, textIn } from './calls.ts'
import { isLink, partsOf, readResult } from './results.ts'
import { tooMany } from './tools.ts'

interface ChatTurns {
  readonly turns: readonly (TurnText | Result)[]
  /** Whether something was removed. */
  readonly changed: boolean
}

const MAX_MESSAGES = 20_000
const MAX_RESULTS = 10_000

/** Reads the messages of a request in order. @throws Refused */
export function readTurns({ messages }: JsonObject, restored: Restored): ChatTurns {
  if (!isList(messages)) throw ambiguous('`messages` must be a list', 'messages')
  if (messages.length > MAX_MESSAGES) throw tooMany(`${MAX_MESSAGES} messages`, 'messages')
  /** The tools called so far, by call id. */
  const names = new Map<string, string>()
  const turns: (TurnText | Result)[] = []
  let results = 0
  let changed = false

  function addResult(read: ReadResult): void {
    if (++results > MAX_RESULTS) throw tooMany(`${MAX_RESULTS} tool messages`, 'messages')
    turns.push(read.result)
    changed ||= read.changed
  }

  function readMessage(message: JsonObject): void {
    const { role } = message
    if (role === 'system' || role === 'developer' || role === 'user') {
      for (const part of partsOf(message)) turns.push(...saidIn(part, restored))
    } else if (role === 'tool') addResult(toolResult(message, names, restored))
    else if (role === 'function') addResult(functionResult(message, restored))
    else if (role === 'assistant') noteCalls(message, names)
    else throw ambiguous('a message has an unknown role', 'messages')
  }

  for (const message of messages) {
    if (!isObject(message)) throw ambiguous('a message must be an object', 'messages')
    readMessage(message)
  }
  return { turns, changed }
}

function noteCalls({ tool_calls: calls = null }: JsonObject, names: Map<string, string>): void {
  if (calls === null) return
  if (!isList(calls) || !calls.every(isObject))
    throw ambiguous('`tool_calls` must be a list of objects', 'messages')
  for (const { id, function: called = null, custom = null } of calls) {
    const part = called ?? custom
    const name = isObject(part) ? textIn(part['name']) : undefined
    if (typeof id === 'string' && name !== undefined) names.set(id, name)
  }
}

function saidIn({ type, text, file }: JsonObject, restored: Restored): readonly TurnText[] {
  if (type === 'text' && typeof text === 'string') return [{ kind: 'said', channel: 'USER', text }]
  const data = type === 'file' && isObject(file) ? file['file_data'] : undefined
  // The text of a file does not count as the user's own words.
  const written = typeof data === 'string' ? writtenIn(restored(data)) : undefined
  return written === undefined ? [] : [{ kind: 'said', channel: 'TOOL_OUTPUT', text: written }]
}

/** The text of a file; undefined if it is not read. An unclear encoding is decoded as far as possible. */
function writtenIn(data: string): string | undefined {
  if (isLink(data)) return undefined
  const file = readFileData(data)
  if (file.kind !== 'unreadable') return file.kind === 'text' ? file.text : undefined
  const rest = data.slice(/^data:[^,]*,/i.exec(data)?.[0].length ?? 0)
  return /[^\w+/=\r\n-]/.test(rest) ? rest : Buffer.from(rest, 'base64').toString('utf8')
}

function toolResult(message: JsonObject, names: ReadonlyMap<string, string>, restored: Restored): ReadResult {
  const ref = textIn(message['tool_call_id'])
  if (ref === undefined) throw ambiguous('a tool message has no `tool_call_id`', 'messages')
  return readResult(message, { ref, tool: names.get(ref) }, restored)
}

/** A result of the older `function_call`. Only its name refers to the call. */
function functionResult(message: JsonObject, restored: Restored): ReadResult {
  const { name } = message
  return readResult(message, { ref: legacyRef(name), tool: plainName(name) }, restored)
}
