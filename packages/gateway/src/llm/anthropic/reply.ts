// Governs a whole reply: each block is forwarded or judged, and the message is rebuilt from the result.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { objectIn } from '../filter.ts'
import { BLOCKS } from './blocks.ts'
import { ReplyCalls, textOf, unknown, type Released, type Sorted } from './calls.ts'
import { endOf, envelopeOf, isCut, reasonIn } from './message.ts'
import { Garbled, type Judge } from '../dialect.ts'

/** The maximum number of blocks in a reply. */
export const MAX_BLOCKS = 1024

/** Judges a whole message and returns the message to forward. @throws Garbled */
export async function governReply(reply: Json, judge: Judge): Promise<JsonObject> {
  if (!isObject(reply)) throw new Garbled('it is not a message')
  const envelope = envelopeOf(reply)
  const content = blocksIn(reply['content'])
  const cut = isCut(reasonIn(reply))
  const calls = new ReplyCalls(judge)
  const sorted = content.map((block, at) => sort(block, calls, cut && at === content.length - 1))
  const released = await calls.release(sorted)
  return { ...envelope, content: released.map(whole), ...endOf(reply, calls.anyLeft) }
}

function blocksIn(content: Json | undefined): readonly JsonObject[] {
  if (!isList(content) || !content.every(isObject)) throw new Garbled('its content is not a list of blocks')
  if (content.length > MAX_BLOCKS) throw new Garbled('it has too many blocks')
  return content
}

function sort(block: JsonObject, calls: ReplyCalls, last: boolean): Sorted {
  const type = block['type']
  const kind = typeof type === 'string' ? BLOCKS.get(type) : undefined
  switch (kind?.role) {
    case undefined:
      return unknown(block)
    case 'ran':
      return calls.sortRan(block)
    case 'call':
      return sortCall(block, calls, last)
    case 'words': {
      const built = kind.shape(block)
      if (!isObject(built) || type === undefined) throw new Garbled('a block does not match its type')
      return { passes: { block: { type, ...built }, input: undefined } }
    }
  }
}

/** An empty call at the end of a cut reply may have lost its arguments. */
function sortCall(block: JsonObject, calls: ReplyCalls, last: boolean): Sorted {
  const input = block['input']
  if (!isObject(input)) return calls.sortCall(block, textOf(input ?? null))
  return last && Object.keys(input).length === 0 ? unknown(block) : calls.sortCall(block, input)
}

function whole({ block, input }: Released): JsonObject {
  if (input === undefined) return block
  const value = objectIn(input)
  if (!value) throw new Garbled('the arguments of a call are not an object')
  return { ...block, input: value }
}
