// Writes the events of a stream, including all events of a whole item.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { isGiven } from '../filter.ts'
import type { ItemEvents } from './calls.ts'
import type { Finished } from './items.ts'

/** Writes the events of one stream and numbers them. */
export class EventWriter {
  #next: number | undefined

  /** Numbers events from the first number that arrived. Later numbers are ignored. */
  begin(first: Json | undefined): void {
    this.#next ??= typeof first === 'number' && Number.isSafeInteger(first) ? first : 0
  }

  /** The text of an event. The members are an object or, for speed, its JSON text without braces. */
  event(type: string, members: JsonObject | string): string {
    const text = typeof members === 'string' ? members : JSON.stringify(members).slice(1, -1)
    const number = this.#next ?? 0
    this.#next = number + 1
    // JSON text has no line breaks, and the types are constants, so each event has two lines.
    return `event: ${type}\ndata: {"type":"${type}",${text},"sequence_number":${number}}\n\n`
  }

  /** All events of an item that was held. */
  item(place: number, { item, events }: Finished): string {
    const isMessage = item['type'] === 'message'
    const begins = isMessage ? { ...item, status: 'in_progress', content: [] } : begun(item, events)
    return [
      this.event('response.output_item.added', { output_index: place, item: begins }),
      ...(isMessage ? this.#content(place, item) : this.#progress(place, item, events)),
      this.event('response.output_item.done', { output_index: place, item }),
    ].join('')
  }

  #content(place: number, { id = null, content }: JsonObject): string[] {
    return (isList(content) ? content.filter(isObject) : []).map((part, index) =>
      this.part({ item_id: id, output_index: place, content_index: index }, part),
    )
  }

  /** A message part with a text of the gateway. */
  part(at: JsonObject, part: JsonObject): string {
    const isRefusal = part['type'] === 'refusal'
    const name = isRefusal ? 'refusal' : 'text'
    const text = part[name] ?? ''
    const besides = isRefusal ? {} : { logprobs: [] }
    const event = isRefusal ? 'response.refusal' : 'response.output_text'
    return [
      this.event('response.content_part.added', { ...at, part: { ...part, [name]: '' } }),
      this.event(`${event}.delta`, { ...at, delta: text, ...besides }),
      this.event(`${event}.done`, { ...at, [name]: text, ...besides }),
      this.event('response.content_part.done', { ...at, part }),
    ].join('')
  }

  #progress(
    place: number,
    item: JsonObject,
    { streamed, before = [], after = [], failed }: ItemEvents,
  ): string[] {
    const at = { output_index: place, item_id: item['id'] ?? null }
    const hasFailed = failed !== undefined && isGiven(item['error'])
    return [
      ...before.map((type) => this.event(type, at)),
      ...(streamed ? this.#streamed(at, streamed, item) : []),
      ...(hasFailed ? [failed] : after).map((type) => this.event(type, at)),
    ]
  }

  #streamed(
    at: JsonObject,
    { member, event }: NonNullable<ItemEvents['streamed']>,
    item: JsonObject,
  ): string[] {
    const text = item[member]
    if (typeof text !== 'string') return []
    const name = event === 'response.function_call_arguments' ? { name: item['name'] ?? null } : {}
    return [
      this.event(`${event}.delta`, { ...at, delta: text }),
      this.event(`${event}.done`, { ...at, ...name, [member]: text }),
    ]
  }
}

// Accumulators append the streamed text, so the item starts empty.
function begun(item: JsonObject, { streamed, later }: ItemEvents): JsonObject {
  const status = item['status'] === undefined ? {} : { status: 'in_progress' }
  const empty = streamed && typeof item[streamed.member] === 'string' ? { [streamed.member]: '' } : {}
  const known = Object.entries(later ?? {}).filter(([name]) => item[name] !== undefined)
  return { ...item, ...status, ...empty, ...Object.fromEntries(known) }
}
