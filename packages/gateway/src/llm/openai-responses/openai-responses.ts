// The dialect of the Responses API, and whole responses: every item is rebuilt and all calls are judged together.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { Garbled, type Dialect, type Judge, type OnItem } from '../dialect.ts'
import { namesOf } from './approvals.ts'
import { envelopeOf } from './envelope.ts'
import { draftOf, itemIn, MAX_HELD, MAX_ITEMS, settle } from './items.ts'
import { readRequest } from './request.ts'
import { ResponseStream } from './stream.ts'

/** The dialect of OpenAI's Responses API, also of compatible servers. */
export const openaiResponses: Dialect = {
  readRequest,
  governReply,
  openStream: (judge, onItem) => new ResponseStream(judge, onItem),
}

/** Judges a whole response and returns the response to forward. @throws Garbled */
async function governReply(reply: Json, judge: Judge, onItem?: OnItem): Promise<JsonObject> {
  if (!isObject(reply) || !isList(reply['output'])) throw new Garbled('a response without a list of items')
  const items = reply['output'].map(itemIn)
  if (items.length > MAX_ITEMS) throw new Garbled('too many items')
  if (items.reduce((sum, item) => sum + heldIn(item), 0) > MAX_HELD)
    throw new Garbled('calls that are too long')
  const isWhole = (reply['status'] ?? 'completed') === 'completed'
  const isCut = (item: JsonObject): boolean =>
    !isWhole && item === items.at(-1) && item['status'] !== 'completed'
  const drafts = items.map((item) => draftOf(item, judge, isCut(item)))
  const output = (await settle(drafts, judge)).map(({ item }) => item)
  judge.requireForced?.()
  const whole = envelopeOf(reply, output)
  for (const name of output.flatMap(namesOf)) onItem?.(name)
  return whole
}

function heldIn({ arguments: args, input }: JsonObject): number {
  return (typeof args === 'string' ? args.length : 0) + (typeof input === 'string' ? input.length : 0)
}
