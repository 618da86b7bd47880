// Governs a streamed Chat Completions reply. Text is forwarded at once; calls are forwarded after their choice is finished and
// they are judged.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { Allowance, judgeCalls, MAX_ITEMS, sortOutcomes, type Outcomes } from './calls.ts'
import { HeldCalls, type ChoiceCalls, type SharedCounts } from './held.ts'
import {
  adjustedFinish,
  asidesOf,
  choicesOf,
  figuresOf,
  finishOf,
  headOf,
  isCutBy,
  logprobsIn,
  objectsIn,
  partOf,
  placeOf,
} from './members.ts'
import { Garbled, type Judge, type Rewriter } from '../dialect.ts'
import { isGiven } from '../filter.ts'
import { readJson } from '../read-json.ts'
import { wordsIn, WordWriter } from './text-chunk.ts'
import { formatSse, type SseEvent } from '../../sse.ts'

/** A choice in one chunk: the part to forward at once, and its end, if calls must be judged first. */
interface ChunkDraft {
  readonly entry: JsonObject
  /** It has no text. It may have pieces of calls, which are held. */
  readonly isSilent: boolean
  readonly ending: ChoiceEnding | undefined
}

interface ChoiceEnding {
  readonly choice: StreamedChoice
  readonly reason: string
}

/** Rewrites the chunks of one reply in order. Each waits for the one before. */
export class ChatStream implements Rewriter {
  failed = false
  readonly #judge: Judge
  readonly #shared: SharedCounts = { allowance: new Allowance(), legacy: 0 }
  readonly #choices = new Map<number, StreamedChoice>()
  readonly #words = new WordWriter()
  #isDone = false
  /** Judgements that are running or have failed. Until they are settled, the stream has not ended. */
  #unsettled = 0

  constructor(judge: Judge) {
    this.#judge = judge
  }

  get ended(): boolean {
    return this.#unsettled === 0 && (this.#isDone || this.failed || this.#isOver())
  }

  take({ data }: SseEvent): string | Promise<string> {
    const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8').trim()
    if (text === '') return ''
    if (this.#isDone) throw new Garbled('an event follows the end of the stream')
    if (text === '[DONE]') return this.#close()
    if (this.failed) throw new Garbled('an event follows an error')
    const chunk = parseChunk(text)
    return isGiven(chunk['error']) ? this.#fail(chunk['error']) : this.#takeChunk(chunk, data.byteLength)
  }

  #close(): string {
    const isHalf = [...this.#choices.values()].some(({ held }) => !held.isEmpty)
    // Without its calls the reply would look complete.
    if (isHalf && !this.failed) throw new Garbled('the stream ends before its calls are complete')
    this.#isDone = true
    return formatSse('[DONE]')
  }

  #fail(error: Json): string {
    this.failed = true
    return eventOf({ error: errorOf(error) })
  }

  #takeChunk(chunk: JsonObject, size: number): string | Promise<string> {
    const words = wordsIn(chunk)
    if (words) {
      this.#choiceAt(words.index).hasSpoken = true
      return this.#words.write(chunk, words)
    }
    const drafts = this.#draftsOf(chunk, size)
    const head = headOf(chunk, 'chat.completion.chunk')
    const figures = figuresOf(chunk)
    const endings = drafts.flatMap(({ ending }) => ending ?? [])
    const isSilent = drafts.every((draft) => draft.isSilent)
    if (endings.length === 0) {
      const isEmpty = isSilent && drafts.length > 0 && !Object.values(figures).some(isGiven)
      return isEmpty ? '' : leadOf(head, drafts, figures)
    }
    const lead = isSilent ? '' : leadOf(head, drafts)
    this.#unsettled++
    return this.#settle(head, figures, endings).then((rest) => {
      this.#unsettled--
      return lead + rest
    })
  }

  #draftsOf(chunk: JsonObject, size: number): readonly ChunkDraft[] {
    const entries = choicesOf(chunk)
    const places = entries.map((entry) => placeOf(entry, MAX_ITEMS, 'a choice'))
    if (new Set(places).size < places.length) throw new Garbled('a chunk has one choice twice')
    return entries.map((entry, at) => this.#choiceAt(places[at] ?? at).read(entry, size, this.#judge))
  }

  #isOver(): boolean {
    for (const { hasFinished } of this.#choices.values()) if (!hasFinished) return false
    return this.#choices.size > 0
  }

  #choiceAt(index: number): StreamedChoice {
    const known = this.#choices.get(index)
    if (known) return known
    const choice = new StreamedChoice(index, this.#shared)
    this.#choices.set(index, choice)
    return choice
  }

  /** Judges all calls of these choices and returns them with the ends of the choices. */
  async #settle(head: JsonObject, figures: JsonObject, endings: readonly ChoiceEnding[]): Promise<string> {
    // Released only now, because a call in the same chunk counts too.
    const released = endings.map(({ choice, reason }) => ({
      choice,
      calls: choice.held.release(isCutBy(reason)),
    }))
    const calls = released.flatMap(({ calls: { unknown, tools, legacy } }) => [
      ...unknown,
      ...tools,
      ...legacy,
    ])
    const outcomes = await judgeCalls(calls, this.#judge)
    this.#judge.requireForced?.()
    const events = released.flatMap((each) =>
      each.choice
        .deltasOf(each.calls, outcomes, this.#judge.structured === true)
        .map((entry) => ({ ...head, choices: [entry] })),
    )
    const finishes = endings.map(({ choice, reason }) => choice.lastEntry(reason))
    return [...events, { ...head, choices: finishes, ...figures }].map(eventOf).join('')
  }
}

