// What a scripted model says, apart from any wire format, and how it is sent.

import type { Json, JsonObject } from '@tollgate/evidence'

/** A call that the model makes. */
export interface ScriptedCall {
  /** One that the dialect would make, unless it is given. */
  readonly id?: string
  readonly name: string
  /** A value is written as JSON; a text goes out as it stands, whether or not it is JSON. */
  readonly args: JsonObject | string
  /** How many characters of the arguments come before the reply is cut. */
  readonly cutAt?: number
  /** `legacy` is the `function_call` of Chat Completions, and `custom` a tool that takes a free text. */
  readonly form?: 'function' | 'legacy' | 'custom'
}

/** What the model says in one reply. */
export interface Spoken {
  readonly reasoning?: string
  readonly text?: string
  readonly calls?: readonly ScriptedCall[]
  readonly thenText?: string
  /** Why it stops; by itself what fits. */
  readonly finish?: 'calls' | 'length' | 'stop'
  /** Whether the arguments of calls come by turns, in a stream. */
  readonly interleave?: boolean
}

/** How a reply is sent. */
export interface Sending {
  /** One write for all of it, one for each event (as it is, unless it says otherwise), or one for each byte. */
  readonly chunks?: 'whole' | 'events' | 'bytes'
  /** The socket is destroyed after so many bytes of the body, or in the midst of the arguments of the first call. */
  readonly dieAfter?: number | 'arguments'
  /** Between events. */
  readonly delayMs?: number
  readonly gzip?: boolean
}

/** What the provider answers if it does not answer: its own error body. */
export interface Failing {
  readonly status: number
  readonly retryAfterMs?: number
}

/** Exactly these bytes. */
export interface Raw {
  readonly raw: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string | Uint8Array
  }
}

/** One reply of the script. */
export type Step = (Spoken | Failing | Raw) & Sending

/** A piece of a streamed reply, and whether it carries arguments of a call. */
export interface Frame {
  readonly text: string
  readonly args: boolean
}

/** What a provider answers in place of a reply. */
export interface Failure {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: JsonObject
}

/** How one dialect puts a script on the wire. */
export interface Wire {
  reply(asked: JsonObject, spoken: Spoken): JsonObject
  /** The same, as the events of a stream. */
  stream(asked: JsonObject, spoken: Spoken): readonly Frame[]
  failure(failing: Failing): Failure
  /** What the provider would object to in a request, such as a result that answers no call. */
  objection(asked: JsonObject): Failure | undefined
  /** Headers of every reply. */
  headers(): Readonly<Record<string, string>>
}

/** The arguments of a call as they are written. */
export function written({ args, cutAt }: ScriptedCall): string {
  const text = typeof args === 'string' ? args : JSON.stringify(args)
  return cutAt === undefined ? text : text.slice(0, cutAt)
}

/** Why a reply stops. */
export function finishOf({ calls = [], finish }: Spoken): 'calls' | 'length' | 'stop' {
  if (finish !== undefined) return finish
  if (calls.some(({ cutAt }) => cutAt !== undefined)) return 'length'
  return calls.length > 0 ? 'calls' : 'stop'
}

/** A text in pieces as small as tokens. */
export function tokens(text: string): string[] {
  return text.match(/[^]{1,4}/gu) ?? []
}

/** Lists one after the other, or by turns. */
export function merge<T>(lists: readonly (readonly T[])[], byTurns: boolean): T[] {
  if (!byTurns) return lists.flat()
  const longest = Math.max(0, ...lists.map(({ length }) => length))
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat()
}

/** Makes ids that are as long as those of the provider, and differ. */
export function createIds(): (prefix: string, length: number) => string {
  let made = 0
  return (prefix, length) => `${prefix}${(made++).toString(36).padStart(length, 'A')}`
}

/** The members of a list that are objects. */
export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** A JSON value that is an object and no list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A text, or an empty one for anything else. */
export function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
