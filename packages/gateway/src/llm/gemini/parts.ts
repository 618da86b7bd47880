// The parts of a Gemini reply: text and pictures, calls of functions, and what tools of the provider have done. A part that is unknown
// may be a call and is judged as one.

import { isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { Garbled, type Judge, type ProposedCall } from '../dialect.ts'
import { entryOf, isGiven, objectIn, word } from '../filter.ts'
import { each, object, record, text, type RecordShape } from '../shapes.ts'
import { referenceTo } from '../unnamed-calls.ts'

/** A part of a reply: forwarded as it is, or judged. */
export type ReplyPart =
  | { readonly words: JsonObject }
  | {
      readonly proposal: ProposedCall
      /** The thought signature beside it; empty if there is none. */
      readonly signature: string
      /** The part with the judged arguments; undefined if it is never forwarded. */
      readonly write: ((args: string) => JsonObject) | undefined
    }

/** Members that can stand beside any other. */
const ASIDES: readonly string[] = [
  'thought',
  'thoughtSignature',
  'videoMetadata',
  'mediaResolution',
  'partMetadata',
]

const CODE = 'gemini/code_execution'
/** The tools of the provider, by their type in a reply. */
const TYPES: Readonly<Record<string, string>> = {
  GOOGLE_SEARCH_WEB: 'gemini/google_search',
  GOOGLE_SEARCH_IMAGE: 'gemini/google_search',
  URL_CONTEXT: 'gemini/url_context',
  GOOGLE_MAPS: 'gemini/google_maps',
  FILE_SEARCH: 'gemini/file_search',
}

/** The shapes of what the provider has done, and the tool in the policy. */
const RAN: Readonly<Record<string, { shape: RecordShape; tool: (done: JsonObject) => string | undefined }>> =
  {
    executableCode: { shape: record({}, { id: word, language: word, code: text }), tool: () => CODE },
    codeExecutionResult: { shape: record({}, { id: word, outcome: word, output: text }), tool: () => CODE },
    toolCall: { shape: record({ toolType: word }, { id: word, args: object }), tool: typed },
    toolResponse: { shape: record({ toolType: word }, { id: word, response: object }), tool: typed },
  }

function typed({ toolType: type }: JsonObject): string | undefined {
  return entryOf(TYPES, type)
}

const PICTURE = record({ data: text }, each(['mimeType', 'displayName'], text))

/** Reads a part. @throws Garbled */
export function readPart(part: JsonObject, judge: Judge): ReplyPart {
  const [name, ...others] = Object.keys(part).filter(
    (member) => !ASIDES.includes(member) && isGiven(part[member]),
  )
  const asides = asidesOf(part)
  if (name === undefined) return { words: asides }
  const value = part[name] ?? null
  if (others.length > 0) return unknownPart(part)
  if (name === 'text' && typeof value === 'string') return { words: { text: value, ...asides } }
  if (name === 'functionCall' && isObject(value)) return readCall(value, part)
  const picture = name === 'inlineData' ? PICTURE(value) : undefined
  if (picture) return { words: { inlineData: picture, ...asides } }
  const done = entryOf(RAN, name)
  const built = done?.shape(value)
  const tool = built && done?.tool(built)
  if (!built || tool === undefined || !judge.ran(tool, built)) return unknownPart(part)
  return { words: { [name]: built, ...asides } }
}

const MAX_NAME = 256
/** Members of a call that comes in pieces. Requests that ask for pieces are changed, so that none should come. */
const PIECES: readonly string[] = ['partialArgs', 'willContinue']

function readCall(call: JsonObject, part: JsonObject): ReplyPart {
  const { id, name, args: given } = call
  const args = given ?? {}
  const isNamed = typeof name === 'string' && name !== '' && name.length <= MAX_NAME
  const hasId = isGiven(id)
  const key = hasId ? word(id) : ''
  if (!isNamed || !isObject(args) || key === undefined || PIECES.some((each) => isGiven(call[each]))) {
    return unknownPart(part)
  }
  const signature = signatureIn(part)
  return {
    proposal: { tool: name, declared: name, form: 'json', args, ref: referenceTo(name, args) },
    signature,
    write(judged) {
      const value = objectIn(judged)
      if (!value) throw new Garbled('the arguments of a call are not an object')
      const written = { ...(hasId && { id: key }), name, args: value }
      return { functionCall: written, ...signed(signature) }
    },
  }
}

/** A part that may be a call. It gets no name, so it is denied. */
export function unknownPart(part: JsonObject): ReplyPart {
  return {
    proposal: { tool: undefined, declared: undefined, form: 'json', args: part, ref: undefined },
    signature: signatureIn(part),
    write: undefined,
  }
}

const SIGNATURE = /^[A-Za-z0-9+/=_-]{1,65536}$/

function signatureIn({ thoughtSignature: signature }: JsonObject): string {
  return typeof signature === 'string' && SIGNATURE.test(signature) ? signature : ''
}

/** A thought signature as a member of a part. */
export function signed(signature: string): JsonObject {
  return signature === '' ? {} : { thoughtSignature: signature }
}

function asidesOf(part: JsonObject): Record<string, Json> {
  return { ...(part['thought'] === true && { thought: true }), ...signed(signatureIn(part)) }
}
