// Approvals: a person approves one intent, once, for a limited time. An approval overrides an ESCALATE and never a DENY.

import {
  canonicalize,
  fromHex,
  saltedHash,
  sha256Hex,
  type EffectClass,
  type Browser,
  type ReasonCode,
  type LadderStep,
} from '@tollgate/evidence'
import type { Intent } from '../road/capture.ts'
import type { Observation } from '../road/observation.ts'
import { NOBODY } from '../names.ts'
import type { Appended, Turn } from '../ledger/ledger.ts'
import type { Rule } from '../policy/parse/parse.ts'
import { rememberedAs } from '../names.ts'
import { DETECTORS } from '../gates/index.ts'

/** A request that waits for an answer, or was answered. */
export interface ApprovalRequest {
  /** Id of the ESCALATE decision that opened it. */
  readonly id: string
  readonly clock: number
  readonly tenant: string
  readonly principal: string
  /** The author of the arguments, if it is not the principal. */
  readonly author?: string
  /** The person that the principal acts for. */
  readonly person?: string
  readonly session: string
  readonly tool: string
  /** Identifies the exact intent: tenant, principal, session, tool, effect class, definition and arguments. */
  readonly binding: string
  readonly reason: ReasonCode
  readonly rung: LadderStep
  readonly rule: string | null
  /** Every objection: its step, reason and subject. */
  readonly asks: readonly string[]
  /** The allowed approvers; empty means any. */
  readonly approvers: readonly string[]
  /** The deadline for an answer, in milliseconds. */
  readonly until: number
  /** How long an answer is valid, in milliseconds. */
  readonly lasts: number
  /** The hash of the arguments in the receipt of the decision. */
  readonly args: string
  /** The salt of that hash in hexadecimal, to prove that the approved call is the same. */
  readonly salt: string | null
  /** Id of the delegation of the call; its delegators may not answer. */
  readonly delegation: string | null
  /** The page in the receipt of the decision, for a browser call. */
  readonly page: Browser | null
  readonly answer: Answer | null
}

/** A person's answer. */
export interface Answer extends Appended {
  readonly granted: boolean
  /** Using it widens the scope of the session by this call. */
  readonly widen: boolean
  readonly approver: string
  /** The reason, if one was given. */
  readonly because: string | null
  /** When it expires, in milliseconds. */
  readonly until: number
}

/** The key for finding a request: the exact intent, and the current page. */
export interface RequestKey {
  readonly binding: string
  readonly page: Browser | undefined
  /** The id of a request to skip. */
  readonly besides?: string
}

/** The status of a request for the call that opened it. */
type RequestStatus = 'granted' | 'refused' | 'waiting' | 'timed out' | 'expired'

/** The requests of a kernel. */
export interface Approvals {
  /** Returns the request with this id, or the newest for this intent: on this page, otherwise on a page that covers it. */
  find(key: { readonly id: string } | RequestKey): ApprovalRequest | undefined
  set(request: ApprovalRequest): void
  remove(request: ApprovalRequest): void
  /** The number of known requests. */
  readonly size: number
  /** Counts unanswered requests that wait or are under 15 minutes old. `asker` is the principal, or the server that asks. */
  asking(tenant: string, asker: string, time: number): number
  /** Returns every request that waits for an answer, oldest first. */
  list(time: number): readonly ApprovalRequest[]
  /** Returns whether a request may have expired more than a day ago. */
  hasStale(time: number): boolean
  /** Returns at most `most` requests that expired more than a day ago. Until then the caller can learn the outcome. */
  stale(time: number, most: number): readonly ApprovalRequest[]
}

/** Maximum open requests of one principal. People who are asked too often approve everything. */
export const MAX_ASKING = 100

const DAY = 86_400_000

/** Returns the name of the private record of a request. */
export function requestName(id: string): string {
  return `approval\n${id}`
}

/** Returns the name of the record with the arguments, which the approver sees. */
export function inputName(id: string): string {
  return `input\n${id}`
}

/** Maximum bytes of canonical JSON shown to an approver. A call with longer arguments cannot be approved. */
export const MAX_SHOWN: number = 1 << 16

/** Returns the hash of arguments, salted if there is a salt. */
export function argsHash(text: string, salt: string | null): string {
  const bytes = salt === null ? undefined : fromHex(salt)
  return bytes ? saltedHash('args', bytes, new TextEncoder().encode(text)) : sha256Hex(text.toWellFormed())
}

/** Returns the arguments of a request from their record; undefined if the record is missing or differs from the request. */
export function inputOf(
  { args, salt }: Pick<ApprovalRequest, 'args' | 'salt'>,
  record: string | undefined,
): string | undefined {
  return record !== undefined && argsHash(record, salt) === args ? record : undefined
}

/** Returns the name of the record with the page address of a browser call, which the approver sees. */
export function pageName(id: string): string {
  return `${inputName(id)}\npage`
}

/** Removes everything that is stored for a request. */
export function forgetRequest(turn: Turn, { id, page }: ApprovalRequest): void {
  turn.put(requestName(id), undefined)
  turn.put(inputName(id), undefined)
  if (page) turn.put(pageName(id), undefined)
}

/** Returns the name that the receipts of an answer and of its use anchor. */
export function answerName(id: string): string {
  return `answer\n${id}`
}

