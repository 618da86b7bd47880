// The dialect of the Messages API, and whole replies: each block is forwarded or judged, and the message is rebuilt from the
// result.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { objectIn } from '../filter.ts'
import { blockKind } from './blocks.ts'
import { isEmpty, ReplyCalls, unknown, type Released, type Sorted } from './calls.ts'
import { endOf, envelopeOf, isCut, reasonIn } from './message.ts'
import { readRequest } from './request.ts'
import { MAX_BLOCKS, MessageStream } from './stream.ts'
import { Garbled, type Dialect, type Judge } from '../dialect.ts'

/** The dialect of Anthropic's Messages API. */
export const anthropicMessages: Dialect = {
  readRequest,
  governReply,
  openStream: (judge) => new MessageStream(judge),
}

/** Judges a whole message and returns the message to forward. @throws Garbled */
async function governReply(reply: Json, judge: Judge): Promise<JsonObject> {
  if (!isObject(reply)) throw new Garbled('it is not a message')
  const envelope = envelopeOf(reply)
  const content = blocksIn(reply['content'])
  const cut = isCut(reasonIn(reply))
  const calls = new ReplyCalls(judge)
  const sorted = content.map((block, at) => sort(block, calls, cut && at === content.length - 1))
  const released = await calls.release(sorted)
  judge.requireForced?.()
  return { ...envelope, content: released.map(whole), ...endOf(reply, calls) }
}

function blocksIn(content: Json | undefined): readonly JsonObject[] {
  if (!isList(content) || !content.every(isObject)) throw new Garbled('its content is not a list of blocks')
  if (content.length > MAX_BLOCKS) throw new Garbled('it has too many blocks')
  return content
}

function sort(block: JsonObject, calls: ReplyCalls, last: boolean): Sorted {
  const { type = null, input } = block
  const kind = blockKind(block)
  switch (kind?.role) {
    case undefined:
      return unknown(block)
    case 'ran':
      return calls.sortRan(block)
    case 'call':
      // At the end of a cut reply, an empty call may have lost its arguments.
      return last && isEmpty(input) ? unknown(block) : calls.sortCall(block)
    case 'words': {
      const built = kind.shape(block)
      if (!built) throw new Garbled('a block does not match its type')
      return { passes: { block: { type, ...built }, input: undefined } }
    }
  }
}

function whole({ block, input }: Released): JsonObject {
  if (input === undefined) return block
  const value = objectIn(input)
  if (!value) throw new Garbled('the arguments of a call are not an object')
  return { ...block, input: value }
}
