// Governs a streamed response. Text is forwarded as it arrives. Possible calls and provider items are held until they are
// finished, then judged and written out. Places count the items that were sent, and the last event repeats exactly those.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { SSE_COMMENT, type SseEvent } from '../../sse.ts'
import { Garbled, type Judge, type OnItem, type Rewriter } from '../dialect.ts'
import { only } from '../filter.ts'
import { readJson } from '../read-json.ts'
import { namesOf } from './approvals.ts'
import { envelopeOf, faultOf } from './envelope.ts'
import { createWriter, writeItem, writePart, type Write } from './events.ts'
import { createHeld, isPiece, type HeldItem } from './held.ts'
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
export function openStream(judge: Judge, onItem?: OnItem): Rewriter {
  const slots = new Map<number, Slot>()
  const sent: JsonObject[] = []
  let write: Write | undefined
  let held = 0
  let calls = 0
  let isLast = false
  let ended = false
  let failed = false

  function take({ data }: SseEvent): string | Promise<string> {
    const event = readEvent(data)
    if (!event) return ''
    const type = event['type']
    if (typeof type !== 'string') throw new Garbled('an event without a type')
    write ??= createWriter(event['sequence_number'])
    if (isLast) return takeLate(type)
    const words = wordEvent(type)
    return words ? takeWords(write, event, words, type) : takeOther(write, event, type)
  }

  function takeOther(write: Write, event: JsonObject, type: string): string | Promise<string> {
    if (type === 'response.output_item.added') return takeAdded(write, event)
    if (type === 'response.output_item.done') return takeDone(write, event)
    if (type === 'response.content_part.added' || type === 'response.content_part.done') {
      return takePart(write, event, type)
    }
    if (FIRST.has(type)) return takeFirst(write, event, type)
    if (LAST.has(type)) return takeLast(write, event, type)
    if (type === 'error') return takeError(write, event)
    if (type === 'keepalive') return SSE_COMMENT
    return takeAside(event, type)
  }

  function takeWords(write: Write, event: JsonObject, words: WordEvent, type: string): string {
    const slot = openSlot(event)
    if (slot.type !== words.on) throw new Garbled('a text event does not fit its item')
    const place = placeIn(event[words.place], MAX_ITEMS)
    if (slot.replaced.size > 0 && slot.replaced.has(place)) return ''
    const { delta, logprobs } = event
    // The fast path for most events.
    if (type === TEXT_DELTA && typeof delta === 'string' && isEmpty(logprobs)) {
      const at = `"item_id":${slot.quotedId},"output_index":${slot.place},"content_index":${place}`
      return write(type, `${at},"delta":${JSON.stringify(delta)},"logprobs":[]`)
    }
    const members = words.build(event)
    if (!members) return ''
    const at = { item_id: slot.id, output_index: slot.place, [words.place]: place }
    return write(type, Object.assign(at, members))
  }

  function takePart(write: Write, event: JsonObject, type: string): string | Promise<string> {
    const slot = openSlot(event)
    const place = placeIn(event['content_index'], MAX_ITEMS)
    const at = { item_id: slot.id, output_index: slot.place, content_index: place }
    if (slot.replaced.has(place)) return ''
    const part =
      slot.type === 'message' ? partOf(event['part'] ?? null) : thoughtOf(event['part'], 'reasoning_text')
    if (part) return write(type, { ...at, part })
    if (slot.type !== 'message' || type === 'response.content_part.done') {
      throw new Garbled('a part of an unknown kind')
    }
    return replacePart(write, at, { slot, place })
  }

  async function replacePart(
    write: Write,
    at: JsonObject,
    { slot, place }: { slot: OpenItem; place: number },
  ): Promise<string> {
    countCall()
    const [ruling] = await judge.judge([UNKNOWN])
    const part = refusedPart(ruling)
    slot.replaced.set(place, part)
    return writePart(write, at, part)
  }

  function takeAdded(write: Write, event: JsonObject): string {
    const index = placeIn(event['output_index'], MAX_ITEMS)
    if (slots.has(index)) throw new Garbled('two items in one place')
    const item = itemIn(event['item'])
    if (isTextType(item['type'])) return open(write, index, item)
    hold(index, item)
    return ''
  }

  function hold(index: number, item: JsonObject): HeldItem {
    countCall()
    const slot = createHeld(item)
    slots.set(index, slot)
    return slot
  }

  function open(write: Write, index: number, item: JsonObject): string {
    const id = idOf(item['id']) ?? newId('item_')
    const slot: OpenItem = {
      state: 'open',
      type: item['type'],
      id,
      quotedId: JSON.stringify(id),
      place: sent.length,
      replaced: new Map(),
    }
    const shown = wordsOf({ status: 'in_progress', ...item }, slot)
    slots.set(index, slot)
    sent.push(shown)
    onItem?.(slot.id)
    return write('response.output_item.added', { output_index: slot.place, item: shown })
  }

  function takeDone(write: Write, event: JsonObject): string | Promise<string> {
    const index = placeIn(event['output_index'], MAX_ITEMS)
    const item = itemIn(event['item'])
    const slot = slots.get(index) ?? unannounced(index, item)
    if (slot.state === 'done') throw new Garbled('an item that ends twice')
    slots.set(index, { state: 'done', type: slot.type })
    if (slot.state === 'held') {
      held -= slot.size
      slot.check(item)
      return release(write, [draftOf(item, judge)])
    }
    if (item['type'] !== slot.type) throw new Garbled('an item changes its type')
    const shown = wordsOf(item, slot)
    sent[slot.place] = shown
    return write('response.output_item.done', { output_index: slot.place, item: shown })
  }

  function unannounced(index: number, item: JsonObject): HeldItem {
    if (isTextType(item['type'])) throw new Garbled('an item ends that never began')
    return hold(index, item)
  }

  function release(write: Write, drafts: readonly ItemDraft[]): string | Promise<string> {
    const finished = settle(drafts, judge)
    const writeAll = (all: readonly Finished[]): string => all.map((one) => writeOne(write, one)).join('')
    return isReady(finished) ? writeAll(finished) : finished.then(writeAll)
  }

  function writeOne(write: Write, { item, events }: Finished): string {
    const id = idOf(item['id']) ?? newId('item_')
    const whole = { ...item, id }
    const text = writeItem(write, sent.length, { item: whole, events })
    sent.push(whole)
    for (const name of namesOf(whole)) onItem?.(name)
    return text
  }

  /** Takes events of held items. Other events are dropped if they cannot carry a call. */
  function takeAside(event: JsonObject, type: string): string {
    const index = event['output_index']
    const slot = typeof index === 'number' ? slots.get(index) : undefined
    if (slot?.state === 'held') {
      held += slot.take(event, type)
      if (held > MAX_HELD) throw new Garbled('calls that are too long')
      return ''
    }
    if (isPiece(type) || CALL_MEMBERS.some((name) => Object.hasOwn(event, name))) {
      throw new Garbled('a piece of a call that is not open')
    }
    return ''
  }

  function takeFirst(write: Write, event: JsonObject, type: string): string {
    const response = itemIn(event['response'])
    const { output } = response
    if (output !== undefined && output !== null && !(isList(output) && output.length === 0)) {
      throw new Garbled('a response that begins with items')
    }
    return write(type, { response: envelopeOf(response, []) })
  }

  function takeLast(write: Write, event: JsonObject, type: string): string | Promise<string> {
    const response = itemIn(event['response'])
    checkRepeated(response['output'])
    isLast = true
    const cut = [...slots.values()].filter((slot) => slot.state === 'held').map((slot) => slot.soFar())
    const finish = (text: string): string => {
      failed ||= type === 'response.failed'
      const last = write(type, { response: envelopeOf(response, finalOutput(response['output'])) })
      ended = true
      return text + last
    }
    const rest = release(
      write,
      cut.map((item) => draftOf(item, judge, true)),
    )
    return typeof rest === 'string' ? finish(rest) : rest.then(finish)
  }

  /** The last event may repeat only streamed items. A call that was not streamed was never judged. */
  function checkRepeated(output: Json | undefined): void {
    if (output === undefined || output === null) return
    if (!isList(output)) throw new Garbled('a response without a list of items')
    const streamed = [...slots.values()].map(({ type }) => type)
    for (const { type } of output.map(itemIn)) {
      const at = streamed.indexOf(type)
      if (at >= 0) streamed.splice(at, 1)
      else if (!isTextType(type)) throw new Garbled('an item that was never streamed')
    }
  }

  /** The items that were sent. An unfinished text item may be complete in the last event. */
  function finalOutput(output: Json | undefined): JsonObject[] {
    const repeated = isList(output) ? output.map(itemIn) : []
    for (const slot of slots.values()) {
      if (slot.state !== 'open') continue
      const item = repeated.find(({ id, type }) => id === slot.id && type === slot.type)
      sent[slot.place] = item ? wordsOf(item, slot) : { ...sent[slot.place], ...unfinished(slot) }
    }
    return sent
  }

  function takeError(write: Write, event: JsonObject): string {
    // Some upstreams also report that the response failed.
    ended = true
    failed = true
    const { error } = event
    if (isObject(error)) return write('error', { error: { message: '', ...faultOf(error) } })
    const fault = faultOf(only(event, ['code', 'message', 'param']))
    return write('error', { code: null, message: '', param: null, ...fault })
  }

  function openSlot(event: JsonObject): OpenItem {
    const slot = slots.get(placeIn(event['output_index'], MAX_ITEMS))
    if (slot?.state !== 'open') throw new Garbled('a text event of an item that is not open')
    return slot
  }

  function countCall(): void {
    if (++calls > MAX_CALLS) throw new Garbled('too many calls')
  }

  return {
    take,
    get ended() {
      return ended
    },
    get failed() {
      return failed
    },
  }
}

const TEXT_DELTA = 'response.output_text.delta'

function isEmpty(list: Json | undefined): boolean {
  return list === undefined || list === null || (isList(list) && list.length === 0)
}

const CALL_MEMBERS = ['item', 'arguments', 'call_id', 'tool_calls'] as const

function takeLate(type: string): string {
  const isItem = type.startsWith('response.')
  if (isItem) throw new Garbled('an event after the end of the response')
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

function isReady(
  finished: readonly Finished[] | Promise<readonly Finished[]>,
): finished is readonly Finished[] {
  return Array.isArray(finished)
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
