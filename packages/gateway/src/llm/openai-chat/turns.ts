// The messages of a request of Chat Completions: who has said what, and what tools have answered.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import type { Restored, Result, SaidWords, ReadResult } from '../dialect.ts'
import { readFileData } from '../files.ts'
import { legacyRef, plainName } from './names.ts'
import { isLink } from './pictures.ts'
import { partsOf, readResult } from './results.ts'
import { tooLarge, unreadable } from './tools.ts'

/** The messages of a request as they were read. */
interface ChatTurns {
  readonly turns: readonly (SaidWords | Result)[]
  /** Whether something in them was taken out. */
  readonly changed: boolean
}

const MOST_MESSAGES = 20_000
const MOST_RESULTS = 10_000

/** Reads the messages of a request, in their order. @throws Refused */
export function readTurns({ messages }: JsonObject, restored: Restored): ChatTurns {
  if (!isList(messages)) throw unreadable('`messages` is not a list', 'messages')
  if (messages.length > MOST_MESSAGES) throw tooLarge(`more than ${MOST_MESSAGES} messages`, 'messages')
  /** The tools that were called so far, by the id of the call. */
  const names = new Map<string, string>()
  const turns: (SaidWords | Result)[] = []
  let results = 0
  let changed = false

  function addResult(read: ReadResult): void {
    if (++results > MOST_RESULTS) throw tooLarge(`more than ${MOST_RESULTS} tool messages`, 'messages')
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
    else throw unreadable('a message has a role that is not known here', 'messages')
  }

  for (const message of messages) {
    if (!isObject(message)) throw unreadable('a message is not an object', 'messages')
    readMessage(message)
  }
  return { turns, changed }
}

function noteCalls({ tool_calls: calls = null }: JsonObject, names: Map<string, string>): void {
  if (calls === null) return
  if (!isList(calls) || !calls.every(isObject))
    throw unreadable('`tool_calls` is not a list of calls', 'messages')
  for (const { id, function: called = null, custom = null } of calls) {
    const part = called ?? custom
    const name = isObject(part) ? textIn(part['name']) : undefined
    if (typeof id === 'string' && name !== undefined) names.set(id, name)
  }
}

function saidIn({ type, text, file }: JsonObject, restored: Restored): readonly SaidWords[] {
  if (type === 'text' && typeof text === 'string') return [{ kind: 'said', channel: 'USER', text }]
  const data = type === 'file' && isObject(file) ? file['file_data'] : undefined
  // What a file says is not the words of whoever sends it.
  const written = typeof data === 'string' ? writtenIn(restored(data)) : undefined
  return written === undefined ? [] : [{ kind: 'said', channel: 'TOOL_OUTPUT', text: written }]
}

/** What a file says; undefined if nobody here reads it. What cannot be told is taken as far as it can be read. */
function writtenIn(data: string): string | undefined {
  if (isLink(data)) return undefined
  const file = readFileData(data)
  if (file.kind !== 'unreadable') return file.kind === 'text' ? file.text : undefined
  const rest = data.slice(/^data:[^,]*,/i.exec(data)?.[0].length ?? 0)
  return /[^\w+/=\r\n-]/.test(rest) ? rest : Buffer.from(rest, 'base64').toString('utf8')
}

function toolResult(message: JsonObject, names: ReadonlyMap<string, string>, restored: Restored): ReadResult {
  const ref = textIn(message['tool_call_id'])
  if (ref === undefined) throw unreadable('a tool message does not say which call it answers', 'messages')
  return readResult(message, { ref, tool: names.get(ref) }, restored)
}

/** What was there before tools: the name is all that says which call it answers. */
function functionResult(message: JsonObject, restored: Restored): ReadResult {
  const { name } = message
  return readResult(message, { ref: legacyRef(name), tool: plainName(name) }, restored)
}

function textIn(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
