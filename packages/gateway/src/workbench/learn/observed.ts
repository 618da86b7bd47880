// The types and helpers of `policy learn`.

import { canonicalize, type Door, type EffectClass, type Json } from '@tollgate/evidence'
import type { subjectOf, ToolCall } from '@tollgate/kernel'
import type { CallPlace } from '@tollgate/kernel/detection'

type Facts = ReturnType<typeof subjectOf>

export interface ObservedCall {
  /** The receipt id of its decision. */
  readonly receipt: string
  readonly time: string
  readonly session: string
  readonly principal: string
  readonly door: Door
  readonly tool: string
  readonly effect: EffectClass
  readonly args: Json
  readonly destinations: readonly ObservedDestination[]
  /** Whether there is no reason against learning from its session. */
  readonly clean: boolean
  /** The reason against it, if any. */
  readonly why?: string
  readonly tenant?: string
  readonly environment?: string
  readonly workspace?: string
  /** The files that it named, as its door saw them. */
  readonly place?: CallPlace
  /** The facts of its command and its files, if the policy declares them for the tool. */
  readonly facts?: { readonly shell: ReturnType<Facts['shell']>; readonly files: ReturnType<Facts['files']> }
}

/** A destination of a call. */
export interface ObservedDestination {
  readonly scheme: string
  readonly host: string
  readonly port: number
}

/** A position in the arguments, as code in a condition and as a path for people. */
export interface ValuePlace {
  readonly code: string
  readonly path: string
  /** The nesting depth. */
  readonly depth: number
  /** Whether a name on the path says that the value is executed. */
  readonly runs?: boolean
  /** Whether a name on the path says that the value is a content. Contents are not written into rules. */
  readonly content?: boolean
}

/** How values are generalised. */
export interface Manner {
  readonly effect: EffectClass
  /** The maximum number of different values that are listed. */
  readonly most: number
  /** Uses only types and lengths, to save space in the condition. */
  readonly rough: boolean
  /** The maximum nesting depth to examine. */
  readonly deepest: number
}

/** The observed values at a position, and what the condition allows beyond them. */
export interface ValueNote {
  readonly path: string
  readonly seen: string
  /** Values that are allowed but were not observed; undefined if nothing is. */
  readonly wider?: string
}

/** The condition for a position, with notes for people. */
export interface LearnedShape {
  readonly when: string
  /** The same as separate conditions that must all be true. */
  readonly parts?: readonly string[]
  readonly notes: readonly ValueNote[]
  /** Why the call needs approval. */
  readonly asks: readonly string[]
}

/** A text that is equal for equal values. */
export function keyOf(value: Json): string {
  return canonicalize(value)
}

/** The distinct values, in order of first occurrence. */
export function distinct(values: readonly Json[]): readonly Json[] {
  return [...new Map(values.map((value) => [keyOf(value), value])).values()]
}

/** The tenant of a call without one. */
export const NO_TENANT = 'learn'

/** The call in the form of the kernel. */
export function callOf(call: ObservedCall): ToolCall {
  const { tenant = NO_TENANT, principal, environment, workspace, door, tool, args, session, place } = call
  return {
    caller: {
      tenant,
      principal,
      ...(environment !== undefined && { environment }),
      ...(workspace !== undefined && { workspace }),
    },
    door,
    assurance: 'advised',
    tool,
    args,
    session_id: session,
    ...(place && { place }),
  }
}

/** A number with its noun. */
export function count(many: number, one: string, more: string = `${one}s`): string {
  return `${many} ${many === 1 ? one : more}`
}

export function extremes(values: readonly number[]): readonly [least: number, most: number] {
  return values.reduce<[number, number]>(
    ([least, most], value) => [Math.min(least, value), Math.max(most, value)],
    [Infinity, -Infinity],
  )
}

/** The next round number: tens up to 100, hundreds up to 1000, then thousands. */
export function roundedUp(length: number): number {
  const step = length <= 100 ? 10 : length <= 1000 ? 100 : 1000
  return Math.max(step, Math.ceil(length / step) * step)
}

export function add<Key, Item>(groups: Map<Key, Item[]>, key: Key, item: Item): void {
  const own = groups.get(key)
  if (own) own.push(item)
  else groups.set(key, [item])
}

/** The length of a text in code points, as conditions count it. */
export function lengthOf(text: string): number {
  let length = text.length
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xd800) length--
  return length
}
