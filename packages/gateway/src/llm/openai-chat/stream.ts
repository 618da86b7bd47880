// Governs a streamed Chat Completions reply. Text is forwarded at once; calls are forwarded after their choice is finished and
// they are judged.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { createAllowance, judgeCalls, MAX_ITEMS, sortOutcomes, type CallOutcome } from './calls.ts'
import { createHeld, type ChoiceCalls, type HeldCalls } from './held.ts'
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
import { createWordWriter, wordsIn } from './text-chunk.ts'
import { formatSse, type SseEvent } from '../../sse.ts'

/** A choice, over all its chunks. */
interface Choice {
  readonly index: number
  readonly held: HeldCalls
  /** Whether any content has been sent. */
  hasSpoken: boolean
  hasFinished: boolean
  /** The number of its forwarded calls. */
  callsLeft: number
}

/** A choice in one chunk: the part to forward at once, and its end, if calls must be judged first. */
interface ChunkDraft {
  readonly entry: JsonObject
  /** It has no text. It may have pieces of calls, which are held. */
  readonly isSilent: boolean
  readonly ending: ChoiceEnding | undefined
}

interface ChoiceEnding {
  readonly choice: Choice
  readonly reason: string
}

/** Rewrites the chunks of one reply in order. Each waits for the one before. */
export function openChatStream(judge: Judge): Rewriter {
  const allowance = createAllowance()
  const counted = { legacy: 0 }
  const choices = new Map<number, Choice>()
  const writeWords = createWordWriter()
  let hasFailed = false
  let isDone = false
  /** Judgements that are running or have failed. Until they are settled, the stream has not ended. */
  let unsettled = 0

  function take({ data }: SseEvent): string | Promise<string> {
    const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8').trim()
    if (text === '') return ''
    if (isDone) throw new Garbled('an event follows the end of the stream')
    if (text === '[DONE]') return close()
    if (hasFailed) throw new Garbled('an event follows an error')
    const chunk = parseChunk(text)
    return isGiven(chunk['error']) ? fail(chunk['error']) : takeChunk(chunk, data.byteLength)
  }

  function close(): string {
    const isHalf = [...choices.values()].some(({ held }) => !held.isEmpty)
    // Without its calls the reply would look complete.
    if (isHalf && !hasFailed) throw new Garbled('the stream ends before its calls are complete')
    isDone = true
    return formatSse('[DONE]')
  }

  function fail(error: Json): string {
    hasFailed = true
    return eventOf({ error: errorOf(error) })
  }

  function takeChunk(chunk: JsonObject, size: number): string | Promise<string> {
    const words = wordsIn(chunk)
    if (words) {
      const choice = choiceAt(words.index)
      choice.hasSpoken = true
      return writeWords(chunk, words)
    }
    const entries = choicesOf(chunk)
    const places = entries.map((entry) => placeOf(entry, MAX_ITEMS, 'a choice'))
    if (new Set(places).size < places.length) throw new Garbled('a chunk has one choice twice')
    const drafts = entries.map((entry, at) => readChoice(entry, choiceAt(places[at] ?? at), size))
    const head = headOf(chunk, 'chat.completion.chunk')
    const figures = figuresOf(chunk)
    const endings = drafts.flatMap(({ ending }) => ending ?? [])
    if (endings.length === 0) {
      const isSilent = drafts.length > 0 && drafts.every((draft) => draft.isSilent)
      return isSilent && !Object.values(figures).some(isGiven) ? '' : leadOf(head, drafts, figures)
    }
    const lead = drafts.every((draft) => draft.isSilent) ? '' : leadOf(head, drafts)
    unsettled++
    return settle(head, figures, endings).then((rest) => {
      unsettled--
      return lead + rest
    })
  }

  function isOver(): boolean {
    for (const { hasFinished } of choices.values()) if (!hasFinished) return false
    return choices.size > 0
  }

  function choiceAt(index: number): Choice {
    const known = choices.get(index)
    if (known) return known
    const held = createHeld(allowance, counted)
    const choice = { index, held, hasSpoken: false, hasFinished: false, callsLeft: 0 }
    choices.set(index, choice)
    return choice
  }

  function readChoice(entry: JsonObject, choice: Choice, size: number): ChunkDraft {
    const delta = deltaOf(entry)
    const content = takeContent(delta, choice, size)
    choice.held.take(delta, size)
    if (choice.hasFinished && !choice.held.isEmpty)
      throw new Garbled('a call comes after its choice has finished')
    const reason = finishOf(entry)
    if (reason !== undefined) choice.hasFinished = true
    const isHeld = reason !== undefined && !choice.held.isEmpty
    const words = { ...roleOf(delta), ...content, ...asidesOf(delta, judge) }
    const finish = reason === undefined || isHeld ? null : adjustedFinish(reason, choice.callsLeft)
    return {
      entry: {
        index: choice.index,
        delta: words,
        ...logprobsIn(entry, delta),
        finish_reason: finish,
      },
      isSilent: finish === null && Object.values(words).every((word) => word === null || word === ''),
      ending: isHeld ? { choice, reason } : undefined,
    }
  }

  /** Judges all calls of these choices and returns them with the ends of the choices. */
  async function settle(
    head: JsonObject,
    figures: JsonObject,
    endings: readonly ChoiceEnding[],
  ): Promise<string> {
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
    const outcomes = await judgeCalls(calls, judge)
    const events = released.flatMap((each) =>
      deltasOf(each, outcomes).map((entry) => ({ ...head, choices: [entry] })),
    )
    const finishes = endings.map(({ choice, reason }) => ({
      index: choice.index,
      delta: {},
      finish_reason: adjustedFinish(reason, choice.callsLeft),
    }))
    return [...events, { ...head, choices: finishes, ...figures }].map(eventOf).join('')
  }

  return {
    take,
    get ended() {
      return unsettled === 0 && (isDone || hasFailed || isOver())
    },
    get failed() {
      return hasFailed
    },
  }
}

