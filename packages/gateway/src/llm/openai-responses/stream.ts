// Governs a streamed response. Text is forwarded as it arrives. Possible calls and provider items are held until they are
// finished, then judged and written out. Places count the items that were sent, and the last event repeats exactly those.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { SSE_COMMENT, type SseEvent } from '../../sse.ts'
import { Garbled, type Judge, type OnItem, type Rewriter } from '../dialect.ts'
import { isGiven, only } from '../filter.ts'
import { readJson } from '../read-json.ts'
import { namesOf } from './approvals.ts'
import { envelopeOf, faultOf } from './envelope.ts'
import { EventWriter } from './events.ts'
import { HeldItem, isPiece } from './held.ts'
import {
  contentOf,
  draftOf,
  itemIn,
  MAX_CALLS,
  MAX_HELD,
  MAX_ITEMS,
  refusedPart,
  settle,
  UNKNOWN,
  type ItemDraft,
  type Finished,
} from './items.ts'
import { idOf, isTextType, messageOf, newId, partOf, thoughtOf, thoughtsOf } from './text.ts'
import { placeIn, wordEvent, type WordEvent } from './text-events.ts'

/** A text item, forwarded as it arrives. */
interface OpenItem {
  readonly state: 'open'
  readonly type: Json | undefined
  readonly id: string
  /** The id as JSON text. */
  readonly quotedId: string
  /** Its place in the output. */
  readonly place: number
  /** Parts that were replaced. */
  readonly replaced: Map<number, JsonObject>
}

interface DoneItem {
  readonly state: 'done'
  readonly type: Json | undefined
}

type Slot = OpenItem | HeldItem | DoneItem

const FIRST: ReadonlySet<string> = new Set(['response.created', 'response.in_progress', 'response.queued'])
const LAST: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed'])

/** Rewrites the stream of one response. */
export class ResponseStream implements Rewriter {
  ended = false
  failed = false
  readonly #judge: Judge
  readonly #onItem: OnItem | undefined
  readonly #writer = new EventWriter()
  /** The items by their index in the stream of the upstream. */
  readonly #slots = new Map<number, Slot>()
  /** The items that were sent, by their place in the output. */
  readonly #sent: JsonObject[] = []
  /** The number of held characters. */
  #held = 0
  #calls = 0
  #isLast = false

  constructor(judge: Judge, onItem: OnItem | undefined) {
    this.#judge = judge
    this.#onItem = onItem
  }

  take({ data }: SseEvent): string | Promise<string> {
    const event = readEvent(data)
    if (!event) return ''
    const type = event['type']
    if (typeof type !== 'string') throw new Garbled('an event without a type')
    this.#writer.begin(event['sequence_number'])
    if (this.#isLast) return takeLate(type)
    const words = wordEvent(type)
    return words ? this.#takeWords(event, words, type) : this.#takeOther(event, type)
  }

  #takeOther(event: JsonObject, type: string): string | Promise<string> {
    if (type === 'response.output_item.added') return this.#takeAdded(event)
    if (type === 'response.output_item.done') return this.#takeDone(event)
    if (type === 'response.content_part.added' || type === 'response.content_part.done') {
      return this.#takePart(event, type)
    }
    if (FIRST.has(type)) return this.#takeFirst(event, type)
    if (LAST.has(type)) return this.#takeLast(event, type)
    if (type === 'error') return this.#takeError(event)
    if (type === 'keepalive') return SSE_COMMENT
    return this.#takeAside(event, type)
  }

