// Holds an item while it streams in, and checks that its pieces agree with the finished item.

import type { Json, JsonObject } from '@tollgate/evidence'
import { Garbled } from '../dialect.ts'
import { callKind } from './calls.ts'
import { MAX_HELD } from './items.ts'

/** An item of which nothing has been sent. */
export interface HeldItem {
  readonly state: 'held'
  readonly type: Json | undefined
  /** The number of held characters. */
  readonly size: number
  /** Takes an event of the item and returns the number of added characters. @throws Garbled */
  take(event: JsonObject, type: string): number
  /** Checks that the finished item is the announced one, with the streamed arguments. @throws Garbled */
  check(item: JsonObject): void
  /** The item as far as it has arrived. */
  soFar(): JsonObject
}

const PIECES: Readonly<Record<string, { readonly type: string; readonly member: string }>> = {
  'response.function_call_arguments': { type: 'function_call', member: 'arguments' },
  'response.custom_tool_call_input': { type: 'custom_tool_call', member: 'input' },
}

function familyOf(type: string): string {
  return type.slice(0, type.lastIndexOf('.'))
}

/** Whether an event carries a piece of a call. */
export function isPiece(type: string): boolean {
  return Object.hasOwn(PIECES, familyOf(type))
}

const SAME = ['type', 'id', 'call_id', 'name', 'namespace', 'server_label'] as const

export function createHeld(added: JsonObject): HeldItem {
  let pieces = ''
  let whole: string | undefined

  function take(event: JsonObject, type: string): number {
    const family = PIECES[familyOf(type)]
    // Other events are not needed, because the finished item holds everything.
    if (!family || !isPiece(type)) return 0
    if (family.type !== added['type'] || whole !== undefined) throw new Garbled('a piece of another call')
    const isEnd = type.endsWith('.done')
    const text = event[isEnd ? family.member : 'delta']
    if (typeof text !== 'string') throw new Garbled('a piece of a call without its text')
    if (!isEnd) {
      pieces += text
      return text.length
    }
    if (pieces !== '' && pieces !== text) throw new Garbled('a call whose pieces are another one')
    whole = text
    const more = text.length - pieces.length
    pieces = text
    return more
  }

  function check(item: JsonObject): void {
    for (const name of SAME) {
      const before = added[name]
      if (before !== undefined && before !== null && before !== item[name]) {
        throw new Garbled('an item that ends as another one')
      }
    }
    const member = callKind(item)?.streamed?.member
    if (member === undefined) return
    const text = item[member]
    if (typeof text === 'string' && text.length > MAX_HELD) throw new Garbled('calls that are too long')
    const hasPieces = pieces !== '' || whole !== undefined
    if (hasPieces && text !== pieces) throw new Garbled('a call whose pieces are another one')
  }

  function soFar(): JsonObject {
    const member = callKind(added)?.streamed?.member
    return member !== undefined && pieces !== '' ? { ...added, [member]: pieces } : added
  }

  return {
    state: 'held',
    type: added['type'],
    get size() {
      return pieces.length
    },
    take,
    check,
    soFar,
  }
}
