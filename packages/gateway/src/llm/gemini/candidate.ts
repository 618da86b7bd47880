// One candidate of a Gemini reply, over all responses of a stream: reads its parts, and writes them again after the calls in them are
// judged.

import { isList, isObject, type Json, type JsonObject } from '@tollgate/evidence'
import { Garbled, type Judge, type ProposedCall, type Ruling } from '../dialect.ts'
import { isGiven, word } from '../filter.ts'
import { besidesOf, findingsOf, logprobsOf } from './members.ts'
import { readPart, signed, unknownPart, type ReplyPart } from './parts.ts'

/** A candidate in one response, before its calls are judged. */
export interface CandidateDraft {
  readonly proposals: readonly ProposedCall[]
  /** Writes the candidate, with a ruling for each proposal. @throws Garbled */
  write(rulings: readonly Ruling[]): JsonObject
}

const MAX_PARTS = 1024
const MAX_CALLS = 256
/** Google's own value for a call whose signature is lost. Newer models refuse a first call without one. */
const NO_SIGNATURE = 'skip_thought_signature_validator'

export class ReplyCandidate {
  hasFinished = false
  readonly #judge: Judge
  readonly #ids = new Set<Json>()
  /** The texts of denied calls that no part holds, because the reply must be JSON. */
  readonly #denials: string[] = []
  #calls = 0
  #callsLeft = 0
  #hasLostSignature = false

  constructor(judge: Judge) {
    this.#judge = judge
  }

  /** Reads the candidate in one response. @throws Garbled */
  read(given: JsonObject): CandidateDraft {
    const reason = reasonIn(given)
    const parts = partsIn(given).map((part) => this.#sort(part))
    const isBroken = reason === BROKEN_CALL
    if (isBroken) parts.push(unknownPart({ finishMessage: given['finishMessage'] ?? null }))
    const proposals = parts.flatMap((part) => ('proposal' in part ? [part.proposal] : []))
    if (proposals.length > 0 && this.hasFinished)
      throw new Garbled('a call comes after its candidate has finished')
    this.#calls += proposals.length
    if (this.#calls > MAX_CALLS) throw new Garbled(`the reply has more than ${MAX_CALLS} calls`)
    this.hasFinished ||= reason !== undefined
    const hasContent = isGiven(given['content']) || parts.length > 0
    return { proposals, write: (rulings) => this.#write(given, hasContent, parts, rulings, reason) }
  }

  /** With two calls of one id, a result could belong to either. */
  #sort(part: JsonObject): ReplyPart {
    const call = part['functionCall']
    const id = isObject(call) ? (call['id'] ?? null) : null
    if (id === null) return readPart(part, this.#judge)
    if (this.#ids.has(id)) return unknownPart(part)
    this.#ids.add(id)
    return readPart(part, this.#judge)
  }

  #write(
    given: JsonObject,
    hasContent: boolean,
    parts: readonly ReplyPart[],
    rulings: readonly Ruling[],
    reason: string | undefined,
  ): JsonObject {
    const next = rulings.values()
    const written = parts.flatMap((part) =>
      'words' in part ? [part.words] : this.#rule(part, next.next().value),
    )
    const isSaid = parts.length > 0 && parts.every((part) => 'words' in part)
    return {
      ...(hasContent && {
        content: { role: 'model', parts: written.filter((part) => Object.keys(part).length > 0) },
      }),
      ...(isGiven(given['index']) && { index: given['index'] }),
      ...besidesOf(given),
      ...findingsOf(given, this.#judge),
      ...(isSaid ? logprobsOf(given, saidIn(written)) : {}),
      ...this.#end(reason),
    }
  }

  #rule(
    part: Exclude<ReplyPart, { readonly words: JsonObject }>,
    ruling: Ruling | undefined,
  ): readonly JsonObject[] {
    if (ruling?.allowed === false) return this.#deny(ruling.text, part.signature)
    if (!ruling || !part.write) throw new Garbled('it has an invalid call')
    const isUnsigned = this.#callsLeft++ === 0 && this.#hasLostSignature && part.signature === ''
    return [{ ...part.write(ruling.args), ...(isUnsigned && signed(NO_SIGNATURE)) }]
  }

  #deny(text: string, signature: string): readonly JsonObject[] {
    this.#hasLostSignature ||= signature !== ''
    if (this.#judge.structured !== true) return [{ text }]
    this.#denials.push(text)
    return []
  }

  /** In a structured reply, a text would not be JSON. The reason of a denial is then that of the end. */
  #end(reason: string | undefined): JsonObject {
    if (reason === undefined) return {}
    if (this.#denials.length === 0) return { finishReason: reason }
    const finishMessage = this.#denials.join('\n\n')
    return { finishReason: this.#callsLeft > 0 ? reason : 'PROHIBITED_CONTENT', finishMessage }
  }
}

/** The provider's reason for a call that it could not read. The text beside it quotes the call. */
const BROKEN_CALL = 'MALFORMED_FUNCTION_CALL'
const UNFINISHED = 'FINISH_REASON_UNSPECIFIED'

function reasonIn({ finishReason: reason }: JsonObject): string | undefined {
  if (!isGiven(reason) || reason === UNFINISHED || reason === '') return undefined
  if (typeof reason !== 'string' || word(reason) === undefined)
    throw new Garbled('a finish reason is not a word')
  return reason
}

function partsIn({ content }: JsonObject): readonly JsonObject[] {
  if (!isGiven(content)) return []
  if (!isObject(content)) throw new Garbled('a content is not an object')
  const parts = content['parts'] ?? []
  if (!isList(parts) || !parts.every(isObject))
    throw new Garbled('the parts of a content are not a list of objects')
  if (parts.length > MAX_PARTS) throw new Garbled(`a content has more than ${MAX_PARTS} parts`)
  return parts
}

function saidIn(parts: readonly JsonObject[]): string {
  return parts.map(({ text, thought }) => (typeof text === 'string' && thought !== true ? text : '')).join('')
}
