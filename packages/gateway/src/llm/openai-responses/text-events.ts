// Text events of a stream: the kind of item each belongs to, and its forwarded members.

import type { Json, JsonObject } from '@tollgate/evidence'
import { Garbled } from '../dialect.ts'
import { entryOf } from '../filter.ts'
import { annotationOf, probabilities, summaryOf } from './text.ts'

export interface WordEvent {
  readonly on: 'message' | 'reasoning'
  /** The member with the position inside the item. */
  readonly place: 'content_index' | 'summary_index'
  /** The members to forward besides the position; undefined to drop the event. */
  build(event: JsonObject): JsonObject | undefined
}

function text(event: JsonObject, name: string): string {
  const value = event[name]
  if (typeof value !== 'string') throw new Garbled('an event without its text')
  return value
}

const words = (on: WordEvent['on'], name: string): WordEvent => ({
  on,
  place: 'content_index',
  build: (event) => ({ [name]: text(event, name) }),
})

const withProbabilities = (name: 'delta' | 'text'): WordEvent => ({
  on: 'message',
  place: 'content_index',
  build: (event) => ({ [name]: text(event, name), logprobs: probabilities(event, text(event, name)) }),
})

const summary = (build: (event: JsonObject) => JsonObject): WordEvent => ({
  on: 'reasoning',
  place: 'summary_index',
  build,
})

function summaryPart({ part }: JsonObject): JsonObject {
  const known = summaryOf(part)
  if (!known) throw new Garbled('a summary of an unknown kind')
  return { part: known }
}

const MAX_ANNOTATIONS = 65_536

function annotation(event: JsonObject): JsonObject | undefined {
  const known = annotationOf(event['annotation'])
  return known && { annotation_index: placeIn(event['annotation_index'], MAX_ANNOTATIONS), annotation: known }
}

const WORDS: Readonly<Record<string, WordEvent>> = {
  'response.output_text.delta': withProbabilities('delta'),
  'response.output_text.done': withProbabilities('text'),
  'response.output_text.annotation.added': { on: 'message', place: 'content_index', build: annotation },
  'response.refusal.delta': words('message', 'delta'),
  'response.refusal.done': words('message', 'refusal'),
  'response.reasoning_text.delta': words('reasoning', 'delta'),
  'response.reasoning_text.done': words('reasoning', 'text'),
  'response.reasoning_summary_part.added': summary(summaryPart),
  'response.reasoning_summary_part.done': summary(summaryPart),
  'response.reasoning_summary_text.delta': summary((event) => ({ delta: text(event, 'delta') })),
  'response.reasoning_summary_text.done': summary((event) => ({ text: text(event, 'text') })),
}

/** The kind of a text event; undefined for any other. */
export function wordEvent(type: string): WordEvent | undefined {
  return entryOf(WORDS, type)
}

/** A valid index. @throws Garbled */
export function placeIn(value: Json | undefined, most: number): number {
  const isPlace = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < most
  if (!isPlace) throw new Garbled('an invalid index')
  return value
}
