// Asking whether a call may run.

import { canonicalize, reasonOf, VERDICTS, type Json } from '@tollgate/evidence'
import { jsonOf, strange, type Answer } from './answer.ts'
import { TollgateError } from './error.ts'
import { exchange } from './exchange.ts'
import type { Moment } from './host.ts'
import { id, object, orNull, text, time, word } from './reading.ts'
import type { Connection } from './transport.ts'

/** What an agent asks; the names are those of the wire. */
export interface ToolCall {
  readonly tool: string
  /** Plain JSON data. Read once, when the call is made. */
  readonly arguments?: unknown
  /** What the gateway's memory of risk is scoped by; the client's `session` if not given. */
  readonly session_id?: string
  readonly delegation_session_id?: string
  /** Whom the call says it is from. The token decides; a call that says otherwise is denied. */
  readonly principal?: string
  readonly context?: {
    readonly environment?: string
    readonly workspace?: string
    readonly tenant?: string
    /** The same as beside `context`; a call that names two sessions is denied. */
    readonly session_id?: string
    readonly delegation_session_id?: string
  }
  /** Id of the approval request that the call relies on. */
  readonly approval?: string
  /** Id of the delegation that the call is made under. */
  readonly delegation?: string
  /**
   * Texts that led to the call, in their order. They are scanned, and the session remembers hashes of them: what a tool has named
   * first stays untrusted, whoever repeats it.
   */
  readonly sources?: readonly Source[]
}

/** A text that led to a call: what the user said, or what a tool or a page did. */
export interface Source {
  readonly source_channel: 'USER' | 'TOOL_OUTPUT'
  readonly text: string
}

interface Judged {
  /** Why, as a code of the table of reasons. */
  readonly reason_code: string
  /** The same as a sentence. */
  readonly message: string
  /** What can be done about it. */
  readonly remedy: string
  /** The rung that decided. */
  readonly rung: string
  readonly rule: string | null
  /** What exactly, without any value of the arguments. */
  readonly detail: string | null
}

/** The call may run once, before `expires`, and what it did must be reported by its receipt's id. */
export interface Allowed extends Judged {
  readonly verdict: 'ALLOW'
  readonly receipt: string
  readonly approval: null
  /** By the gateway's clock. */
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

/** The call must not run before a person has approved it. */
export interface Escalated extends Judged {
  readonly verdict: 'ESCALATE'
  readonly receipt: string
  /** Id of the request that a person may answer. */
  readonly approval: string | null
  readonly expires: null
}

/** The gateway's answer to a call. */
export type Evaluation = Allowed | Denied | Escalated

/** An answer, and how long it may be relied on. */
interface Timed {
  readonly evaluation: Evaluation
  /** When it was asked for. */
  readonly sent: Moment
  /** How long after that an ALLOW may be used, in milliseconds. */
  readonly lasts: number
}

/** A call that was read, as text that no longer changes. */
export interface CapturedCall {
  readonly tool: string
  /** Canonical JSON of the arguments. */
  readonly args: string
  /** What is said of whose call it is, and that a receipt repeats. */
  readonly said: {
    readonly session: string | undefined
    readonly principal: string | undefined
    readonly tenant: string | undefined
    readonly delegation: string | undefined
  }
  /** Every member, with its JSON text. */
  readonly members: readonly (readonly [name: string, text: string])[]
}

/**
 * Reads a call, once.
 *
 * @throws TollgateError `arguments-invalid` if something in it is not plain JSON data.
 */
export function captureCall(call: ToolCall, session: string | undefined): CapturedCall {
  const { tool, arguments: given = {}, session_id: own, ...rest } = call
  const { principal, context, delegation_session_id, delegation } = rest
  // A call that names its session itself, wherever, is not given the client's as well.
  const session_id = own ?? (context?.session_id === undefined ? session : undefined)
  const args = captured('arguments', given)
  const others = Object.entries({ tool, ...rest, session_id }).filter(([, value]) => value !== undefined)
  const members = others.map(([name, value]) => [name, captured(name, value)] as const)
  const named = session_id ?? context?.session_id ?? delegation_session_id ?? context?.delegation_session_id
  const where = { session: named, tenant: context?.tenant }
  const said = { ...where, principal, delegation }
  return { tool, args, said, members: [...members, ['arguments', args]] }
}

/** The same call, relying on an approval. */
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
        'Pass null, booleans, finite numbers, texts, lists and plain objects only; leave out what is undefined.',
      cause,
    })
  }
}

/**
 * Asks, and asks again if the answer got lost. Every question is a decision of its own: at most one of them is answered
 * with the ALLOW that is returned here, and any other is left to expire.
 *
 * @throws TollgateError if there is no answer that could be believed; or the reason of the signal.
 */
export async function ask(
  connection: Connection,
  call: CapturedCall,
  signal: AbortSignal | undefined,
): Promise<Timed> {
  const body = bodyOf(call)
  const answer = await exchange(connection, { method: 'POST', path: '/v1/evaluate', body, signal })
  if (answer.status !== 200) throw strange(answer.status, 'a verdict comes with status 200')
  const evaluation = readEvaluation(jsonOf(answer))
  const lasts = evaluation.verdict === 'ALLOW' ? usableFor(answer, evaluation) : 0
  return { evaluation, sent: answer.sent, lasts }
}

/** How long an ALLOW is good for; the gateway may say less, and is not believed if it says more. */
const LIFETIME = 60_000
/** Kept free for what neither clock shows: rounding, and the way to the function. */
const MARGIN = 5_000

/**
 * How long an ALLOW may be used after it was asked for. The clocks of gateway and client need not agree: what is left is
 * counted on the gateway's clock, from its answer, and then on ours, from the question.
 */
function usableFor({ date }: Answer, { expires }: Allowed): number {
  const left = date === undefined ? LIFETIME : Math.min(LIFETIME, Date.parse(expires) - date)
  return left - MARGIN
}

/** @throws TollgateError `answer-invalid` for anything but a verdict that holds together. */
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
      // A code of another verdict, or one that nobody here knows, is no reason to run anything.
      if (reasonOf(judged.reason_code)?.verdict !== 'ALLOW') throw strange(200, 'its reason does not allow')
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
