// Asks the gateway whether a call may run.

import { canonicalize, reasonOf, VERDICTS, type Json } from '@tollgate/evidence'
import { invalidAnswer, jsonOf, type Answer } from './answer.ts'
import { TollgateError } from './error.ts'
import { exchange } from './exchange.ts'
import type { Moment } from './host.ts'
import { digestOf, pagePart, type BrowserPart } from './browser-part.ts'
import { id, object, orNull, text, time, word } from './reading.ts'
import type { Connection } from './transport.ts'

/** A call, with the member names of the wire. With a member of `BrowserPart` it is a browser call, and is judged as one. */
export interface ToolCall extends BrowserPart {
  readonly tool: string
  /** Plain JSON data. Read once. */
  readonly arguments?: unknown
  /** The session of the call. Default: `session` of the client. */
  readonly session_id?: string
  readonly delegation_session_id?: string
  /** The claimed principal. A call whose token belongs to another principal is denied. */
  readonly principal?: string
  readonly context?: {
    readonly environment?: string
    readonly workspace?: string
    readonly tenant?: string
    /** The same as outside `context`. A call that names two sessions is denied. */
    readonly session_id?: string
    readonly delegation_session_id?: string
  }
  /** Id of the request for approval that the call uses. */
  readonly approval?: string
  /** Id of the delegation that the call is made under. */
  readonly delegation?: string
  /**
   * Texts that led to the call, in order. The gateway scans them and stores hashes of their values: a value that a tool named
   * first stays untrusted.
   */
  readonly sources?: readonly Source[]
}

/** A text that led to a call: from the user, or from a tool or a page. */
export interface Source {
  readonly source_channel: 'USER' | 'TOOL_OUTPUT'
  readonly text: string
}

interface Judged {
  /** The reason code. */
  readonly reason_code: string
  /** The reason as a sentence. */
  readonly message: string
  /** The remedy of the reason. */
  readonly remedy: string
  /** The step that decided. */
  readonly rung: string
  readonly rule: string | null
  /** Details, without any value of the arguments. */
  readonly detail: string | null
}

/** The call may run once, before `expires`. Report its effect by the id of its receipt. */
export interface Allowed extends Judged {
  readonly verdict: 'ALLOW'
  readonly receipt: string
  readonly approval: null
  /** By the clock of the gateway. */
  readonly expires: string
}

/** The call must not run. */
export interface Denied extends Judged {
  readonly verdict: 'DENY'
  /** Null if no receipt could be written. */
  readonly receipt: string | null
  readonly approval: null
  readonly expires: null
}

/** The call must not run before a person approves it. */
export interface Escalated extends Judged {
  readonly verdict: 'ESCALATE'
  readonly receipt: string
  /** Id of the request for approval. */
  readonly approval: string | null
  readonly expires: null
}

/** The gateway's answer to a call. */
export type Evaluation = Allowed | Denied | Escalated

/** A decision and how long it is valid. */
interface Timed {
  readonly evaluation: Evaluation
  /** When the request was sent. */
  readonly sent: Moment
  /** How long after `sent` an ALLOW is valid, in milliseconds. */
  readonly validFor: number
}

/** A captured call: its members as immutable text. */
export interface CapturedCall {
  /** A call about a page has a door of its own. */
  readonly door: 'http' | 'browser'
  readonly tool: string
  /** Canonical JSON of the arguments. */
  readonly args: string
  /** Members that the receipt repeats. */
  readonly claims: {
    readonly session: string | undefined
    readonly principal: string | undefined
    readonly tenant: string | undefined
    readonly delegation: string | undefined
    readonly planner_ref: string | undefined
    readonly dom_hash: string | undefined
    readonly visual_text_hash: string | undefined
  }
  /** Every member with its JSON text. */
  readonly members: readonly (readonly [name: string, text: string])[]
}

/**
 * Captures a call: reads each member once.
 *
 * @throws TollgateError `arguments-invalid` for anything but plain JSON data.
 */
export function captureCall(call: ToolCall, session: string | undefined): CapturedCall {
  const { tool, arguments: given = {}, session_id: own, ...rest } = call
  const { principal, context, delegation_session_id, delegation } = rest
  // The session of the client is only a default.
  const session_id = own ?? (context?.session_id === undefined ? session : undefined)
  const args = captured('arguments', given)
  const named = session_id ?? context?.session_id ?? delegation_session_id ?? context?.delegation_session_id
  const where = { session: named, tenant: context?.tenant }
  const page = pagePart(rest)
  const claims = { ...where, principal, delegation, ...pageClaims(page) }
  const members = [...membersOf({ tool, ...rest, session_id }), ['arguments', args] as const]
  return throughDoor({ door: 'http', tool, args, claims, members }, page)
}

