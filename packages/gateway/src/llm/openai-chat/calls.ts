// Calls in a reply of Chat Completions: reading one so that it can be judged, and writing it anew with what was judged.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { Garbled, type Judge, type ProposedCall } from '../dialect.ts'
import { objectIn } from '../filter.ts'
import { legacyRef } from './names.ts'

/** A call that a reply holds. */
export interface ReplyCall {
  readonly proposal: ProposedCall
  /** The call in the dialect's grammar, with these arguments. @throws Garbled for a call that nobody here can write. */
  write(args: string): JsonObject
}

/** What becomes of a call: itself, written anew, or a text in its place. */
export type CallOutcome =
  | { readonly allowed: true; readonly written: JsonObject }
  | { readonly allowed: false; readonly text: string }

/** The most calls in a reply. */
const MOST_CALLS = 256
/** The most parts, choices or notes in a reply. */
export const MOST_ITEMS: number = 1024
/** The most characters of arguments in a reply. */
const MOST_ARGS = 4 * 1024 * 1024

/** What the calls of one reply may amount to. */
export interface Allowance {
  /** @throws Garbled if it is one call too many. */
  addCall(): void
  /** @throws Garbled if it is more than a reply may hold. */
  addLength(length: number): void
}

/** The allowance of one reply. */
export function createAllowance(): Allowance {
  let calls = 0
  let total = 0
  return {
    addCall() {
      if (++calls > MOST_CALLS) throw new Garbled(`the reply has more than ${MOST_CALLS} calls`)
    },
    addLength(length) {
      total += length
      if (total > MOST_ARGS) throw new Garbled('the arguments in the reply are longer than 4 MiB')
    },
  }
}

/**
 * Reads an entry of `tool_calls`. Of a reply that was cut short nobody knows whether a free text is whole, and half an input may
 * mean something else: such a call has no name, so that it is denied.
 */
export function readToolCall(entry: JsonObject, isCut: boolean): ReplyCall {
  const functionPart = entry['function'] ?? undefined
  const customPart = entry['custom'] ?? undefined
  const type = entry['type'] ?? ''
  if (functionPart !== undefined && customPart !== undefined) return strangeCall(entry)
  // Many compatible servers leave the type out.
  if (isObject(functionPart) && (type === 'function' || type === '')) return functionCall(entry, functionPart)
  if (isObject(customPart) && type === 'custom' && !isCut) return customCall(entry, customPart)
  return strangeCall(entry)
}

/**
 * Reads `function_call`, which was there before `tool_calls`. It has no id, and its result says no more than its name: of several
 * in a reply, nobody could say which of them a result is of.
 */
export function readFunctionCall(entry: JsonObject, isOnly: boolean): ReplyCall {
  const args = entry['arguments'] ?? ''
  if (typeof args !== 'string') return strangeCall(entry)
  const tool = textIn(entry['name'])
  return {
    proposal: { tool, declared: tool, form: 'json', args, ref: isOnly ? legacyRef(tool) : undefined },
    write: (judged) => ({ name: named(tool), arguments: judged }),
  }
}

function functionCall(entry: JsonObject, part: JsonObject): ReplyCall {
  const args = part['arguments'] ?? ''
  if (typeof args !== 'string') return strangeCall(entry)
  const tool = textIn(part['name'])
  const ref = textIn(entry['id'])
  return {
    proposal: { tool, declared: tool, form: 'json', args, ref },
    write: (judged) => ({
      ...identity(ref),
      type: 'function',
      function: { name: named(tool), arguments: judged },
      ...signedWith(signatureIn(entry)),
    }),
  }
}

const SIGNATURE = /^[A-Za-z0-9+/=_-]{1,65536}$/

/** What Gemini wants back with a call of its own, where it speaks this dialect; an empty text if there is none. */
export function signatureIn(entry: JsonObject): string {
  const extra = entry['extra_content']
  const google = isObject(extra) ? extra['google'] : undefined
  const signature = isObject(google) ? google['thought_signature'] : undefined
  return typeof signature === 'string' && SIGNATURE.test(signature) ? signature : ''
}

/** The same as it stands in a call. */
export function signedWith(signature: string): JsonObject {
  return signature === '' ? {} : { extra_content: { google: { thought_signature: signature } } }
}

function customCall(entry: JsonObject, part: JsonObject): ReplyCall {
  const input = part['input'] ?? ''
  if (typeof input !== 'string') return strangeCall(entry)
  const tool = textIn(part['name'])
  const ref = textIn(entry['id'])
  return {
    proposal: { tool, declared: tool, form: 'text', args: { input }, ref },
    write: (judged) => ({
      ...identity(ref),
      type: 'custom',
      custom: { name: named(tool), input: inputOf(judged) },
    }),
  }
}

/** What may be a call, but of a kind that nobody here knows. It has no name, so that it is denied. */
export function strangeCall(entry: JsonObject): ReplyCall {
  return {
    proposal: {
      tool: undefined,
      declared: undefined,
      form: 'built-in',
      args: entry,
      ref: textIn(entry['id']),
    },
    write() {
      throw new Garbled('a call of an unknown kind cannot go on')
    },
  }
}

/** Judges calls that are complete, all at once. */
export async function judgeCalls(
  calls: readonly ReplyCall[],
  judge: Judge,
): Promise<ReadonlyMap<ReplyCall, CallOutcome>> {
  const rulings = calls.length > 0 ? await judge.judge(calls.map(({ proposal }) => proposal)) : []
  const outcomes = new Map<ReplyCall, CallOutcome>()
  for (const [at, call] of calls.entries()) {
    const ruling = rulings[at]
    if (!ruling) throw new Garbled('a call was not judged')
    if (ruling.allowed) outcomes.set(call, { allowed: true, written: call.write(ruling.args) })
    else outcomes.set(call, { allowed: false, text: ruling.text })
  }
  return outcomes
}

/** What goes on of calls that were judged, and the texts that stand for the others. */
export function sortOutcomes(
  calls: readonly ReplyCall[],
  outcomes: ReadonlyMap<ReplyCall, CallOutcome>,
): { readonly written: readonly JsonObject[]; readonly texts: readonly string[] } {
  const written: JsonObject[] = []
  const texts: string[] = []
  for (const call of calls) {
    const outcome = outcomes.get(call)
    if (!outcome) throw new Garbled('a call was not judged')
    if (outcome.allowed) written.push(outcome.written)
    else texts.push(outcome.text)
  }
  return { written, texts }
}

function inputOf(judged: string): string {
  const input = objectIn(judged)?.['input']
  if (typeof input !== 'string') throw new Garbled('a custom call was judged without its input')
  return input
}

function named(tool: string | undefined): string {
  if (tool === undefined) throw new Garbled('a call without a name cannot go on')
  return tool
}

function identity(ref: string | undefined): JsonObject {
  return ref === undefined ? {} : { id: ref }
}

function textIn(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