/** The texts of denied calls come first, because the official accumulator ends the content when a call begins. */
function deltasOf(
  { choice, calls }: { readonly choice: Choice; readonly calls: ChoiceCalls },
  outcomes: ReadonlyMap<ChoiceCalls['tools'][number], CallOutcome>,
): JsonObject[] {
  const unknown = sortOutcomes(calls.unknown, outcomes)
  const tools = sortOutcomes(calls.tools, outcomes)
  const legacy = sortOutcomes(calls.legacy, outcomes)
  choice.callsLeft += tools.written.length + legacy.written.length
  const deltas = [
    ...[...unknown.texts, ...tools.texts, ...legacy.texts].map((text) => ({ content: apart(text, choice) })),
    ...tools.written.map((written, index) => ({ tool_calls: [{ index, ...written }] })),
    ...legacy.written.map((written) => ({ function_call: written })),
  ]
  return deltas.map((delta) => ({ index: choice.index, delta, finish_reason: null }))
}

function apart(text: string, choice: Choice): string {
  const isFirst = !choice.hasSpoken
  choice.hasSpoken = true
  return isFirst ? text : `\n\n${text}`
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

function takeContent({ content }: JsonObject, choice: Choice, size: number): JsonObject {
  if (content === undefined) return {}
  if (content === null) return { content }
  if (typeof content === 'string') {
    choice.hasSpoken ||= content !== ''
    return { content }
  }
  if (!isList(content)) throw new Garbled('the content is neither a string nor a list')
  const parts = objectsIn(content, 'a part of the content').flatMap((part) => {
    const known = partOf(part)
    if (!known) choice.held.takeUnknown(part, size)
    return known ?? []
  })
  choice.hasSpoken ||= parts.length > 0
  return parts.length > 0 ? { content: parts } : {}
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
