// Wrapping a tool: ask, run, report. A function runs at most once a call, only after an ALLOW that was believed, and only
// with the arguments that were judged.

import type { Json, Trust } from '@tollgate/evidence'
import { strange } from './answer.ts'
import { USUAL_WAIT, type ApprovalRequest, type Approvals } from './approvals.ts'
import {
  ApprovalRequired,
  EffectUnreported,
  ToolDenied,
  ToolFailed,
  TollgateError,
  Withheld,
} from './error.ts'
import { ask, captureCall, withApproval, type CapturedCall, type ToolCall } from './evaluate.ts'
import { failureText } from './failure.ts'
import { reasonOf, waited } from './host.ts'
import { prove, USUAL_SKEW, type Claim } from './prove.ts'
import type { Receipts } from './receipts.ts'
import { reportEffect, type EffectReport, type Reported } from './report.ts'
import type { Spent } from './spent.ts'
import type { Connection } from './transport.ts'

/** What a tool is told about the run it is in. */
export interface Run {
  /** Id of the decision's receipt. */
  readonly receipt: string
  /** The caller's signal. It does not stop a tool that does not listen to it. */
  readonly signal: AbortSignal | undefined
}

/** A tool: a function of one argument, which must be plain JSON data. */
export type Tool<A, R> = (args: A, run: Run) => R | Promise<R>

/** A tool behind the gate. */
export type Guarded<A, R> = (args: A, options?: CallOptions) => Promise<R>

/** How escalated calls wait for a person. */
export interface ApprovalOptions {
  /** Longest time, in milliseconds, or false: not at all. Default five minutes. */
  readonly wait?: number | false
  /** Told once that a person must be asked, before waiting begins. If it throws, nothing runs. */
  readonly onWaiting?: (request: ApprovalRequest) => void
}

/** What holds for every call of a guarded tool. */
export interface GuardOptions extends Pick<
  ToolCall,
  'session_id' | 'delegation_session_id' | 'principal' | 'context' | 'delegation'
> {
  readonly approval?: ApprovalOptions
  /**
   * A trust file: then an ALLOW is believed only if the ledger, under the pinned keys, proves that it is for this tool, these
   * arguments and this session, and that it was decided after it was asked for, give or take `skew`. Pin `principal` too, or
   * the ALLOW of another principal passes. Costs two more requests a call. Needs a ledger whose commitments are not salted.
   *
   * Not proven is that the ALLOW answers this very question: one of the same call that is younger than `skew` passes. This
   * client does not use it twice, but does not know what another, or the same program before it was started again, has used.
   */
  readonly trust?: Trust | string
  /**
   * With `trust`: how far the clocks of gateway and client may be apart, in milliseconds. Default 30,000. An ALLOW that was
   * decided longer than this before the question is not believed, so it is also how long one can be played back.
   */
  readonly skew?: number
  /** What to do with a DENY: throw `ToolDenied` (default), or return it as the result. */
  readonly onDenied?: 'throw' | 'return'
  /**
   * What to do if the tool ran and that could not be reported: throw `EffectUnreported` (default), or return the result as if it
   * was. What a tool threw is never passed on without a report: `ToolFailed` then has no message of the tool.
   */
  readonly onUnreported?: 'throw' | 'return'
}

/** What holds for one call of a guarded tool. */
export interface CallOptions extends Pick<ToolCall, 'session_id' | 'approval' | 'delegation' | 'sources'> {
  /** Aborts asking and waiting. Once the tool has begun it is up to the tool, and what it did is reported all the same. */
  readonly signal?: AbortSignal | undefined
}

/** What a guard works with. */
export interface Gate {
  readonly connection: Connection
  readonly approvals: Approvals
  readonly receipts: Receipts
  readonly session: string | undefined
  readonly spent: Spent
}

/** Wraps a tool. */
export function createGuard<A, R>(
  gate: Gate,
  name: string,
  tool: Tool<A, R>,
  options: GuardOptions = {},
): Guarded<A, R | ToolDenied> {
  return async (args, { signal, session_id, approval, delegation, sources } = {}) => {
    const { approval: waiting = {}, onDenied, onUnreported, trust, skew = USUAL_SKEW, ...usual } = options
    const own = given({ session_id, approval, delegation, sources })
    const call = { ...usual, ...own, tool: name, arguments: args }
    const captured = captureCall(call, gate.session)
    const permission = await obtain(gate, captured, waiting, signal)
    if (permission instanceof ToolDenied) {
      if (onDenied === 'return') return permission
      throw permission
    }
    if (trust !== undefined) {
      const { receipts, connection } = gate
      await prove({ receipts, host: connection.host }, captured, permission, { trust, skew, signal })
    }
    // What is within the skew on both sides could pass for new as long as this.
    const receipt = use(gate, permission, { signal, remember: 2 * skew })
    // Our own copy of what was judged: whatever the caller does to its object meanwhile, the tool gets this.
    // Sound: the canonical text of an `A` that is plain JSON data reads as an `A`.
    const work = (): R | Promise<R> => tool(JSON.parse(captured.args) as A, { receipt, signal })
    return runAndReport(gate, { tool: name, decision: receipt }, work, onUnreported)
  }
}

