// Items of a response that hold text and no call: messages, reasoning and compactions. Also the message that replaces a denied
// call.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { randomBytes } from 'node:crypto'
import { logprobsOf, word } from '../filter.ts'
import { allOf, each, listOf, oneOf, record, scalar, text, type RecordShape } from '../shapes.ts'

/** The prefix of item ids of the gateway. The upstream does not know these items. */
export const OUR_MESSAGE: string = 'msg_tollgate_'

const MAX_ID = 512

/** An id or a name of limited length. */
export function idOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value.length > 0 && value.length <= MAX_ID ? value : undefined
}

export function newId(prefix: string): string {
  return `${prefix}${randomBytes(8).toString('hex')}`
}

/** The message that replaces a denied call. */
export function refusalItem(part: JsonObject, receipt: string | undefined): JsonObject {
  return {
    id: receipt === undefined ? newId(OUR_MESSAGE) : `${OUR_MESSAGE}${receipt}`,
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [part],
  }
}

function textPart(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

/** A message part that says why a call was denied. Where the reply must be JSON, it is a refusal. */
export function denialPart(text: string, structured: boolean | undefined): JsonObject {
  return structured === true ? { type: 'refusal', refusal: text } : textPart(text)
}

/** A known text part of a message; undefined for any other, which may be a call. */
export function partOf(part: Json): JsonObject | undefined {
  if (!isObject(part)) return undefined
  const { type, text, refusal } = part
  if (type === 'refusal' && typeof refusal === 'string') return { type, refusal }
  if (type !== 'output_text' || typeof text !== 'string') return undefined
  return {
    type,
    text,
    annotations: ANNOTATIONS(part['annotations']) ?? [],
    logprobs: probabilities(part, text),
  }
}

/** Log probabilities of this text, as a list. */
export function probabilities(holder: JsonObject, text: string): Json {
  return logprobsOf(holder['logprobs'], text) ?? []
}

/** A known part of the content of a reasoning item. */
export const thoughtOf: RecordShape = oneOf({ reasoning_text: record({ text }) })
/** A known part of its summary. */
export const summaryOf: RecordShape = oneOf({ summary_text: record({ text }) })

const THOUGHTS = allOf(thoughtOf)
const SUMMARY = allOf(summaryOf)

const plainly = (...names: readonly string[]): RecordShape => record({}, each(names, scalar))

/** A known citation; undefined for an unknown kind. */
export const annotationOf: RecordShape = oneOf({
  file_citation: plainly('file_id', 'filename', 'index'),
  url_citation: plainly('start_index', 'end_index', 'url', 'title'),
  container_file_citation: plainly('container_id', 'file_id', 'filename', 'start_index', 'end_index'),
  file_path: plainly('file_id', 'index'),
})

const ANNOTATIONS = listOf(annotationOf)

/** The members that are strings, numbers, flags or null. */
export function plain(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value === null || typeof value !== 'object'),
  )
}

const TEXTS: ReadonlySet<Json | undefined> = new Set(['message', 'reasoning', 'compaction'])

/** Whether an item of this type holds text and no call. */
export function isTextType(type: Json | undefined): boolean {
  return TEXTS.has(type)
}

/** A message with these parts. */
export function messageOf(item: JsonObject, content: readonly JsonObject[]): JsonObject {
  return { ...head(item), role: 'assistant', status: statusOf(item), content, ...phaseOf(item) }
}

function phaseOf({ phase }: JsonObject): JsonObject {
  return phase === 'commentary' || phase === 'final_answer' ? { phase } : {}
}

/** A reasoning or compaction item; undefined if it has unknown parts. */
export function thoughtsOf(item: JsonObject): JsonObject | undefined {
  if (item['type'] === 'compaction') return { ...head(item), ...encryptedOf(item) }
  const summary = SUMMARY(item['summary'] ?? [])
  const content = THOUGHTS(item['content'] ?? [])
  if (!summary || !content) return undefined
  const own = isList(item['content']) ? { content } : {}
  const status = item['status'] === undefined ? {} : { status: statusOf(item) }
  return { ...head(item), summary, ...own, ...encryptedOf(item), ...status }
}

function encryptedOf(item: JsonObject): JsonObject {
  const { encrypted_content } = item
  return typeof encrypted_content === 'string' || encrypted_content === null ? { encrypted_content } : {}
}

function head(item: JsonObject): JsonObject {
  const id = idOf(item['id'])
  return { ...(id === undefined ? {} : { id }), type: item['type'] ?? 'message' }
}

/** The status of an item. */
export function statusOf(item: JsonObject, otherwise = 'completed'): string {
  return word(item['status']) ?? otherwise
}