  #takeWords(event: JsonObject, words: WordEvent, type: string): string {
    const slot = this.#openSlot(event)
    if (slot.type !== words.on) throw new Garbled('a text event does not fit its item')
    const place = placeIn(event[words.place], MAX_ITEMS)
    if (slot.replaced.size > 0 && slot.replaced.has(place)) return ''
    const { delta, logprobs } = event
    // The fast path for most events.
    if (type === TEXT_DELTA && typeof delta === 'string' && isEmpty(logprobs)) {
      const at = `"item_id":${slot.quotedId},"output_index":${slot.place},"content_index":${place}`
      return this.#writer.event(type, `${at},"delta":${JSON.stringify(delta)},"logprobs":[]`)
    }
    const members = words.build(event)
    if (!members) return ''
    const at = { item_id: slot.id, output_index: slot.place, [words.place]: place }
    return this.#writer.event(type, Object.assign(at, members))
  }

  #takePart(event: JsonObject, type: string): string | Promise<string> {
    const slot = this.#openSlot(event)
    const place = placeIn(event['content_index'], MAX_ITEMS)
    const at = { item_id: slot.id, output_index: slot.place, content_index: place }
    if (slot.replaced.has(place)) return ''
    const isMessage = slot.type === 'message'
    const part = isMessage ? partOf(event['part'] ?? null) : thoughtOf(event['part'])
    if (part) return this.#writer.event(type, { ...at, part })
    if (!isMessage || type === 'response.content_part.done') throw new Garbled('a part of an unknown kind')
    return this.#replacePart(slot, at)
  }

  async #replacePart({ replaced }: OpenItem, at: JsonObject & { content_index: number }): Promise<string> {
    this.#countCall()
    const [ruling] = await this.#judge.judge([UNKNOWN])
    const part = refusedPart(ruling, this.#judge)
    replaced.set(at.content_index, part)
    return this.#writer.part(at, part)
  }

  #takeAdded(event: JsonObject): string {
    const index = placeIn(event['output_index'], MAX_ITEMS)
    if (this.#slots.has(index)) throw new Garbled('two items in one place')
    const item = itemIn(event['item'])
    if (isTextType(item['type'])) return this.#open(index, item)
    this.#hold(index, item)
    return ''
  }

  #hold(index: number, item: JsonObject): HeldItem {
    this.#countCall()
    const slot = new HeldItem(item)
    this.#slots.set(index, slot)
    return slot
  }

  #open(index: number, item: JsonObject): string {
    const id = idOf(item['id']) ?? newId('item_')
    const quotedId = JSON.stringify(id)
    const place = this.#sent.length
    const slot: OpenItem = { state: 'open', type: item['type'], id, quotedId, place, replaced: new Map() }
    const shown = wordsOf({ status: 'in_progress', ...item }, slot)
    this.#slots.set(index, slot)
    this.#sent.push(shown)
    this.#onItem?.(id)
    return this.#writer.event('response.output_item.added', { output_index: place, item: shown })
  }

  #takeDone(event: JsonObject): string | Promise<string> {
    const index = placeIn(event['output_index'], MAX_ITEMS)
    const item = itemIn(event['item'])
    const slot = this.#slots.get(index) ?? this.#unannounced(index, item)
    if (slot.state === 'done') throw new Garbled('an item that ends twice')
    this.#slots.set(index, { state: 'done', type: slot.type })
    if (slot.state === 'held') {
      this.#held -= slot.size
      slot.check(item)
      return this.#release([draftOf(item, this.#judge)])
    }
    if (item['type'] !== slot.type) throw new Garbled('an item changes its type')
    const shown = wordsOf(item, slot)
    this.#sent[slot.place] = shown
    return this.#writer.event('response.output_item.done', { output_index: slot.place, item: shown })
  }

  #unannounced(index: number, item: JsonObject): HeldItem {
    if (isTextType(item['type'])) throw new Garbled('an item ends that never began')
    return this.#hold(index, item)
  }

  #release(drafts: readonly ItemDraft[]): string | Promise<string> {
    const finished = settle(drafts, this.#judge)
    const writeAll = (all: readonly Finished[]): string => all.map((one) => this.#writeOne(one)).join('')
    return finished instanceof Promise ? finished.then(writeAll) : writeAll(finished)
  }

  #writeOne({ item, events }: Finished): string {
    const whole = { ...item, id: idOf(item['id']) ?? newId('item_') }
    const text = this.#writer.item(this.#sent.length, { item: whole, events })
    this.#sent.push(whole)
    for (const name of namesOf(whole)) this.#onItem?.(name)
    return text
  }

  /** Takes events of held items. Other events are dropped if they cannot carry a call. */
  #takeAside(event: JsonObject, type: string): string {
    const index = event['output_index']
    const slot = typeof index === 'number' ? this.#slots.get(index) : undefined
    if (slot?.state === 'held') {
      this.#held += slot.take(event, type)
      if (this.#held > MAX_HELD) throw new Garbled('calls that are too long')
    } else if (isPiece(type) || CALL_MEMBERS.some((name) => Object.hasOwn(event, name))) {
      throw new Garbled('a piece of a call that is not open')
    }
    return ''
  }

  #takeFirst(event: JsonObject, type: string): string {
    const response = itemIn(event['response'])
    if (!isEmpty(response['output'])) throw new Garbled('a response that begins with items')
    return this.#writer.event(type, { response: envelopeOf(response, []) })
  }

  #takeLast(event: JsonObject, type: string): string | Promise<string> {
    const response = itemIn(event['response'])
    const { output } = response
    this.#checkRepeated(output)
    this.#isLast = true
    const cut = [...this.#slots.values()].filter((slot) => slot.state === 'held')
    const rest = this.#release(cut.map((slot) => draftOf(slot.soFar(), this.#judge, true)))
    const finish = (text: string): string => {
      this.#judge.requireForced?.()
      this.failed ||= type === 'response.failed'
      const last = this.#writer.event(type, { response: envelopeOf(response, this.#finalOutput(output)) })
      this.ended = true
      return text + last
    }
    return typeof rest === 'string' ? finish(rest) : rest.then(finish)
  }

  /** The last event may repeat only streamed items. A call that was not streamed was never judged. */
  #checkRepeated(output: Json | undefined): void {
    if (!isGiven(output)) return
    if (!isList(output)) throw new Garbled('a response without a list of items')
    const streamed = [...this.#slots.values()].map(({ type }) => type)
    for (const { type } of output.map(itemIn)) {
      const at = streamed.indexOf(type)
      if (at >= 0) streamed.splice(at, 1)
      else if (!isTextType(type)) throw new Garbled('an item that was never streamed')
    }
  }

  /** The items that were sent. An unfinished text item may be complete in the last event. */
  #finalOutput(output: Json | undefined): JsonObject[] {
    const repeated = isList(output) ? output.map(itemIn) : []
    for (const slot of this.#slots.values()) {
      if (slot.state !== 'open') continue
      const item = repeated.find(({ id, type }) => id === slot.id && type === slot.type)
      this.#sent[slot.place] = item ? wordsOf(item, slot) : { ...this.#sent[slot.place], ...unfinished(slot) }
    }
    return this.#sent
  }

  #takeError(event: JsonObject): string {
    // Some upstreams also report that the response failed.
    this.ended = true
    this.failed = true
    const { error } = event
    if (isObject(error)) return this.#writer.event('error', { error: { message: '', ...faultOf(error) } })
    const fault = faultOf(only(event, ['code', 'message', 'param']))
    return this.#writer.event('error', { code: null, message: '', param: null, ...fault })
  }

  #openSlot(event: JsonObject): OpenItem {
    const slot = this.#slots.get(placeIn(event['output_index'], MAX_ITEMS))
    if (slot?.state !== 'open') throw new Garbled('a text event of an item that is not open')
    return slot
  }

  #countCall(): void {
    if (++this.#calls > MAX_CALLS) throw new Garbled('too many calls')
  }
}

