// Blocks of a reply that are or may be calls: builds their proposals, and what is forwarded instead.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { blockKind } from './blocks.ts'
import { memberName } from './toolsets.ts'
import { Garbled, type Judge, type ProposedCall, type Ruling } from '../dialect.ts'

/** A block to forward. */
export interface Released {
  readonly block: JsonObject
  /** JSON text of its input, if it has one. `block` does not hold it. */
  readonly input: string | undefined
}

/** A sorted block: forwarded as it is, or judged. */
export type Sorted =
  | { readonly passes: Released }
  /** `call` is forwarded if it is allowed; undefined if it never can be. */
  | { readonly proposal: ProposedCall; readonly call: JsonObject | undefined }

const MAX_CALLS = 256
const MAX_NAME = 256

export class ReplyCalls {
  readonly #judge: Judge
  readonly #refs = new Set<string>()
  readonly #denials: string[] = []
  #asked = 0
  #left = 0

  constructor(judge: Judge) {
    this.#judge = judge
  }

  /** Whether a call for the client has been forwarded. */
  get anyLeft(): boolean {
    return this.#left > 0
  }

  /** The texts of denied calls that no block holds, because the reply must be JSON. */
  get denials(): readonly string[] {
    return this.#denials
  }

  /** A call for the client. Its arguments are a text of a stream, or its input. */
  sortCall(block: JsonObject, text = ''): Sorted {
    const { input = null } = block
    const args = text === '' ? argsOf(input) : text
    const kind = blockKind(block)
    const call = kind?.role === 'call' ? kind.shape(block) : undefined
    if (!call) return unknown(block)
    const { id, name, toolset_name: toolset } = call
    const ref = typeof id === 'string' && id.length > 0 && id.length <= MAX_NAME ? id : undefined
    const tool = memberName(toolset, name)
    // With two calls of one id, a result could belong to either.
    if (ref === undefined || tool === undefined || tool.length > MAX_NAME || this.#refs.has(ref)) {
      return unknown(block, args)
    }
    this.#refs.add(ref)
    return {
      proposal: { tool, declared: tool, form: 'json', args, ref },
      call: { type: 'tool_use', ...call },
    }
  }

  /** A whole block that the provider ran. If it was not allowed, it is treated as unknown. */
  sortRan(block: JsonObject): Sorted {
    const { type = null } = block
    const kind = blockKind(block)
    if (kind?.role !== 'ran') return unknown(block)
    const built = kind.shape(block)
    if (!built) return unknown(block)
    const whole: JsonObject = { type, ...built }
    const tool = kind.tool(whole)
    if (tool === undefined || !this.#judge.ran(tool, whole)) return unknown(block)
    if (!kind.input) return { passes: { block: whole, input: undefined } }
    const { input, ...rest } = whole
    return { passes: { block: rest, input: textOf(input ?? {}) } }
  }

  /** Judges the proposals and returns the blocks to forward, in the same order. A denied call of a structured reply has none. */
  release(sorted: readonly Sorted[]): readonly Released[] | Promise<readonly Released[]> {
    const asked = sorted.filter((one) => 'proposal' in one)
    if (asked.length === 0) return sorted.flatMap((one) => this.#rule(one, undefined))
    this.#asked += asked.length
    if (this.#asked > MAX_CALLS) throw new Garbled('it has too many calls')
    return this.#judge.judge(asked.map(({ proposal }) => proposal)).then((rulings) => {
      if (rulings.length !== asked.length) throw new Garbled('not every call in it was ruled on')
      const next = rulings.values()
      return sorted.flatMap((one) => this.#rule(one, 'passes' in one ? undefined : next.next().value))
    })
  }

  #rule(sorted: Sorted, ruling: Ruling | undefined): Released | readonly Released[] {
    if ('passes' in sorted) return sorted.passes
    if (ruling?.allowed === false) return this.#deny(ruling.text)
    if (ruling === undefined || sorted.call === undefined) throw new Garbled('it has an invalid call')
    this.#left++
    return { block: sorted.call, input: ruling.args }
  }

  #deny(text: string): readonly Released[] {
    if (this.#judge.structured !== true) return [{ block: { type: 'text', text }, input: undefined }]
    this.#denials.push(text)
    return []
  }
}

/** Compatible servers may write no arguments at all. */
function argsOf(input: Json): string | JsonObject {
  if (isObject(input)) return input
  return input === null || input === '' ? '' : textOf(input)
}

/** A block that may be a call, but is unknown or incomplete. It is denied. */
export function unknown(block: JsonObject, args: string | JsonObject = block): Sorted {
  return {
    proposal: { tool: undefined, declared: undefined, form: 'json', args, ref: undefined },
    call: undefined,
  }
}

/** Whether the input of a call has no members. */
export function isEmpty(input: Json | undefined): boolean {
  return isObject(input) && Object.keys(input).length === 0
}

/** JSON text of a value. @throws Garbled */
export function textOf(value: Json): string {
  try {
    return JSON.stringify(value)
  } catch {
    // Only nesting can cause this for a parsed value.
    throw new Garbled('it is nested too deeply')
  }
}
