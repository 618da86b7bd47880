// Approvals: a person's yes to one intent, for a time, once. It lifts an ESCALATE and never a DENY.

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

/** A request that waits for a person, or that one has answered. */
export interface ApprovalRequest {
  /** Id of the ESCALATE decision that opened it. */
  readonly id: string
  readonly clock: number
  readonly tenant: string
  readonly principal: string
  /** Who wrote the arguments, if the principal did not. */
  readonly author?: string
  readonly session: string
  readonly tool: string
  /** Names the exact intent: tenant, principal, session, tool, effect class, definition and arguments. */
  readonly binding: string
  readonly reason: ReasonCode
  readonly rung: LadderStep
  readonly rule: string | null
  /** Everything that stood in the way: rung, reason and what exactly, of each objection. */
  readonly asks: readonly string[]
  /** Who may answer; nobody named means any approver. */
  readonly approvers: readonly string[]
  /** When it is too late to answer, in milliseconds. */
  readonly until: number
  /** How long an answer holds, in milliseconds. */
  readonly lasts: number
  /** The hash of the arguments as the decision's receipt has it. */
  readonly args: string
  /** Its salt, in hexadecimal, so that the approved call can be shown to be the same. */
  readonly salt: string | null
  /** Id of the delegation that the call was made under; its delegators may not answer. */
  readonly delegation: string | null
  /** What the receipt of the decision says of the page, for a browser call. */
  readonly page: Browser | null
  readonly answer: Answer | null
}

/** What a person said. */
export interface Answer extends Appended {
  readonly granted: boolean
  /** Using it widens the scope of the session by this call. */
  readonly widen: boolean
  readonly approver: string
  /** Why, if they said so. */
  readonly because: string | null
  /** Until when it holds, in milliseconds. */
  readonly until: number
}

/** What a request is found by: the exact intent, and the page as it is now. */
export interface RequestKey {
  readonly binding: string
  readonly page: Browser | undefined
  /** The id of one that is not meant. */
  readonly besides?: string
}

/** How a request bears on the call that it was opened for. */
type Bearing = 'granted' | 'refused' | 'waiting' | 'timed out' | 'expired'

/** The requests of a kernel. */
export interface Approvals {
  /** The request of this id, or the newest for this intent: on exactly this page, else on one that covers it. */
  find(key: { readonly id: string } | RequestKey): ApprovalRequest | undefined
  set(request: ApprovalRequest): void
  remove(request: ApprovalRequest): void
  /** How many requests are known. */
  readonly size: number
  /**
   * How many requests nobody has answered, of those that wait or were opened in the last 15 minutes; `asker` is the principal, or
   * the server that wrote the arguments.
   */
  asking(tenant: string, asker: string, time: number): number
  /** Every request that waits for an answer, oldest first. */
  list(time: number): readonly ApprovalRequest[]
  /** Whether a request may have ended a day ago. */
  hasStale(time: number): boolean
  /** Requests that ended a day ago, at most `most` of them: until then, who asks is told what became of theirs. */
  stale(time: number, most: number): readonly ApprovalRequest[]
}

/** Most requests of one principal at a time: people who are asked too much say yes to everything. */
export const MAX_ASKING = 100

const DAY = 86_400_000

/** The name of a request's private record. */
export function requestName(id: string): string {
  return `approval\n${id}`
}

/** The name of the record that keeps what was asked: the arguments, for the person who is to decide. */
export function inputName(id: string): string {
  return `input\n${id}`
}

/** The longest arguments that an approver is shown, in bytes of canonical JSON. A call with longer ones cannot be approved. */
export const MAX_SHOWN: number = 1 << 16

/** The hash of arguments under a salt, or a plain one. */
export function argsHash(text: string, salt: string | null): string {
  const bytes = salt === null ? undefined : fromHex(salt)
  return bytes ? saltedHash('args', bytes, new TextEncoder().encode(text)) : sha256Hex(text.toWellFormed())
}

/** The arguments that a request is about, out of their record; undefined if that is lost, or is not what was asked about. */
export function inputOf(
  { args, salt }: Pick<ApprovalRequest, 'args' | 'salt'>,
  record: string | undefined,
): string | undefined {
  return record !== undefined && argsHash(record, salt) === args ? record : undefined
}

/** The name of the record that keeps where the page of a browser call is, for the person who is to decide. */
export function pageName(id: string): string {
  return `${inputName(id)}\npage`
}

/** Removes all that is stored of a request. */
export function forgetRequest(turn: Turn, { id, page }: ApprovalRequest): void {
  turn.put(requestName(id), undefined)
  turn.put(inputName(id), undefined)
  if (page) turn.put(pageName(id), undefined)
}

/** The name that the receipt of an answer, and of its use, is the newest word on. */
export function answerName(id: string): string {
  return `answer\n${id}`
}

/**
 * Names the exact intent, whoever's salt its receipt carries: who calls what, as what it counts, with what, from where, and
 * on which page with which plan. How risky that page is, and what was found on it, `DETECTORS.browser.covers` compares.
 */
export function bindingOf(
  intent: Intent,
  effect: EffectClass,
  definition: string | undefined,
  observation: Observation | undefined,
): string {
  const { tenant, principal, door, assurance, tool, hash, context, browser, delegation } = intent
  const author = intent.author === undefined ? [] : [intent.author]
  const page = browser && DETECTORS.browser.bound(browser, observation)
  // A client that was started again may do what a person has approved for it.
  const session = rememberedAs(intent)
  const call = [tenant, principal ?? NOBODY, session, door, assurance, tool, effect, definition ?? null, hash]
  return sha256Hex(canonicalize([...call, context, page ?? null, delegation ?? null, ...author]))
}

/** What stands in the way of a call. */
interface ApprovalObstacle {
  readonly reason: ReasonCode
  readonly rung: LadderStep
  readonly rule?: Rule
  readonly asks?: readonly string[]
}

/** Whether a request was opened for what stands in the way now: the same objections and rule, with the same approvers. */
export function isFor(request: ApprovalRequest, now: ApprovalObstacle): boolean {
  const { reason, rung, rule, asks, approvers } = request
  const same = isSame(approvers, now.rule?.approvers ?? []) && isSame(asks, now.asks ?? [])
  return same && reason === now.reason && rung === now.rung && rule === (now.rule?.id ?? null)
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((each, i) => each === b[i])
}

/** How a request stands at a time. */
export function bearingOf({ answer, until }: ApprovalRequest, time: number): Bearing {
  // Whether it has been forgotten by then must not matter.
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

/** Requests that share something, each group in the order they were opened. */
class Groups {
  readonly #groups = new Map<string, Map<string, ApprovalRequest>>()

  set(name: string, request: ApprovalRequest): void {
    const group = this.#groups.get(name) ?? new Map<string, ApprovalRequest>()
    // One that is known keeps its place: an answer does not make a request newer.
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

/** No request is open. */
export function createApprovals(): Approvals {
  const byId = new Map<string, ApprovalRequest>()
  const byBinding = new Groups()
  const byOwner = new Groups()
  // No request can be forgotten before this; looked for anew only when it has come.
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
    list: (time) => [...byId.values()].filter((request) => bearingOf(request, time) === 'waiting'),
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

/** Whether a request counts against its principal: nobody has answered, and it waits or was opened a short time ago. */
function isAsking({ answer, until, lasts }: ApprovalRequest, time: number): boolean {
  return answer === null && (time <= until || time - (until - lasts) < FIFTEEN_MINUTES)
}
