// Writes the events of a stream, including all events of a whole item.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import type { Finished, ItemEvents } from './items.ts'

/** Returns the text of an event. The members are an object or, for speed, its JSON text without braces. */
export type Write = (type: string, members: JsonObject | string) => string

/** Numbers events from the first number that arrived. */
export function createWriter(first: Json | undefined): Write {
  let next = typeof first === 'number' && Number.isSafeInteger(first) ? first : 0
  // JSON text has no line breaks, and the types are constants, so each event has two lines.
  return (type, members) => {
    const text = typeof members === 'string' ? members : JSON.stringify(members).slice(1, -1)
    return `event: ${type}\ndata: {"type":"${type}",${text},"sequence_number":${next++}}\n\n`
  }
}

/** Writes all events of an item that was held. */
export function writeItem(write: Write, place: number, { item, events }: Finished): string {
  if (item['type'] === 'message') return writeMessage(write, place, item)
  const { streamed, before = [], after = [], failed } = events
  const at = { output_index: place, item_id: item['id'] ?? null }
  const hasFailed = failed !== undefined && (item['error'] ?? null) !== null
  return [
    write('response.output_item.added', { output_index: place, item: begun(item, events) }),
    ...before.map((type) => write(type, at)),
    ...(streamed ? writeStreamed(write, at, streamed, item) : []),
    ...(hasFailed ? [failed] : after).map((type) => write(type, at)),
    write('response.output_item.done', { output_index: place, item }),
  ].join('')
}

function writeStreamed(
  write: Write,
  at: JsonObject,
  { member, event }: NonNullable<ItemEvents['streamed']>,
  item: JsonObject,
): string[] {
  const text = item[member]
  if (typeof text !== 'string') return []
  const name = event === 'response.function_call_arguments' ? { name: item['name'] ?? null } : {}
  return [
    write(`${event}.delta`, { ...at, delta: text }),
    write(`${event}.done`, { ...at, ...name, [member]: text }),
  ]
}

// Accumulators append the streamed text, so the item starts empty.
function begun(item: JsonObject, { streamed, later }: ItemEvents): JsonObject {
  const status = item['status'] === undefined ? {} : { status: 'in_progress' }
  const empty = streamed && typeof item[streamed.member] === 'string' ? { [streamed.member]: '' } : {}
  const known = Object.entries(later ?? {}).filter(([name]) => item[name] !== undefined)
  return { ...item, ...status, ...empty, ...Object.fromEntries(known) }
}

function writeMessage(write: Write, place: number, item: JsonObject): string {
  const content = isList(item['content']) ? item['content'] : []
  const id = item['id'] ?? null
  const begins = { ...item, status: 'in_progress', content: [] }
  return [
    write('response.output_item.added', { output_index: place, item: begins }),
    ...content.map((part, index) =>
      writePart(write, { item_id: id, output_index: place, content_index: index }, part),
    ),
    write('response.output_item.done', { output_index: place, item }),
  ].join('')
}

/** Writes a message part with a text of the gateway. */
export function writePart(write: Write, at: JsonObject, part: Json): string {
  const text = textIn(part)
  const empty = { type: 'output_text', text: '', annotations: [], logprobs: [] }
  return [
    write('response.content_part.added', { ...at, part: empty }),
    write('response.output_text.delta', { ...at, delta: text, logprobs: [] }),
    write('response.output_text.done', { ...at, text, logprobs: [] }),
    write('response.content_part.done', { ...at, part }),
  ].join('')
}

function textIn(part: Json): string {
  const text = isObject(part) ? part['text'] : undefined
  return typeof text === 'string' ? text : ''
}