/**
 * Returns a hash that identifies the exact intent, independent of salts: caller, tool, effect class, arguments, context, and for
 * a browser call the page and plan. `DETECTORS.browser.covers` compares the risk and findings of the page.
 */
export function bindingOf(
  intent: Intent,
  effect: EffectClass,
  definition: string | undefined,
  observation: Observation | undefined,
): string {
  const { tenant, principal, door, assurance, tool, hash, context, browser, delegation } = intent
  const author = intent.author === undefined ? [] : [intent.author]
  const person = intent.person === undefined ? [] : [{ person: intent.person }]
  const place = intent.place ? [{ place: intent.place }] : []
  const page = browser && DETECTORS.browser.bound(browser, observation)
  // A restarted client may use the approval of its predecessor.
  const session = rememberedAs(intent)
  const call = [tenant, principal ?? NOBODY, session, door, assurance, tool, effect, definition ?? null, hash]
  return sha256Hex(
    canonicalize([...call, context, page ?? null, delegation ?? null, ...author, ...person, ...place]),
  )
}

/** The objection that a request would be about. */
interface ApprovalObstacle {
  readonly reason: ReasonCode
  readonly rung: LadderStep
  readonly rule?: Rule
  readonly asks?: readonly string[]
}

/** Returns whether a request was opened for the current objections: the same objections and rule, with the same approvers. */
export function isFor(request: ApprovalRequest, now: ApprovalObstacle): boolean {
  const { reason, rung, rule, asks, approvers } = request
  const same = isSame(approvers, now.rule?.approvers ?? []) && isSame(asks, now.asks ?? [])
  return same && reason === now.reason && rung === now.rung && rule === (now.rule?.id ?? null)
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((each, i) => each === b[i])
}

/** Returns the status of a request at a time. */
export function statusOf({ answer, until }: ApprovalRequest, time: number): RequestStatus {
  // The result must not depend on whether the record was already removed.
  if (answer === null) return time <= until ? 'waiting' : time <= until + DAY ? 'timed out' : 'expired'
  if (time > answer.until) return 'expired'
  return answer.granted ? 'granted' : 'refused'
}

function staleFrom({ answer, until }: ApprovalRequest): number {
  return (answer?.until ?? until) + DAY
}

function isStale(request: ApprovalRequest, time: number): boolean {
  return time > staleFrom(request)
}

/** Requests that share a key. Each group is in the order of opening. */
class Groups {
  readonly #groups = new Map<string, Map<string, ApprovalRequest>>()

  set(name: string, request: ApprovalRequest): void {
    const group = this.#groups.get(name) ?? new Map<string, ApprovalRequest>()
    // A known request keeps its position: an answer does not make a request newer.
    group.set(request.id, request)
    this.#groups.set(name, group)
  }

  delete(name: string, id: string): void {
    const group = this.#groups.get(name)
    group?.delete(id)
    if (group?.size === 0) this.#groups.delete(name)
  }

  get(name: string): readonly ApprovalRequest[] {
    return [...(this.#groups.get(name)?.values() ?? [])]
  }
}

function newestFor(
  all: readonly ApprovalRequest[],
  { page, besides }: RequestKey,
): ApprovalRequest | undefined {
  const requests = besides === undefined ? all : all.filter(({ id }) => id !== besides)
  return (
    requests.findLast((request) => request.page?.seen_hash === page?.seen_hash) ??
    requests.findLast((request) => DETECTORS.browser.covers(request.page, page))
  )
}

/** Returns an empty collection of requests. */
export function createApprovals(): Approvals {
  const byId = new Map<string, ApprovalRequest>()
  const byBinding = new Groups()
  const byOwner = new Groups()
  // No request becomes stale before this time.
  let nextStale = Infinity
  const ownerOf = ({ tenant, author, principal }: ApprovalRequest): string =>
    groupName(tenant, author ?? principal)
  return {
    find: (key) => ('id' in key ? byId.get(key.id) : newestFor(byBinding.get(key.binding), key)),
    set(request) {
      nextStale = Math.min(nextStale, staleFrom(request))
      byId.set(request.id, request)
      byBinding.set(request.binding, request)
      byOwner.set(ownerOf(request), request)
    },
    remove(request) {
      byId.delete(request.id)
      byBinding.delete(request.binding, request.id)
      byOwner.delete(ownerOf(request), request.id)
    },
    get size() {
      return byId.size
    },
    asking: (tenant, asker, time) =>
      byOwner.get(groupName(tenant, asker)).filter((request) => isAsking(request, time)).length,
    list: (time) => [...byId.values()].filter((request) => statusOf(request, time) === 'waiting'),
    hasStale: (time) => time > nextStale,
    stale(time, most) {
      const found: ApprovalRequest[] = []
      nextStale = Infinity
      for (const request of byId.values()) {
        if (found.length < most && isStale(request, time)) found.push(request)
        else nextStale = Math.min(nextStale, staleFrom(request))
      }
      return found
    },
  }
}

function groupName(tenant: string, asker: string): string {
  return `${tenant}\n${asker}`
}

const FIFTEEN_MINUTES = 900_000

/** Returns whether a request counts against its principal: it is unanswered, and waits or was opened recently. */
function isAsking({ answer, until, lasts }: ApprovalRequest, time: number): boolean {
  return answer === null && (time <= until || time - (until - lasts) < FIFTEEN_MINUTES)
}
