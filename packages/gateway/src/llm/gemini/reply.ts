// A Gemini reply: one response, or all responses of a stream. The calls of a response are judged together.

import { isList, isObject, type JsonObject } from '@tollgate/evidence'
import { Garbled, type Judge, type Ruling } from '../dialect.ts'
import { isGiven } from '../filter.ts'
import { ReplyCandidate, type CandidateDraft } from './candidate.ts'
import { envelopeOf, isBlocked } from './members.ts'

const MAX_CANDIDATES = 256

export class ContentReply {
  readonly #judge: Judge
  readonly #candidates = new Map<number, ReplyCandidate>()
  #isBlocked = false

  constructor(judge: Judge) {
    this.#judge = judge
  }

  /** Whether all candidates have finished, or there will be none. */
  get isOver(): boolean {
    if (this.#candidates.size === 0) return this.#isBlocked
    return [...this.#candidates.values()].every(({ hasFinished }) => hasFinished)
  }

  /** Judges the calls in a response and returns the response to forward. @throws Garbled */
  take(response: JsonObject): JsonObject | Promise<JsonObject> {
    const drafts = candidatesIn(response).map((given) => this.#candidateOf(given).read(given))
    this.#isBlocked ||= isBlocked(response)
    const proposals = drafts.flatMap((draft) => draft.proposals)
    if (proposals.length === 0) return this.#write(response, drafts, [])
    return this.#judge.judge(proposals).then((rulings) => {
      if (rulings.length !== proposals.length) throw new Garbled('not every call in it was ruled on')
      return this.#write(response, drafts, rulings)
    })
  }

  #write(response: JsonObject, drafts: readonly CandidateDraft[], rulings: readonly Ruling[]): JsonObject {
    let from = 0
    const candidates = drafts.map((draft) => {
      const own = rulings.slice(from, from + draft.proposals.length)
      from += own.length
      return draft.write(own)
    })
    if (this.isOver) this.#judge.requireForced?.()
    return { ...(candidates.length > 0 && { candidates }), ...envelopeOf(response) }
  }

  #candidateOf(given: JsonObject): ReplyCandidate {
    const index = indexOf(given)
    const known = this.#candidates.get(index) ?? new ReplyCandidate(this.#judge)
    this.#candidates.set(index, known)
    return known
  }
}

function candidatesIn({ candidates }: JsonObject): readonly JsonObject[] {
  if (!isGiven(candidates)) return []
  if (!isList(candidates) || !candidates.every(isObject))
    throw new Garbled('the candidates are not a list of objects')
  if (candidates.length > MAX_CANDIDATES) throw new Garbled('the reply has too many candidates')
  if (new Set(candidates.map(indexOf)).size < candidates.length)
    throw new Garbled('a response has one candidate twice')
  return candidates
}

/** The format leaves out a zero. */
function indexOf({ index: given }: JsonObject): number {
  const index = given ?? 0
  const isPlace = typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < MAX_CANDIDATES
  if (!isPlace) throw new Garbled('a candidate has an invalid index')
  return index
}