/** The same call about a page as it is now. */
export function withPage(call: CapturedCall, given: BrowserPart): CapturedCall {
  const page = pagePart(given)
  const others = call.members.filter(([name]) => !Object.hasOwn(page, name))
  const { planner_ref, ...seen } = pageClaims(page)
  const claims = { ...call.claims, ...seen, ...(planner_ref !== undefined && { planner_ref }) }
  return throughDoor({ ...call, claims, members: [...others, ...membersOf(page)] }, page)
}

/** A call about a page has a door of its own, which gives the tool another name. */
function throughDoor(call: CapturedCall, page: BrowserPart): CapturedCall {
  if (Object.keys(page).length === 0) return call
  const members = call.members.map(([name, text]) => [name === 'tool' ? 'tool_name' : name, text] as const)
  return { ...call, door: 'browser', members }
}

/** Of an observation that was posted separately, the receipt has what was posted. */
function pageClaims({ observation, observation_id, planner_ref }: BrowserPart) {
  const seen = observation_id === undefined ? observation : undefined
  return {
    planner_ref: digestOf(planner_ref),
    dom_hash: seen?.dom_hash,
    visual_text_hash: seen?.visual_text_hash,
  }
}

function membersOf(given: object): CapturedCall['members'] {
  const members = Object.entries(given).filter(([, value]) => value !== undefined)
  return members.map(([name, value]) => [name, captured(name, value)])
}

/** The same call with an approval. */
export function withApproval(call: CapturedCall, approval: string): CapturedCall {
  const others = call.members.filter(([name]) => name !== 'approval')
  return { ...call, members: [...others, ['approval', JSON.stringify(approval)]] }
}

function bodyOf({ members }: CapturedCall): string {
  return `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
}

function captured(name: string, value: unknown): string {
  try {
    return canonicalize(value)
  } catch (cause) {
    throw new TollgateError('arguments-invalid', `\`${name}\` of the call is not plain JSON data`, {
      remedy:
        'Pass only null, booleans, finite numbers, strings, arrays and plain objects. Leave out undefined members.',
      cause,
    })
  }
}

/**
 * Sends a call, and retries if the answer was lost. Each try is a separate decision. Only the returned ALLOW is used; others
 * expire.
 *
 * @throws TollgateError without a valid answer; or the reason of the signal.
 */
export async function ask(
  connection: Connection,
  call: CapturedCall,
  signal: AbortSignal | undefined,
): Promise<Timed> {
  const body = bodyOf(call)
  const path = call.door === 'browser' ? '/v1/browser/evaluate' : '/v1/evaluate'
  const answer = await exchange(connection, { method: 'POST', path, body, signal })
  if (answer.status !== 200) throw invalidAnswer(answer.status, 'a verdict must have status 200')
  const evaluation = readEvaluation(jsonOf(answer))
  const validFor = evaluation.verdict === 'ALLOW' ? usableFor(answer, evaluation) : 0
  return { evaluation, sent: answer.sent, validFor }
}

/** Maximum validity of an ALLOW. The gateway can only shorten it. */
const LIFETIME = 60_000
/** Reserve for rounding and for the time until the function starts. */
const MARGIN = 5_000

/**
 * How long an ALLOW is valid after the request was sent. The two clocks need not agree: the remaining time comes from the clock
 * of the gateway, and the client counts it down from its own request.
 */
function usableFor({ date }: Answer, { expires }: Allowed): number {
  const left = date === undefined ? LIFETIME : Math.min(LIFETIME, Date.parse(expires) - date)
  return left - MARGIN
}

/** @throws TollgateError `answer-invalid` for anything but a consistent verdict. */
function readEvaluation(value: Json): Evaluation {
  const answer = object(value, 'answer')
  const verdict = word(...VERDICTS)(answer['verdict'], 'verdict')
  const judged = {
    reason_code: text(answer['reason_code'], 'reason_code'),
    message: text(answer['message'], 'message'),
    remedy: text(answer['remedy'], 'remedy'),
    rung: text(answer['rung'], 'rung'),
    rule: orNull(text)(answer['rule'], 'rule'),
    detail: orNull(text)(answer['detail'], 'detail'),
  }
  const { receipt, approval, expires } = answer
  switch (verdict) {
    case 'ALLOW':
      // An unknown code, or a code of another verdict, does not allow the call.
      if (reasonOf(judged.reason_code)?.verdict !== 'ALLOW')
        throw invalidAnswer(200, 'its reason code does not allow the call')
      return {
        verdict,
        ...judged,
        receipt: id(receipt, 'receipt'),
        approval: null,
        expires: time(expires, 'expires'),
      }
    case 'DENY':
      return { verdict, ...judged, receipt: orNull(id)(receipt, 'receipt'), approval: null, expires: null }
    case 'ESCALATE':
      return {
        verdict,
        ...judged,
        receipt: id(receipt, 'receipt'),
        approval: orNull(id)(approval, 'approval'),
        expires: null,
      }
  }
}
