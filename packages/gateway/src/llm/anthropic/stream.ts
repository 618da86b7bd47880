// Governs a streamed reply. Text is forwarded as it arrives; a call is held until it is complete and judged. Blocks are
// numbered in the order in which they leave, because the official clients append each block and find it by its number.

import { TextDecoder } from 'node:util'
import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { entryOf, objectIn } from '../filter.ts'
import { blockKind, type BlockKind, type Deltas } from './blocks.ts'
import { isEmpty, ReplyCalls, textOf, unknown, type Released, type Sorted } from './calls.ts'
import { deltaOf, envelopeOf, isCut, reasonIn } from './message.ts'
import { Garbled, type Judge, type Rewriter } from '../dialect.ts'
import type { SseEvent } from '../../sse.ts'

/** The maximum number of blocks in a reply. */
export const MAX_BLOCKS = 1024
/** Maximum length of held data, in characters. */
const MAX_HELD = 4 << 20
const MAX_ERROR = 500
const MAX_DEPTH = 32

/** A block whose events are forwarded as they arrive. */
interface Flowing {
  readonly state: 'flowing'
  readonly deltas: Deltas
  /** Its number in the output. */
  readonly at: number
  /** The constant start of its delta events. */
  readonly opening: string
}

/** A block of which nothing has been sent. */
interface HeldBlock {
  readonly state: 'held'
  /** The block from its start event. */
  readonly block: JsonObject
  /** Undefined for an unknown type. */
  readonly kind: BlockKind | undefined
  /** The number of held characters. */
  size: number
  /** The JSON text of its input so far. */
  text: string
}

/** `stopped`: the upstream ended it. `closed`: only the end of the message ended it. */
type StreamBlock = Flowing | HeldBlock | { readonly state: 'stopped' } | { readonly state: 'closed' }

const STOPPED: StreamBlock = { state: 'stopped' }
const CLOSED: StreamBlock = { state: 'closed' }

/** Rewrites the events of one reply. */
export class MessageStream implements Rewriter {
  failed = false
  readonly #judge: Judge
  readonly #calls: ReplyCalls
  /** By their numbers in the input. */
  readonly #blocks = new Map<number, StreamBlock>()
  /** Finished calls without arguments. Until the reply continues, they may have lost them. */
  #bare: HeldBlock[] = []
  #phase: 'before' | 'open' | 'finished' | 'over' = 'before'
  /** Whether the last event has been taken whole. After an unreadable event, nothing more is accepted. */
  #isReady = true
  #placed = 0
  #held = 0

  constructor(judge: Judge) {
    this.#judge = judge
    this.#calls = new ReplyCalls(judge)
  }

  get ended(): boolean {
    return this.#isReady && this.#phase === 'over'
  }

  take(event: SseEvent): string | Promise<string> {
    if (!this.#isReady) throw new Garbled('an event follows an unreadable one')
    this.#isReady = false
    return after(this.#takeEvent(event), () => {
      this.#isReady = true
      return ''
    })
  }

  #takeEvent(event: SseEvent): string | Promise<string> {
    // Events after the end are dropped.
    if (this.#phase === 'over') return ''
    const data = dataOf(event)
    switch (typeOf(data)) {
      case 'content_block_delta':
        this.#mustBe('open')
        return this.#delta(data)
      case 'ping':
        return eventText({ type: 'ping' })
      case 'error':
        this.#phase = 'over'
        this.failed = true
        return eventText(errorOf(data))
      case 'message_start':
        return this.#begin(data)
      case 'content_block_start':
        this.#mustBe('open')
        return after(this.#releaseBare(false), () => this.#start(data, event.data.length))
      case 'content_block_stop':
        this.#mustBe('open', 'finished')
        return this.#stop(indexIn(data))
      case 'message_delta':
        this.#mustBe('open', 'finished')
        return this.#finish(data)
      case 'message_stop':
        this.#mustBe('open', 'finished')
        return after(this.#close(true), () => {
          this.#phase = 'over'
          return eventText({ type: 'message_stop' })
        })
      default:
        if (mayHoldCall(data, 0)) throw new Garbled('an event of an unknown type may hold a call')
        return ''
    }
  }

  #mustBe(phase: string, another = phase): void {
    if (this.#phase !== phase && this.#phase !== another) throw new Garbled('its events are out of order')
  }