function given(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

interface Permission extends Claim {
  /** How long it may be used after it was asked for. */
  readonly lasts: number
}

// A gateway that escalates what it has just shown as approved is not asked forever.
const MOST_ROUNDS = 4

/** Asks until there is an ALLOW or a DENY. */
async function obtain(
  { connection, approvals }: Gate,
  call: CapturedCall,
  { wait = USUAL_WAIT, onWaiting }: ApprovalOptions,
  signal: AbortSignal | undefined,
): Promise<Permission | ToolDenied> {
  const start = connection.host.now()
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { evaluation, sent, lasts } = await ask(connection, call, signal)
    if (evaluation.verdict === 'ALLOW') return { allowed: evaluation, sent, lasts }
    if (evaluation.verdict === 'DENY') return new ToolDenied(call.tool, evaluation)
    const { approval } = evaluation
    if (wait === false || approval === null) throw new ApprovalRequired(call.tool, approval)
    if (onWaiting && round === 0) onWaiting(await approvals.get(approval, signal ? { signal } : {}))
    const timeout = wait - (connection.host.now() - start)
    await approvals.wait(approval, { timeout, signal })
    // Whatever the answer was, the gateway is asked again: only its ALLOW counts, and its DENY leaves a receipt.
    call = withApproval(call, approval)
  }
  throw strange(200, 'it escalates again what is no longer waiting')
}

/** Uses a permission, the only time. @throws if the caller gave up, or it has ended, or was used before. */
function use(
  { connection, spent }: Gate,
  { allowed: { receipt }, sent, lasts }: Permission,
  { signal, remember }: { readonly signal: AbortSignal | undefined; readonly remember: number },
): string {
  const { host } = connection
  // An ALLOW that is not used is left to expire: the gateway then closes it as UNKNOWN.
  if (signal?.aborted) throw reasonOf(signal)
  if (!(waited(host, sent) < lasts)) {
    throw new TollgateError('decision-expired', 'the ALLOW came too late to be used; nothing was run', {
      remedy: 'Make the call again.',
    })
  }
  if (!spent.add(receipt, host.now(), remember)) {
    throw new TollgateError(
      'decision-spent',
      'the gateway answered with an ALLOW that was used before; nothing was run',
      {
        remedy: 'Look what stands between here and the gateway: an answer came twice.',
      },
    )
  }
  return receipt
}

/** A call that was allowed. */
interface Allowance {
  readonly tool: string
  readonly decision: string
}

async function runAndReport<R>(
  { connection }: Gate,
  { tool, decision }: Allowance,
  work: () => R | Promise<R>,
  onUnreported: GuardOptions['onUnreported'],
): Promise<R> {
  const tell = async (
    effect: EffectReport,
    ended: { result?: unknown; failure?: string },
  ): Promise<Reported | undefined> => {
    try {
      // Without the caller's signal: the tool ran, and that is reported also to one who no longer waits.
      return await reportEffect(connection, decision, effect)
    } catch (cause) {
      if (onUnreported === 'return') return undefined
      throw new EffectUnreported(decision, { outcome: effect.status, ...ended }, cause)
    }
  }
  let result: R
  try {
    result = await work()
  } catch (thrown) {
    // The tool's own words are output like any other. What was thrown stays here: its stack, cause and properties are unread.
    const failure = failureText(thrown)
    const reported = await tell({ status: 'FAILED', output: failure }, { failure })
    throw new ToolFailed(tool, decision, failureLeft(failure, reported), reported)
  }
  const reported = await tell({ status: 'COMPLETED', output: result }, { result })
  return reported ? handOn(result, reported, { tool, decision }) : result
}

/** What the gateway lets pass of a thrown message; undefined if that is nothing, or is not known. */
function failureLeft(failure: string, reported: Reported | undefined): string | undefined {
  if (reported?.delivery === 'full') return failure
  return reported?.delivery === 'redacted' && typeof reported.output === 'string'
    ? reported.output
    : undefined
}

/** What may be handed on of a result. @throws Withheld if that is nothing, or nobody knows what it is. */
function handOn<R>(result: R, reported: Reported, { tool, decision }: Allowance): R {
  const { delivery, output } = reported
  // Of nothing, nothing can be withheld.
  if (delivery === 'full' || result === undefined) return result
  if (delivery !== 'redacted' || output === undefined) throw new Withheld(tool, decision, reported)
  // What is left has the shape of the result, with other texts in it; so it stands in for an `R`.
  return inTheFormOf(result, output) as R
}

/** Bytes are reported as their text, and come back as bytes. */
function inTheFormOf(result: unknown, output: Json): unknown {
  const bytes = typeof output === 'string' ? new TextEncoder().encode(output) : new Uint8Array()
  if (result instanceof Uint8Array) return bytes
  return result instanceof ArrayBuffer ? bytes.buffer : output
}
