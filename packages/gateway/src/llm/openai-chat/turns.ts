// The messages of a request of Chat Completions: who has said what, and what tools have answered.

import type { Json, JsonObject } from '@tollgate/evidence'
import type { Result, Said } from '../dialect.ts'
import { isList, isObject } from '../filter.ts'
import { unreadable } from './tools.ts'

type Turn = Said | Result

/** Reads the messages of a request, in their order. @throws Refused */
export function readTurns({ messages }: JsonObject): readonly Turn[] {
  if (!isList(messages)) throw unreadable('`messages` is not a list', 'messages')
  const names = new Map<string, string>()
  return messages.flatMap((message) => {
    if (!isObject(message)) throw unreadable('a message is not an object', 'messages')
    return readMessage(message, names)
  })
}

/** `names` are the tools that were called so far, by the id of the call. */
function readMessage(message: JsonObject, names: Map<string, string>): readonly Turn[] {
  const { role } = message
  if (role === 'system' || role === 'developer' || role === 'user') return partsOf(message).flatMap(saidIn)
  if (role === 'tool') return [toolResult(message, names)]
  if (role === 'function') return [resultOf(message, { ref: undefined, tool: textIn(message['name']) })]
  if (role !== 'assistant') throw unreadable('a message has a role that is not known here', 'messages')
  noteCalls(message, names)
  return []
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

/** A content as parts: a text is one. */
function partsOf({ content = null }: JsonObject): readonly JsonObject[] {
  if (content === null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!isList(content) || !content.every(isObject)) {
    throw unreadable('the content of a message is neither a text nor a list of parts', 'messages')
  }
  return content
}

function saidIn({ type, text, file }: JsonObject): readonly Said[] {
  if (type === 'text' && typeof text === 'string') return [{ kind: 'said', channel: 'USER', text }]
  const written = type === 'file' && isObject(file) ? textOfFile(file['file_data']) : undefined
  return written === undefined ? [] : [{ kind: 'said', channel: 'TOOL_OUTPUT', text: written }]
}

const TEXT_FILE = /^data:(?:text\/|application\/json)[^,]*;base64,/i

/** A file is given as its bytes. What it says is not the words of whoever sends it. */
function textOfFile(data: Json | undefined): string | undefined {
  if (typeof data !== 'string' || !TEXT_FILE.test(data)) return undefined
  return Buffer.from(data.slice(data.indexOf(',') + 1), 'base64').toString('utf8')
}

function toolResult(message: JsonObject, names: ReadonlyMap<string, string>): Result {
  const ref = textIn(message['tool_call_id'])
  if (ref === undefined) throw unreadable('a tool message does not say which call it answers', 'messages')
  return resultOf(message, { ref, tool: names.get(ref) })
}

function resultOf(message: JsonObject, of: Pick<Result, 'ref' | 'tool'>): Result {
  const { content = null } = message
  const parts = partsOf(message)
  const texts = parts.flatMap(textsInResult)
  // The body is ours, and is changed where the result stands.
  const open: Record<string, Json> = message
  return {
    kind: 'result',
    ...of,
    failed: false,
    content,
    texts,
    rewrite(others) {
      if (others.length !== texts.length) throw new RangeError('a result keeps the number of its texts')
      if (typeof content === 'string') open['content'] = others[0] ?? ''
      else if (parts.length > 0) open['content'] = withTexts(parts, others)
    },
    withhold(note) {
      open['content'] = note
    },
  }
}

/** Pictures are not read. Anything else could hide a text, so that it does not go on. */
function textsInResult({ type, text }: JsonObject): readonly string[] {
  if (type === 'image_url') return []
  if (type === 'text' && typeof text === 'string') return [text]
  throw unreadable('a tool message has a part that is neither text nor picture', 'messages')
}

function withTexts(parts: readonly JsonObject[], texts: readonly string[]): readonly JsonObject[] {
  let at = 0
  return parts.map((part) => (part['type'] === 'text' ? { ...part, text: texts[at++] ?? '' } : part))
}

function textIn(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