const TEXT_DELTA = 'response.output_text.delta'

function isEmpty(list: Json | undefined): boolean {
  return !isGiven(list) || (isList(list) && list.length === 0)
}

const CALL_MEMBERS = ['item', 'arguments', 'call_id', 'tool_calls'] as const

function takeLate(type: string): string {
  if (type.startsWith('response.')) throw new Garbled('an event after the end of the response')
  return ''
}

function unfinished({ type }: OpenItem): JsonObject {
  return type === 'compaction' ? {} : { status: 'incomplete' }
}

/** A text item to forward, with the id of its start event. */
function wordsOf(item: JsonObject, { id, replaced }: Pick<OpenItem, 'id' | 'replaced'>): JsonObject {
  const whole = item['type'] === 'message' ? messageOf(item, partsOf(item, replaced)) : thoughtsOf(item)
  if (!whole) throw new Garbled('a part of an unknown kind')
  return { ...whole, id }
}

function partsOf(item: JsonObject, replaced: ReadonlyMap<number, JsonObject>): JsonObject[] {
  return contentOf(item).map((part, index) => {
    const known = replaced.get(index) ?? partOf(part)
    if (!known) throw new Garbled('a part of an unknown kind')
    return known
  })
}

const decoder = new TextDecoder()
// Some servers end every stream with it. It has no meaning here.
const MARK = '[DONE]'
const BRACE = 0x7b

function readEvent(data: Uint8Array): JsonObject | undefined {
  const text = textOf(data)
  let event: Json
  try {
    event = readJson(text)
  } catch {
    if (text.trim() === MARK) return undefined
    throw new Garbled('an event that is not JSON')
  }
  if (!isObject(event)) throw new Garbled('an event that is not an object')
  return event
}

/** Data that begins with a brace has no byte order mark, and can be decoded faster. */
function textOf(data: Uint8Array): string {
  if (data[0] !== BRACE) return decoder.decode(data)
  const bytes = Buffer.isBuffer(data) ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  return bytes.toString('utf8')
}
