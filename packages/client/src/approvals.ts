// Requests for approval: reading them, waiting for an answer, giving one.

import type { Json, JsonObject } from '@tollgate/evidence'
import { jsonOf, strange } from './answer.ts'
import { ApprovalTimedOut, TollgateError } from './error.ts'
import { exchange, isLost, pause } from './exchange.ts'
import { sleep } from './host.ts'
import { id, listOf, object, orNull, text, time, word } from './reading.ts'
import type { Connection } from './transport.ts'

const STATUSES = ['waiting', 'granted', 'refused', 'timed_out', 'expired', 'used'] as const

/** How a request stands. Only the call that it was opened for can use a granted one, once. */
export type ApprovalStatus = (typeof STATUSES)[number]

/** A request for approval, as on the wire. */
export interface ApprovalRequest {
  /** Id of the ESCALATE decision that opened it. */
  readonly id: string
  readonly principal: string
  readonly session: string
  readonly tool: string
  readonly effect_class: string | null
  readonly reason_code: string
  readonly rung: string
  readonly rule: string | null
  /** Everything that stands in the way, which a yes would lift: of each objection its rung, its reason, and what exactly. */
  readonly asks: readonly string[]
  /** The hash of the arguments as the decision's receipt has it. */
  readonly args_hash: string
  /** Who may answer; nobody named means any approver. */
  readonly approvers: readonly string[]
  readonly opened: string | null
  /** Until when it can be answered or, once it is, until when the answer holds. */
  readonly until: string | null
  readonly status: ApprovalStatus
  /** Who answered. */
  readonly approver: string | null
  /** Why, in their words. */
  readonly because: string | null
  /** The page of a browser call, as the gateway shows it. */
  readonly page: JsonObject | null
  /** Whether the policy accepts no answer without a reason. */
  readonly reason_required: boolean
}

/** What a person's answer led to. */
export interface Answered {
  /** Id of the approval's receipt. */
  readonly receipt: string
  readonly answer: 'GRANTED' | 'REFUSED'
}

/** How to wait. */
export interface WaitOptions {
  /** Longest time, in milliseconds. Default five minutes. */
  readonly timeout?: number
  readonly signal?: AbortSignal | undefined
}

/** The approvals of a gateway. */
export interface Approvals {
  /** Those that wait for an answer; for an agent its own. */
  list(options?: { readonly signal?: AbortSignal }): Promise<readonly ApprovalRequest[]>
  get(id: string, options?: { readonly signal?: AbortSignal }): Promise<ApprovalRequest>
  /**
   * Waits until a request is no longer `waiting`. A gateway that cannot be reached meanwhile is asked again until the time
   * is up.
   *
   * @throws ApprovalTimedOut; TollgateError if the gateway says that there is no such request; or the signal's reason.
   */
  wait(id: string, options?: WaitOptions): Promise<ApprovalRequest>
  /**
   * Says yes, on the record. Sent once: after a fault, look how the request stands. With `widen` the scope of the session has the call's
   * tool, with what it acts on, once the call has passed.
   */
  approve(id: string, because?: string, options?: { readonly widen?: boolean }): Promise<Answered>
  /** Says no, on the record. Sent once, as `approve` is. */
  deny(id: string, because?: string): Promise<Answered>
}

/** How long to wait for a person if nobody says otherwise, in milliseconds. */
export const USUAL_WAIT = 300_000

const MAX_POLL = 30_000
// A gateway that does not hold the request open is not asked more often than this.
const SHORTEST_POLL = 1_000

/** The approvals at the other end of a connection. */
export function approvalsOf(connection: Connection): Approvals {
  return {
    async list({ signal } = {}) {
      const answer = await exchange(connection, { method: 'GET', path: '/v1/approvals', signal })
      return listOf(readRequest)(object(jsonOf(answer), 'answer')['approvals'], 'approvals')
    },
    get: (request, { signal } = {}) => look(connection, request, { signal }),
    wait: (request, options = {}) => waitFor(connection, request, options),
    approve: (request, because, { widen = false } = {}) =>
      answer(connection, request, 'approve', because, widen),
    deny: (request, because) => answer(connection, request, 'deny', because),
  }
}

