// The dialect of Chat Completions, and whole replies: their calls are judged and they are rebuilt from the result.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import {
  Allowance,
  judgeCalls,
  MAX_ITEMS,
  readFunctionCall,
  readToolCall,
  sortOutcomes,
  unknownCall,
  type Outcomes,
  type ReplyCall,
} from './calls.ts'
import {
  adjustedFinish,
  asidesOf,
  choicesOf,
  figuresOf,
  finishOf,
  functionCallIn,
  headOf,
  isCutBy,
  logprobsIn,
  objectsIn,
  partOf,
  placeOf,
  toolCallsIn,
} from './members.ts'
import { Garbled, type Dialect, type Judge } from '../dialect.ts'
import { readChatRequest } from './request.ts'
import { ChatStream } from './stream.ts'

/** A choice before its calls are judged. */
interface ChoiceDraft {
  readonly index: number
  readonly finish: string | undefined
  readonly content: Content
  readonly asides: JsonObject
  readonly logprobs: JsonObject
  readonly toolCalls: readonly ReplyCall[]
  readonly functionCall: readonly ReplyCall[]
}

/** The content of a message: a text, or parts of which some may be calls. */
type Content = string | null | readonly ContentPart[]
type ContentPart = { readonly known: JsonObject } | { readonly call: ReplyCall }

/** The dialect of Chat Completions, of OpenAI and compatible servers. */
export const openaiChat: Dialect = {
  readRequest: readChatRequest,
  governReply,
  openStream: (judge) => new ChatStream(judge),
}

/** Judges the calls in a reply and returns the reply to forward. @throws Garbled */
async function governReply(reply: Json, judge: Judge): Promise<JsonObject> {
  if (!isObject(reply)) throw new Garbled('the reply is not an object')
  const allowance = new Allowance()
  const choices = choicesOf(reply)
  const isOnly = choices.filter(hasFunctionCall).length === 1
  const drafts = choices.map((choice) => readChoice(choice, judge, isOnly))
  const calls = drafts.flatMap(callsOf)
  for (const call of calls) count(call, allowance)
  const outcomes = await judgeCalls(calls, judge)
  judge.requireForced?.()
  return {
    ...headOf(reply, 'chat.completion'),
    choices: drafts.map((draft) => writeChoice(draft, outcomes, judge.structured === true)),
    ...figuresOf(reply),
  }
}

function count({ proposal: { args } }: ReplyCall, allowance: Allowance): void {
  allowance.addCall()
  if (typeof args === 'string') allowance.addLength(args.length)
  else if (typeof args['input'] === 'string') allowance.addLength(args['input'].length)
}

function hasFunctionCall({ message }: JsonObject): boolean {
  return isObject(message) && functionCallIn(message).length > 0
}

/** `isOnly`: exactly one choice has a `function_call`. */
function readChoice(choice: JsonObject, judge: Judge, isOnly: boolean): ChoiceDraft {
  const { message } = choice
  if (!isObject(message)) throw new Garbled('a choice has no message')
  const finish = finishOf(choice)
  return {
    index: placeOf(choice, MAX_ITEMS, 'a choice'),
    finish,
    content: readContent(message),
    asides: asidesOf(message, judge),
    logprobs: logprobsIn(choice, message),
    toolCalls: toolCallsIn(message).map((entry) => readToolCall(entry, isCutBy(finish))),
    functionCall: functionCallIn(message).map((entry) => readFunctionCall(entry, isOnly)),
  }
}

function readContent({ content = null }: JsonObject): Content {
  if (content === null || typeof content === 'string') return content
  if (!isList(content)) throw new Garbled('the content is neither a string nor a list')
  return objectsIn(content, 'a part of the content').map((part) => {
    const known = partOf(part)
    return known ? { known } : { call: unknownCall(part) }
  })
}

/** All proposals of a choice, in order. */
function callsOf({ content, toolCalls, functionCall }: ChoiceDraft): readonly ReplyCall[] {
  const parts = typeof content === 'string' || content === null ? [] : content
  return [...parts.flatMap((part) => ('call' in part ? [part.call] : [])), ...toolCalls, ...functionCall]
}

function writeChoice(draft: ChoiceDraft, outcomes: Outcomes, structured: boolean): JsonObject {
  const tools = sortOutcomes(draft.toolCalls, outcomes)
  const legacy = sortOutcomes(draft.functionCall, outcomes)
  const [functionCall] = legacy.written
  const left = tools.written.length + legacy.written.length
  const texts = [...tools.texts, ...legacy.texts]
  return {
    index: draft.index,
    message: {
      role: 'assistant',
      ...(structured ? refusalFor(draft, texts, outcomes) : contentFor(draft, texts, outcomes)),
      ...(tools.written.length > 0 ? { tool_calls: tools.written } : {}),
      ...(functionCall ? { function_call: functionCall } : {}),
    },
    finish_reason: draft.finish === undefined ? null : adjustedFinish(draft.finish, left),
    ...draft.logprobs,
  }
}

function contentFor(
  { content, asides }: ChoiceDraft,
  texts: readonly string[],
  outcomes: Outcomes,
): JsonObject {
  return { content: writeContent(content, texts, outcomes), ...asides }
}

/** Structured content stays as it is. The texts of denied calls are the refusal, which clients read instead of the content. */
function refusalFor(
  { content, asides }: ChoiceDraft,
  texts: readonly string[],
  outcomes: Outcomes,
): JsonObject {
  const parts = typeof content === 'string' || content === null ? [] : content
  const denied = parts.flatMap((part) => ('call' in part ? sortOutcomes([part.call], outcomes).texts : []))
  const known = parts.flatMap((part) => ('known' in part ? [part.known] : []))
  const own = asides['refusal']
  const all = [...(typeof own === 'string' && own !== '' ? [own] : []), ...denied, ...texts]
  const left: Json = known.length === 0 ? null : known
  return {
    content: typeof content === 'string' ? content : left,
    ...asides,
    ...(all.length > 0 && { refusal: all.join('\n\n') }),
  }
}

function writeContent(content: Content, texts: readonly string[], outcomes: Outcomes): Json {
  if (content === null || typeof content === 'string') {
    if (texts.length === 0) return content
    return [...(content === null || content === '' ? [] : [content]), ...texts].join('\n\n')
  }
  const parts = content.flatMap((part) => ('known' in part ? [part.known] : textsFor(part.call, outcomes)))
  for (const text of texts) parts.push(textPart(parts.length > 0 ? `\n\n${text}` : text))
  return parts
}

function textsFor(call: ReplyCall, outcomes: Outcomes): JsonObject[] {
  return sortOutcomes([call], outcomes).texts.map(textPart)
}

function textPart(text: string): JsonObject {
  return { type: 'text', text }
}
