// What `policy learn` learns from: calls as they were made, and what its parts hand to each other.

import { canonicalize, type Door, type EffectClass, type Json } from '@tollgate/evidence'
import type { ToolCall } from '@tollgate/kernel'

/** A call that was observed. */
export interface ObservedCall {
  /** Id of its decision's receipt. */
  readonly receipt: string
  readonly time: string
  readonly session: string
  readonly principal: string
  readonly door: Door
  readonly tool: string
  readonly effect: EffectClass
  readonly args: Json
  readonly destinations: readonly ObservedDestination[]
  /** Whether nothing in its session speaks against learning from it. */
  readonly clean: boolean
  /** What speaks against it, in a few words, if something does. */
  readonly why?: string
  readonly tenant?: string
  readonly environment?: string
  readonly workspace?: string
}

/** Where the data of a call would have gone. */
export interface ObservedDestination {
  readonly scheme: string
  readonly host: string
  readonly port: number
}

/** A value in the arguments: how a condition names it, and how a person does. */
export interface ValuePlace {
  readonly code: string
  readonly path: string
  /** How many lists and objects it lies in. */
  readonly depth: number
  /** Whether a name on the way to it says that something runs what is there. */
  readonly runs?: boolean
}

/** How values are generalised. */
export interface Manner {
  readonly effect: EffectClass
  /** Most different values that are written out. */
  readonly most: number
  /** Only types and lengths: what a condition has room for where values have none. */
  readonly rough: boolean
  /** How many lists and objects are looked into, one in the other. */
  readonly deepest: number
}

/** What was seen at a place, and what the condition allows beyond it. */
export interface ValueNote {
  readonly path: string
  readonly seen: string
  /** What is allowed although it was not seen; undefined if nothing is. */
  readonly wider?: string
}

/** The condition on a place, and what a person should know of it. */
export interface LearnedShape {
  readonly when: string
  /** The same, one condition for each thing that must hold. */
  readonly parts?: readonly string[]
  readonly notes: readonly ValueNote[]
  /** Why a person must be asked, whatever the condition says. */
  readonly asks: readonly string[]
}

/** One text for each value, the same for equal ones. */
export function keyOf(value: Json): string {
  return canonicalize(value)
}

/** Each value once, in the order in which they first came. */
export function distinct(values: readonly Json[]): readonly Json[] {
  return [...new Map(values.map((value) => [keyOf(value), value])).values()]
}

/** The tenant of a call that says none. */
export const NO_TENANT = 'learn'

/** The call as the kernel takes it. */
export function callOf(call: ObservedCall): ToolCall {
  const { tenant = NO_TENANT, principal, environment, workspace, door, tool, args, session } = call
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
  }
}

/** How many there are, in words. */
export function count(many: number, one: string, more: string = `${one}s`): string {
  return `${many} ${many === 1 ? one : more}`
}

/** The smallest and the largest of some numbers. */
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

/** Adds an item to the list under a key. */
export function add<Key, Item>(groups: Map<Key, Item[]>, key: Key, item: Item): void {
  const own = groups.get(key)
  if (own) own.push(item)
  else groups.set(key, [item])
}

/** How long a text is for a condition: in characters, not in units of UTF-16. */
export function lengthOf(text: string): number {
  let length = text.length
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xd800) length--
  return length
}