async function waitFor(
  connection: Connection,
  request: string,
  { timeout = USUAL_WAIT, signal }: WaitOptions,
): Promise<ApprovalRequest> {
  const { host } = connection
  const end = host.now() + timeout
  for (let lost = 0; ;) {
    const asked = host.now()
    if (asked >= end) throw new ApprovalTimedOut(request, timeout)
    const found = await lookOrMiss(connection, request, { left: end - asked, signal })
    if (found && found.status !== 'waiting') return found
    lost = found ? 0 : lost + 1
    const early = found ? asked + SHORTEST_POLL - host.now() : pause(lost)
    await sleep(host, Math.max(0, Math.min(early, end - host.now())), signal)
  }
}

/** How a request stands once it no longer waits, or some time has passed; undefined if that could not be found out. */
async function lookOrMiss(
  connection: Connection,
  request: string,
  { left, signal }: { readonly left: number; readonly signal: AbortSignal | undefined },
): Promise<ApprovalRequest | undefined> {
  const wait = Math.floor(Math.min(MAX_POLL, left) / 1000)
  const timeout = Math.min(left, connection.timeout + wait * 1000)
  try {
    return await look({ ...connection, timeout, retries: 0 }, request, { wait, signal })
  } catch (fault) {
    if (!(fault instanceof TollgateError) || signal?.aborted) throw fault
    if (isLost(fault) || fault.status === 429 || (fault.status ?? 0) >= 500) return undefined
    throw fault
  }
}

async function look(
  connection: Connection,
  request: string,
  { wait = 0, signal }: { readonly wait?: number; readonly signal?: AbortSignal | undefined },
): Promise<ApprovalRequest> {
  const path = `/v1/approvals/${encodeURIComponent(request)}`
  const query = { wait: wait > 0 ? wait : undefined }
  const answer = await exchange(connection, { method: 'GET', path, query, signal })
  const found = readRequest(jsonOf(answer), 'answer')
  if (found.id !== request) throw strange(answer.status, 'it is about another request')
  return found
}

async function answer(
  connection: Connection,
  request: string,
  word: 'approve' | 'deny',
  because: string | undefined,
  widen = false,
): Promise<Answered> {
  const path = `/v1/approvals/${encodeURIComponent(request)}/${word}`
  const body = JSON.stringify({ ...(because !== undefined && { because }), ...(widen && { widen }) })
  const said = object(jsonOf(await exchange(connection, { method: 'POST', path, body }, 0)), 'answer')
  return { receipt: id(said['receipt'], 'receipt'), answer: readAnswer(said['answer'], 'answer') }
}

const readAnswer = word('GRANTED', 'REFUSED')

function readRequest(value: Json | undefined, name: string): ApprovalRequest {
  const request = object(value, name)
  return {
    id: id(request['id'], 'id'),
    principal: text(request['principal'], 'principal'),
    session: text(request['session'], 'session'),
    tool: text(request['tool'], 'tool'),
    effect_class: orNull(text)(request['effect_class'], 'effect_class'),
    reason_code: text(request['reason_code'], 'reason_code'),
    rung: text(request['rung'], 'rung'),
    rule: orNull(text)(request['rule'], 'rule'),
    asks: listOf(text)(request['asks'] ?? [], 'asks'),
    args_hash: text(request['args_hash'], 'args_hash'),
    approvers: listOf(text)(request['approvers'], 'approvers'),
    opened: orNull(time)(request['opened'], 'opened'),
    until: orNull(time)(request['until'], 'until'),
    status: word(...STATUSES)(request['status'], 'status'),
    approver: orNull(text)(request['approver'], 'approver'),
    because: orNull(text)(request['because'], 'because'),
    page: orNull(object)(request['page'], 'page'),
    reason_required: request['reason_required'] === true,
  }
}
