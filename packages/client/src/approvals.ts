// Reads requests for approval, waits for an answer, and answers them.

import type { Json, JsonObject } from '@tollgate/evidence'
import { invalidAnswer, jsonOf } from './answer.ts'
import { ApprovalTimedOut, TollgateError } from './error.ts'
import { exchange, isLost, pause } from './exchange.ts'
import { sleep } from './host.ts'
import { id, listOf, object, orNull, text, time, word } from './reading.ts'
import type { Connection } from './transport.ts'

const STATUSES = ['waiting', 'granted', 'refused', 'timed_out', 'expired', 'used'] as const

/** The status of a request. A granted request is valid once, for the call that opened it. */
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
  /** The objections that an approval overrides: for each its step, its reason code and its detail. */
  readonly asks: readonly string[]
  /** The hash of the arguments in the receipt of the decision. */
  readonly args_hash: string
  /** Principals and groups that may answer; empty for any approver. */
  readonly approvers: readonly string[]
  readonly opened: string | null
  /** When the request expires or, after an approval, when the approval expires. */
  readonly until: string | null
  readonly status: ApprovalStatus
  /** The principal that answered. */
  readonly approver: string | null
  /** The reason that the approver gave. */
  readonly because: string | null
  /** The page of a browser call, as the gateway shows it. */
  readonly page: JsonObject | null
  /** Whether the policy requires a reason for the answer. */
  readonly reason_required: boolean
}

/** The receipt of an answer. */
export interface Answered {
  /** Id of the approval's receipt. */
  readonly receipt: string
  readonly answer: 'GRANTED' | 'REFUSED'
}

/** The options of `wait`. */
export interface WaitOptions {
  /** Maximum time in milliseconds. Default five minutes. */
  readonly timeout?: number
  readonly signal?: AbortSignal | undefined
}

/** The approvals of a gateway. */
export interface Approvals {
  /** The open requests. An agent sees only its own. */
  list(options?: { readonly signal?: AbortSignal }): Promise<readonly ApprovalRequest[]>
  get(id: string, options?: { readonly signal?: AbortSignal }): Promise<ApprovalRequest>
  /**
   * Waits until the status of a request is no longer `waiting`. Retries until the timeout if the gateway cannot be reached.
   *
   * @throws ApprovalTimedOut; TollgateError if there is no such request; or the reason of the signal.
   */
  wait(id: string, options?: WaitOptions): Promise<ApprovalRequest>
  /**
   * Approves a request. Not retried: after an error, check the status of the request. With `widen`, the tool and the targets of
   * the call join the scope of the session when the call runs.
   */
  approve(id: string, because?: string, options?: { readonly widen?: boolean }): Promise<Answered>
  /** Denies a request. Not retried. */
  deny(id: string, because?: string): Promise<Answered>
}

/** Default time to wait for a person, in milliseconds. */
export const DEFAULT_WAIT = 300_000

const MAX_POLL = 30_000
// Limits the polling of a gateway that answers at once.
const MIN_POLL = 1_000

/** The approvals of the gateway of a connection. */
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
  { timeout = DEFAULT_WAIT, signal }: WaitOptions,
): Promise<ApprovalRequest> {
  const { host } = connection
  const end = host.now() + timeout
  for (let lost = 0; ;) {
    const asked = host.now()
    if (asked >= end) throw new ApprovalTimedOut(request, timeout)
    const found = await lookOrMiss(connection, request, { left: end - asked, signal })
    if (found && found.status !== 'waiting') return found
    lost = found ? 0 : lost + 1
    const early = found ? asked + MIN_POLL - host.now() : pause(lost)
    await sleep(host, Math.max(0, Math.min(early, end - host.now())), signal)
  }
}

/** The request once it is answered or the poll ends; undefined if the gateway could not be reached. */
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
  if (found.id !== request) throw invalidAnswer(answer.status, 'it is about another request')
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
  const answered = object(jsonOf(await exchange(connection, { method: 'POST', path, body }, 0)), 'answer')
  return { receipt: id(answered['receipt'], 'receipt'), answer: readAnswer(answered['answer'], 'answer') }
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
