// A reply of Chat Completions that streams in: words go on at once, calls when their choice has finished and they were judged.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { createAllowance, judgeCalls, MOST_ITEMS, sortOutcomes, type CallOutcome } from './calls.ts'
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
import { readJson } from '../read-json.ts'
import { createWordWriter, wordsIn } from './text-chunk.ts'
import { formatSse, type SseEvent } from '../../sse.ts'

/** A choice, over all of its chunks. */
interface Choice {
  readonly index: number
  readonly held: HeldCalls
  /** Whether any content has gone out. */
  hasSpoken: boolean
  hasFinished: boolean
  /** How many of its calls have gone on. */
  callsLeft: number
}

/** A choice in one chunk: what of it goes on at once, and what has to be judged before it finishes. */
interface ChunkDraft {
  readonly entry: JsonObject
  /** It says nothing: what it has, if anything, is pieces of calls, which are held. */
  readonly isSilent: boolean
  readonly ending: ChoiceEnding | undefined
}

interface ChoiceEnding {
  readonly choice: Choice
  readonly reason: string
}

/** Takes the chunks of one reply, one after the other: each waits for what was made of the one before. */
export function openChatStream(judge: Judge): Rewriter {
  const allowance = createAllowance()
  const counted = { legacy: 0 }
  const choices = new Map<number, Choice>()
  const writeWords = createWordWriter()
  let hasFailed = false
  let isDone = false
  /** What is being judged, or could not be: until then nothing has ended. */
  let unsettled = 0

  function take({ data }: SseEvent): string | Promise<string> {
    const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('utf8').trim()
    if (text === '') return ''
    if (isDone) throw new Garbled('the stream goes on after its end')
    if (text === '[DONE]') return close()
    if (hasFailed) throw new Garbled('the stream goes on after an error')
    const chunk = parseChunk(text)
    return isSaid(chunk['error']) ? fail(chunk['error']) : takeChunk(chunk, data.byteLength)
  }

  function close(): string {
    const isHalf = [...choices.values()].some(({ held }) => !held.isEmpty)
    // Without the calls the reply would look whole.
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
    const places = entries.map((entry) => placeOf(entry, MOST_ITEMS, 'a choice'))
    if (new Set(places).size < places.length) throw new Garbled('a chunk has one choice twice')
    const drafts = entries.map((entry, at) => readChoice(entry, choiceAt(places[at] ?? at), size))
    const head = headOf(chunk, 'chat.completion.chunk')
    const figures = figuresOf(chunk)
    const endings = drafts.flatMap(({ ending }) => ending ?? [])
    if (endings.length === 0) {
      const isSilent = drafts.length > 0 && drafts.every((draft) => draft.isSilent)
      return isSilent && !Object.values(figures).some(isSaid) ? '' : leadOf(head, drafts, figures)
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

  /** Judges all the calls that these choices have, and gives what goes on of them and the choices' ends. */
  async function settle(
    head: JsonObject,
    figures: JsonObject,
    endings: readonly ChoiceEnding[],
  ): Promise<string> {
    // Only now: a call that comes in the same chunk counts too.
    const released = endings.map(({ choice, reason }) => ({
      choice,
      calls: choice.held.release(isCutBy(reason)),
    }))
    const calls = released.flatMap(({ calls: { strange, tools, legacy } }) => [
      ...strange,
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

/** The texts of refused calls come first: for the official accumulator the content is done when a call begins. */
function deltasOf(
  { choice, calls }: { readonly choice: Choice; readonly calls: ChoiceCalls },
  outcomes: ReadonlyMap<ChoiceCalls['tools'][number], CallOutcome>,
): JsonObject[] {
  const strange = sortOutcomes(calls.strange, outcomes)
  const tools = sortOutcomes(calls.tools, outcomes)
  const legacy = sortOutcomes(calls.legacy, outcomes)
  choice.callsLeft += tools.written.length + legacy.written.length
  const deltas = [
    ...[...strange.texts, ...tools.texts, ...legacy.texts].map((text) => ({ content: apart(text, choice) })),
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

/** Whoever the upstream says it is: a reply is the assistant's. */
function roleOf({ role }: JsonObject): JsonObject {
  return isSaid(role) ? { role: 'assistant' } : {}
}

function takeContent({ content }: JsonObject, choice: Choice, size: number): JsonObject {
  if (content === undefined) return {}
  if (content === null) return { content }
  if (typeof content === 'string') {
    choice.hasSpoken ||= content !== ''
    return { content }
  }
  if (!isList(content)) throw new Garbled('the content is neither a text nor a list')
  const parts = objectsIn(content, 'a part of the content').flatMap((part) => {
    const known = partOf(part)
    if (!known) choice.held.takeStrange(part, size)
    return known ?? []
  })
  choice.hasSpoken ||= parts.length > 0
  return parts.length > 0 ? { content: parts } : {}
}

const LONGEST = 500

function errorOf(error: Json): JsonObject {
  const said: JsonObject = isObject(error) ? error : { message: error }
  const known: Record<string, Json> = { message: 'the provider gives no reason' }
  for (const name of ['message', 'type', 'code', 'param']) {
    const value = said[name]
    if (typeof value === 'string') known[name] = value.slice(0, LONGEST)
    if (name === 'code' && typeof value === 'number') known[name] = value
  }
  return known
}

function isSaid(value: Json | undefined): value is Exclude<Json, null> {
  return value !== undefined && value !== null
}