  #begin({ message }: JsonObject): string {
    this.#mustBe('before')
    if (!isObject(message)) throw new Garbled('it starts without a message')
    const content = message['content'] ?? []
    if (!isList(content) || content.length > 0) throw new Garbled('it starts with content')
    this.#phase = 'open'
    const started = { ...envelopeOf(message), content: [], stop_reason: null, stop_sequence: null }
    return eventText({ type: 'message_start', message: started })
  }

  #start(data: JsonObject, size: number): string {
    const index = indexIn(data)
    const block = data['content_block']
    if (this.#blocks.has(index)) throw new Garbled('a block starts twice')
    if (this.#blocks.size >= MAX_BLOCKS) throw new Garbled('it has too many blocks')
    if (!isObject(block)) throw new Garbled('a block is not an object')
    const kind = blockKind(block)
    if (kind?.role === 'words') {
      const built = kind.shape(block)
      if (!built) throw new Garbled('a block does not match its type')
      return this.#flow(index, kind.deltas, { type: typeOf(block), ...built })
    }
    // A provider block without deltas can be sorted at once.
    const sorted = kind?.role === 'ran' && !kind.input ? this.#calls.sortRan(block) : undefined
    if (sorted && 'passes' in sorted) return this.#flow(index, {}, sorted.passes.block)
    this.#hold(size)
    this.#blocks.set(index, { state: 'held', block, kind: sorted ? undefined : kind, size, text: '' })
    return ''
  }

  #flow(index: number, deltas: Deltas, block: JsonObject): string {
    const at = this.#placed++
    const opening = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${at},"delta":`
    this.#blocks.set(index, { state: 'flowing', deltas, at, opening })
    return eventText({ type: 'content_block_start', index: at, content_block: block })
  }

  #delta(data: JsonObject): string {
    const block = this.#blocks.get(indexIn(data))
    const delta = data['delta']
    if (!isObject(delta)) throw new Garbled('a delta is not an object')
    const type = typeOf(delta)
    if (block?.state === 'flowing') {
      const shape = entryOf(block.deltas, type)
      const words = type === 'text_delta' && shape ? delta['text'] : undefined
      // The fast path for most events. The result is the same as below.
      if (typeof words === 'string')
        return `${block.opening}{"type":"text_delta","text":${textOf(words)}}}\n\n`
      const built = shape?.(delta)
      if (!built) throw new Garbled('a delta does not fit its block')
      return `${block.opening}${textOf(built)}}\n\n`
    }
    if (block?.state !== 'held') throw new Garbled('a delta belongs to no open block')
    // An unknown block is never forwarded.
    if (!block.kind) return ''
    const piece = delta['partial_json']
    if (type !== 'input_json_delta' || typeof piece !== 'string') {
      throw new Garbled('a delta does not fit its block')
    }
    this.#hold(piece.length)
    block.size += piece.length
    block.text += piece
    return ''
  }

  #hold(size: number): void {
    this.#held += size
    if (this.#held > MAX_HELD) throw new Garbled('a call is too long')
  }

  #stop(index: number): string | Promise<string> {
    const block = this.#blocks.get(index)
    if (block?.state === 'closed') return ''
    if (block === undefined || block.state === 'stopped') {
      throw new Garbled('a block stops that is not open')
    }
    this.#blocks.set(index, STOPPED)
    if (block.state === 'flowing') return eventText({ type: 'content_block_stop', index: block.at })
    if (block.kind?.role === 'call' && block.text === '' && isEmpty(block.block['input'])) {
      this.#bare.push(block)
      return ''
    }
    return this.#release([block], (held) => this.#sort(held))
  }

  #finish(data: JsonObject): string | Promise<string> {
    const delta = data['delta']
    if (!isObject(delta)) throw new Garbled('a delta is not an object')
    const reason = reasonIn(delta)
    const last = (): string => eventText(deltaOf(data, delta, this.#calls))
    return reason === null ? last() : after(this.#close(isCut(reason)), last)
  }

  /** Ends all open blocks. An incomplete call is denied. */
  #close(cut: boolean): string | Promise<string> {
    if (this.#phase === 'finished') return ''
    this.#phase = 'finished'
    let stops = ''
    const broken: HeldBlock[] = []
    for (const [index, block] of this.#blocks) {
      if (block.state === 'flowing') stops += eventText({ type: 'content_block_stop', index: block.at })
      if (block.state === 'held') broken.push(block)
      if (block.state !== 'stopped') this.#blocks.set(index, CLOSED)
    }
    const rest = after(
      after(stops, () => this.#releaseBare(cut)),
      () => this.#release(broken, ({ block, text }) => unknown(block, text === '' ? block : text)),
    )
    return after(rest, () => {
      this.#judge.requireForced?.()
      return ''
    })
  }

  #releaseBare(cut: boolean): string | Promise<string> {
    const bare = this.#bare
    this.#bare = []
    return this.#release(bare, (held) => (cut ? unknown(held.block) : this.#sort(held)))
  }

  #sort({ block, kind, text }: HeldBlock): Sorted {
    if (kind === undefined) return unknown(block)
    const input = block['input']
    if (text !== '' && !(input === undefined || isEmpty(input))) {
      throw new Garbled('a call has its arguments twice')
    }
    if (kind.role === 'call') return this.#calls.sortCall(block, text)
    const read = text === '' ? input : objectIn(text)
    return isObject(read) ? this.#calls.sortRan({ ...block, input: read }) : unknown(block)
  }

  #release(held: readonly HeldBlock[], sort: (held: HeldBlock) => Sorted): string | Promise<string> {
    if (held.length === 0) return ''
    for (const { size } of held) this.#held -= size
    const released = this.#calls.release(held.map(sort))
    const place = (blocks: readonly Released[]): string => blocks.map((one) => this.#place(one)).join('')
    return released instanceof Promise ? released.then(place) : place(released)
  }

  /** Writes a whole block as stream events. */
  #place({ block, input }: Released): string {
    const index = this.#placed++
    const words = block['text']
    const [empty, delta]: [JsonObject, JsonObject] =
      input === undefined
        ? [{ text: '' }, { type: 'text_delta', text: typeof words === 'string' ? words : '' }]
        : [{ input: {} }, { type: 'input_json_delta', partial_json: input }]
    return [
      { type: 'content_block_start', index, content_block: { ...block, ...empty } },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    ]
      .map(eventText)
      .join('')
  }
}

/** Concatenates two texts, synchronously if possible. */
function after(
  first: string | Promise<string>,
  then: () => string | Promise<string>,
): string | Promise<string> {
  if (typeof first !== 'string') return first.then(async (text) => text + (await then()))
  const second = then()
  return typeof second === 'string' ? first + second : second.then((text) => first + text)
}

const DECODER = new TextDecoder('utf-8', { ignoreBOM: true })

function dataOf({ type, data }: SseEvent): JsonObject {
  const read = objectIn(DECODER.decode(data))
  if (!read) throw new Garbled('an event is not a JSON object')
  // Another reader could use the other type.
  if (type !== 'message' && type !== read['type']) throw new Garbled('an event has two types')
  return read
}

/** The `type` of an object, or an empty string. */
function typeOf({ type }: JsonObject): string {
  return typeof type === 'string' ? type : ''
}

function indexIn({ index }: JsonObject): number {
  if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0) {
    throw new Garbled('a block number is invalid')
  }
  return index
}

function errorOf({ error }: JsonObject): JsonObject {
  const { type, message } = isObject(error) ? error : {}
  return {
    type: 'error',
    error: {
      type: typeof type === 'string' ? type.slice(0, MAX_ERROR) : 'api_error',
      message: typeof message === 'string' ? message.slice(0, MAX_ERROR) : 'the upstream reported an error',
    },
  }
}

const LIKE_A_CALL = /tool|call|function|command|block|delta/
const PARTS_OF_CALLS: ReadonlySet<string> = new Set([
  'input',
  'arguments',
  'partial_json',
  'content_block',
  'delta',
  'content',
])

/** Whether an event of an unknown type holds anything that a client could take for a call. */
function mayHoldCall(value: Json | undefined, depth: number): boolean {
  if (depth > MAX_DEPTH) return true
  if (isList(value)) return value.some((item) => mayHoldCall(item, depth + 1))
  if (!isObject(value)) return false
  if (LIKE_A_CALL.test(typeOf(value))) return true
  return Object.entries(value).some(([name, member]) => {
    return PARTS_OF_CALLS.has(name) || LIKE_A_CALL.test(name) || mayHoldCall(member, depth + 1)
  })
}

/** The text of an event. JSON has no line breaks, and the types are constants. */
function eventText(data: JsonObject): string {
  return `event: ${typeOf(data)}\ndata: ${textOf(data)}\n\n`
}
