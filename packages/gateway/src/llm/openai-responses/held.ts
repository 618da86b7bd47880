// Holds an item while it streams in, and checks that its pieces agree with the finished item.

import type { Json, JsonObject } from '@tollgate/evidence'
import { Garbled } from '../dialect.ts'
import { entryOf, isGiven } from '../filter.ts'
import { callKind } from './calls.ts'
import { MAX_HELD } from './items.ts'

const PIECES: Readonly<Record<string, { readonly type: string; readonly member: string }>> = {
  'response.function_call_arguments': { type: 'function_call', member: 'arguments' },
  'response.custom_tool_call_input': { type: 'custom_tool_call', member: 'input' },
}

function familyOf(type: string): (typeof PIECES)[string] | undefined {
  return entryOf(PIECES, type.slice(0, type.lastIndexOf('.')))
}

/** Whether an event carries a piece of a call. */
export function isPiece(type: string): boolean {
  return familyOf(type) !== undefined
}

const SAME = ['type', 'id', 'call_id', 'name', 'namespace', 'server_label'] as const

/** An item of which nothing has been sent. */
export class HeldItem {
  readonly state = 'held'
  readonly type: Json | undefined
  readonly #added: JsonObject
  #pieces = ''
  /** Whether the pieces were repeated as a whole. */
  #isWhole = false

  constructor(added: JsonObject) {
    this.type = added['type']
    this.#added = added
  }

  /** The number of held characters. */
  get size(): number {
    return this.#pieces.length
  }

  /** Takes an event of the item and returns the number of added characters. @throws Garbled */
  take(event: JsonObject, type: string): number {
    const family = familyOf(type)
    // Other events are not needed, because the finished item holds everything.
    if (!family) return 0
    if (family.type !== this.type || this.#isWhole) throw new Garbled('a piece of another call')
    const isEnd = type.endsWith('.done')
    const text = event[isEnd ? family.member : 'delta']
    if (typeof text !== 'string') throw new Garbled('a piece of a call without its text')
    const before = this.#pieces
    if (isEnd && before !== '' && before !== text) throw new Garbled('a call whose pieces are another one')
    this.#isWhole = isEnd
    this.#pieces = isEnd ? text : before + text
    return this.size - before.length
  }

  /** Checks that the finished item is the announced one, with the streamed arguments. @throws Garbled */
  check(item: JsonObject): void {
    for (const name of SAME) {
      const before = this.#added[name]
      if (isGiven(before) && before !== item[name]) throw new Garbled('an item that ends as another one')
    }
    const member = callKind(item)?.streamed?.member
    if (member === undefined) return
    const text = item[member]
    if (typeof text === 'string' && text.length > MAX_HELD) throw new Garbled('calls that are too long')
    const hasPieces = this.#pieces !== '' || this.#isWhole
    if (hasPieces && text !== this.#pieces) throw new Garbled('a call whose pieces are another one')
  }

  /** The item as far as it has arrived. */
  soFar(): JsonObject {
    const member = callKind(this.#added)?.streamed?.member
    return member !== undefined && this.#pieces !== ''
      ? { ...this.#added, [member]: this.#pieces }
      : this.#added
  }
}
