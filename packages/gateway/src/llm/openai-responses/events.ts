// Writing the events of a stream: one after the other, and those that tell of a whole item.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import type { Finished, Told } from './items.ts'

/** Gives the text of an event. Its members are an object or, where every word counts, the JSON text of one without its braces. */
export type Write = (type: string, members: JsonObject | string) => string

/** Numbers events on from the first one that came. */
export function createWriter(first: Json | undefined): Write {
  let next = typeof first === 'number' && Number.isSafeInteger(first) ? first : 0
  // JSON text has no line breaks, and types are names of ours, so that each event is two lines.
  return (type, members) => {
    const text = typeof members === 'string' ? members : JSON.stringify(members).slice(1, -1)
    return `event: ${type}\ndata: {"type":"${type}",${text},"sequence_number":${next++}}\n\n`
  }
}

/** Tells of an item that went by without being told while it came. */
export function tellItem(write: Write, place: number, { item, told }: Finished): string {
  if (item['type'] === 'message') return tellMessage(write, place, item)
  const { streamed, before = [], after = [], failed } = told
  const at = { output_index: place, item_id: item['id'] ?? null }
  const hasFailed = failed !== undefined && (item['error'] ?? null) !== null
  return [
    write('response.output_item.added', { output_index: place, item: begun(item, told) }),
    ...before.map((type) => write(type, at)),
    ...(streamed ? tellStreamed(write, at, streamed, item) : []),
    ...(hasFailed ? [failed] : after).map((type) => write(type, at)),
    write('response.output_item.done', { output_index: place, item }),
  ].join('')
}

function tellStreamed(
  write: Write,
  at: JsonObject,
  { member, event }: NonNullable<Told['streamed']>,
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

// Accumulators add what is streamed to what the item begins with.
function begun(item: JsonObject, { streamed, later }: Told): JsonObject {
  const status = item['status'] === undefined ? {} : { status: 'in_progress' }
  const empty = streamed && typeof item[streamed.member] === 'string' ? { [streamed.member]: '' } : {}
  const known = Object.entries(later ?? {}).filter(([name]) => item[name] !== undefined)
  return { ...item, ...status, ...empty, ...Object.fromEntries(known) }
}

function tellMessage(write: Write, place: number, item: JsonObject): string {
  const content = isList(item['content']) ? item['content'] : []
  const id = item['id'] ?? null
  const begins = { ...item, status: 'in_progress', content: [] }
  return [
    write('response.output_item.added', { output_index: place, item: begins }),
    ...content.map((part, index) =>
      tellPart(write, { item_id: id, output_index: place, content_index: index }, part),
    ),
    write('response.output_item.done', { output_index: place, item }),
  ].join('')
}

/** Tells of a part of a message that holds words of ours. */
export function tellPart(write: Write, at: JsonObject, part: Json): string {
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