/** A choice, over all its chunks. */
class StreamedChoice {
  readonly index: number
  readonly held: HeldCalls
  /** Whether any content has been sent. */
  hasSpoken = false
  hasFinished = false
  #hasRefused = false
  /** The number of its forwarded calls. */
  #callsLeft = 0

  constructor(index: number, shared: SharedCounts) {
    this.index = index
    this.held = new HeldCalls(shared)
  }

  /** Reads its entry in a chunk. Holds pieces of calls. @throws Garbled */
  read(entry: JsonObject, size: number, judge: Judge): ChunkDraft {
    const delta = deltaOf(entry)
    const content = this.#takeContent(delta, size)
    this.held.take(delta, size)
    if (this.hasFinished && !this.held.isEmpty)
      throw new Garbled('a call comes after its choice has finished')
    const reason = finishOf(entry)
    if (reason !== undefined) this.hasFinished = true
    const isHeld = reason !== undefined && !this.held.isEmpty
    const words: JsonObject = { ...roleOf(delta), ...content, ...asidesOf(delta, judge) }
    this.#hasRefused ||= isGiven(words['refusal']) && words['refusal'] !== ''
    const finish = reason === undefined || isHeld ? null : adjustedFinish(reason, this.#callsLeft)
    return {
      entry: { index: this.index, delta: words, ...logprobsIn(entry, delta), finish_reason: finish },
      isSilent: finish === null && Object.values(words).every((word) => word === null || word === ''),
      ending: isHeld ? { choice: this, reason } : undefined,
    }
  }

  #takeContent({ content }: JsonObject, size: number): JsonObject {
    if (content === undefined) return {}
    if (content === null) return { content }
    if (typeof content === 'string') {
      this.hasSpoken ||= content !== ''
      return { content }
    }
    if (!isList(content)) throw new Garbled('the content is neither a string nor a list')
    const parts = objectsIn(content, 'a part of the content').flatMap((part) => {
      const known = partOf(part)
      if (!known) this.held.takeUnknown(part, size)
      return known ?? []
    })
    this.hasSpoken ||= parts.length > 0
    return parts.length > 0 ? { content: parts } : {}
  }

  /** The texts of denied calls come first, because the official accumulator ends the content when a call begins. */
  deltasOf(calls: ChoiceCalls, outcomes: Outcomes, structured: boolean): JsonObject[] {
    const unknown = sortOutcomes(calls.unknown, outcomes)
    const tools = sortOutcomes(calls.tools, outcomes)
    const legacy = sortOutcomes(calls.legacy, outcomes)
    this.#callsLeft += tools.written.length + legacy.written.length
    const deltas = [
      ...[...unknown.texts, ...tools.texts, ...legacy.texts].map((text) => this.#denial(text, structured)),
      ...tools.written.map((written, index) => ({ tool_calls: [{ index, ...written }] })),
      ...legacy.written.map((written) => ({ function_call: written })),
    ]
    return deltas.map((delta) => ({ index: this.index, delta, finish_reason: null }))
  }

  /** Structured content stays JSON: the text is a refusal. */
  #denial(text: string, structured: boolean): JsonObject {
    const isFirst = structured ? !this.#hasRefused : !this.hasSpoken
    if (structured) this.#hasRefused = true
    else this.hasSpoken = true
    return { [structured ? 'refusal' : 'content']: isFirst ? text : `\n\n${text}` }
  }

  /** Its last entry, after its calls. */
  lastEntry(reason: string): JsonObject {
    return { index: this.index, delta: {}, finish_reason: adjustedFinish(reason, this.#callsLeft) }
  }
}

function leadOf(head: JsonObject, drafts: readonly ChunkDraft[], figures: JsonObject = {}): string {
  return eventOf({ ...head, choices: drafts.map(({ entry }) => entry), ...figures })
}

function eventOf(chunk: JsonObject): string {
  return formatSse(JSON.stringify(chunk))
}

function parseChunk(text: string): JsonObject {
  let chunk: Json
  try {
    chunk = readJson(text)
  } catch {
    throw new Garbled('an event is not JSON')
  }
  if (!isObject(chunk)) throw new Garbled('an event is not an object')
  return chunk
}

function deltaOf({ delta = null }: JsonObject): JsonObject {
  if (delta === null) return {}
  if (!isObject(delta)) throw new Garbled('a delta is not an object')
  return delta
}

/** A reply always has the role of the assistant. */
function roleOf({ role }: JsonObject): JsonObject {
  return isGiven(role) ? { role: 'assistant' } : {}
}

const MAX_ERROR_LENGTH = 500

function errorOf(error: Json): JsonObject {
  const given: JsonObject = isObject(error) ? error : { message: error }
  const known: Record<string, Json> = { message: 'the provider gives no reason' }
  for (const name of ['message', 'type', 'code', 'param']) {
    const value = given[name]
    if (typeof value === 'string') known[name] = value.slice(0, MAX_ERROR_LENGTH)
    if (name === 'code' && typeof value === 'number') known[name] = value
  }
  return known
}
