// The blocks of a reply that are calls, or may be: what is asked of the judge for each, and what goes on in its place.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { BLOCKS } from './blocks.ts'
import { memberName } from './toolsets.ts'
import { Garbled, type Judge, type ProposedCall, type Ruling } from '../dialect.ts'

/** A block that goes on. */
export interface Released {
  readonly block: JsonObject
  /** JSON text of its input, if it has one. The block is without it. */
  readonly input: string | undefined
}

/** What is to become of a block: it goes on as it is, or is asked about. */
export type Sorted =
  | { readonly passes: Released }
  /** `call` is what goes on if it is allowed; undefined if that cannot be. */
  | { readonly proposal: ProposedCall; readonly call: JsonObject | undefined }

const MOST_CALLS = 256
const MOST_NAME = 256

/** The calls of one reply. */
export class ReplyCalls {
  readonly #judge: Judge
  readonly #refs = new Set<string>()
  #asked = 0
  #left = 0

  constructor(judge: Judge) {
    this.#judge = judge
  }

  /** Whether a call has gone on that the client has to run. */
  get anyLeft(): boolean {
    return this.#left > 0
  }

  /** A call for the client. The arguments are JSON text or a value, as the model wrote them. */
  sortCall(block: JsonObject, args: string | JsonObject): Sorted {
    const call = BLOCKS.get('tool_use')?.shape(block)
    if (!isObject(call)) return unknown(block)
    const { id, name, toolset_name: toolset } = call
    const ref = typeof id === 'string' && id.length > 0 && id.length <= MOST_NAME ? id : undefined
    const tool = memberName(toolset, name)
    // Two calls of one id could not be told apart when their results come.
    if (ref === undefined || tool === undefined || tool.length > MOST_NAME || this.#refs.has(ref)) {
      return unknown(block, args)
    }
    this.#refs.add(ref)
    return {
      proposal: { tool, declared: tool, form: 'json', args, ref },
      call: { type: 'tool_use', ...call },
    }
  }

  /** What the provider has run, whole. What it was not allowed to run is treated like what nobody knows. */
  sortRan(block: JsonObject): Sorted {
    const kind = BLOCKS.get(typeof block['type'] === 'string' ? block['type'] : '')
    if (kind?.role !== 'ran') return unknown(block)
    const built = kind.shape(block)
    if (!isObject(built) || block['type'] === undefined) return unknown(block)
    const whole: JsonObject = { type: block['type'], ...built }
    const tool = kind.tool(whole)
    if (tool === undefined || !this.#judge.ran(tool, whole)) return unknown(block)
    if (!kind.input) return { passes: { block: whole, input: undefined } }
    const { input, ...rest } = whole
    return { passes: { block: rest, input: textOf(input ?? {}) } }
  }

  /** Has everything judged that is asked about, and gives what goes on, in the same order. */
  release(sorted: readonly Sorted[]): readonly Released[] | Promise<readonly Released[]> {
    const asked = sorted.filter((one) => 'proposal' in one)
    if (asked.length === 0) return sorted.map((one) => this.#rule(one, undefined))
    this.#asked += asked.length
    if (this.#asked > MOST_CALLS) throw new Garbled('it has too many calls')
    return this.#judge.judge(asked.map(({ proposal }) => proposal)).then((rulings) => {
      if (rulings.length !== asked.length) throw new Garbled('not every call in it was ruled on')
      const next = rulings.values()
      return sorted.map((one) => this.#rule(one, 'passes' in one ? undefined : next.next().value))
    })
  }

  #rule(sorted: Sorted, ruling: Ruling | undefined): Released {
    if ('passes' in sorted) return sorted.passes
    if (ruling?.allowed === false) return refusal(ruling.text)
    if (ruling === undefined || sorted.call === undefined) throw new Garbled('it has what is no call')
    this.#left++
    return { block: sorted.call, input: ruling.args }
  }
}

/** What may be a call, but is none that anybody here knows, or only a part of one. */
export function unknown(block: JsonObject, args: string | JsonObject = block): Sorted {
  return {
    proposal: { tool: undefined, declared: undefined, form: 'json', args, ref: undefined },
    call: undefined,
  }
}

/** JSON text of a value. @throws Garbled */
export function textOf(value: Json): string {
  try {
    return JSON.stringify(value)
  } catch {
    // Only nesting does that to a value that was parsed.
    throw new Garbled('it is nested too deeply')
  }
}

function refusal(text: string): Released {
  return { block: { type: 'text', text }, input: undefined }
}
