// Calls in a Chat Completions reply: reads them for judgement and writes them again with the judged arguments.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { Garbled, type Judge, type ProposedCall } from '../dialect.ts'
import { objectIn, word } from '../filter.ts'
import { BY_NAME } from '../unnamed-calls.ts'

/** A call in a reply. */
export interface ReplyCall {
  readonly proposal: ProposedCall
  /** The call in the dialect's format, with these arguments. @throws Garbled for an unknown call. */
  write(args: string): JsonObject
}

const MAX_CALLS = 256
/** Maximum number of parts, choices or annotations in a reply. */
export const MAX_ITEMS: number = 1024
/** Maximum length of all arguments in a reply, in characters. */
const MAX_ARGS = 4 * 1024 * 1024

/** Limits the calls of one reply. */
export class Allowance {
  #calls = 0
  #length = 0

  /** @throws Garbled if there are too many calls. */
  addCall(): void {
    if (++this.#calls > MAX_CALLS) throw new Garbled(`the reply has more than ${MAX_CALLS} calls`)
  }

  /** @throws Garbled if the arguments are too long. */
  addLength(length: number): void {
    this.#length += length
    if (this.#length > MAX_ARGS) throw new Garbled('the arguments in the reply are longer than 4 MiB')
  }
}

/**
 * Reads an entry of `tool_calls`. In a reply that was cut short, a free text may be incomplete and mean something else. Such a
 * call gets no name, so it is denied.
 */
export function readToolCall(entry: JsonObject, isCut: boolean): ReplyCall {
  const functionPart = entry['function'] ?? undefined
  const customPart = entry['custom'] ?? undefined
  const type = entry['type'] ?? ''
  if (functionPart !== undefined && customPart !== undefined) return unknownCall(entry)
  // Many compatible servers omit the type.
  if (isObject(functionPart) && (type === 'function' || type === '')) return functionCall(entry, functionPart)
  if (isObject(customPart) && type === 'custom' && !isCut) return customCall(entry, customPart)
  return unknownCall(entry)
}

/**
 * Reads the older `function_call`. It has no id, and its result carries only the name. With several in a reply, a result could
 * belong to any of them.
 */
export function readFunctionCall(entry: JsonObject, isOnly: boolean): ReplyCall {
  const args = entry['arguments'] ?? ''
  if (typeof args !== 'string') return unknownCall(entry)
  const tool = textIn(entry['name'])
  return {
    proposal: { tool, declared: tool, form: 'json', args, ref: isOnly ? legacyRef(tool) : undefined },
    write: (judged) => ({ name: named(tool), arguments: judged }),
  }
}

function functionCall(entry: JsonObject, part: JsonObject): ReplyCall {
  const args = part['arguments'] ?? ''
  if (typeof args !== 'string') return unknownCall(entry)
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

/** The thought signature that Gemini wants back with a call; empty if there is none. */
export function signatureIn(entry: JsonObject): string {
  const extra = entry['extra_content']
  const google = isObject(extra) ? extra['google'] : undefined
  const signature = isObject(google) ? google['thought_signature'] : undefined
  return typeof signature === 'string' && SIGNATURE.test(signature) ? signature : ''
}

/** A thought signature as a member of a call. */
export function signedWith(signature: string): JsonObject {
  return signature === '' ? {} : { extra_content: { google: { thought_signature: signature } } }
}

function customCall(entry: JsonObject, part: JsonObject): ReplyCall {
  const input = part['input'] ?? ''
  if (typeof input !== 'string') return unknownCall(entry)
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

/** A call of an unknown kind. It gets no name, so it is denied. */
export function unknownCall(entry: JsonObject): ReplyCall {
  return {
    proposal: {
      tool: undefined,
      declared: undefined,
      form: 'built-in',
      args: entry,
      ref: textIn(entry['id']),
    },
    write() {
      throw new Garbled('a call of an unknown kind cannot be forwarded')
    },
  }
}

/** The judged calls of a reply: each is rewritten, or a text takes its place. */
export type Outcomes = ReadonlyMap<ReplyCall, { readonly written: JsonObject } | { readonly text: string }>

/** Judges complete calls together. */
export async function judgeCalls(calls: readonly ReplyCall[], judge: Judge): Promise<Outcomes> {
  const rulings = calls.length > 0 ? await judge.judge(calls.map(({ proposal }) => proposal)) : []
  const outcomes = calls.map((call, at) => {
    const ruling = rulings[at]
    if (!ruling) throw new Garbled('a call was not judged')
    return [call, ruling.allowed ? { written: call.write(ruling.args) } : { text: ruling.text }] as const
  })
  return new Map(outcomes)
}

/** Separates judged calls into calls to forward and texts for the denied ones. */
export function sortOutcomes(
  calls: readonly ReplyCall[],
  outcomes: Outcomes,
): { readonly written: readonly JsonObject[]; readonly texts: readonly string[] } {
  const written: JsonObject[] = []
  const texts: string[] = []
  for (const call of calls) {
    const outcome = outcomes.get(call)
    if (!outcome) throw new Garbled('a call was not judged')
    if ('written' in outcome) written.push(outcome.written)
    else texts.push(outcome.text)
  }
  return { written, texts }
}

/** The reference that a `function_call` and its result share, because neither has an id; undefined without a plain name. */
export function legacyRef(name: Json | undefined): string | undefined {
  const plain = plainName(name)
  return plain === undefined ? undefined : BY_NAME + plain
}

/** A name that cannot hold a sentence; undefined for anything else. */
export function plainName(value: Json | undefined): string | undefined {
  const name = word(value)
  return name === '' ? undefined : name
}

function inputOf(judged: string): string {
  const input = objectIn(judged)?.['input']
  if (typeof input !== 'string') throw new Garbled('a custom call was judged without its input')
  return input
}

function named(tool: string | undefined): string {
  if (tool === undefined) throw new Garbled('a call without a name cannot be forwarded')
  return tool
}

function identity(ref: string | undefined): JsonObject {
  return ref === undefined ? {} : { id: ref }
}

/** A text that is not empty. */
export function textIn(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
