// Wraps a tool: asks, runs, reports. The function runs at most once per call, only after a valid ALLOW, and only with the judged
// arguments.

import type { Json, Trust } from '@tollgate/evidence'
import { invalidAnswer } from './answer.ts'
import { DEFAULT_WAIT, type ApprovalRequest, type Approvals } from './approvals.ts'
import { pagePart, type BrowserPart } from './browser-part.ts'
import {
  ApprovalRequired,
  EffectUnreported,
  PageChanged,
  ToolDenied,
  ToolFailed,
  TollgateError,
  Withheld,
} from './error.ts'
import { ask, captureCall, withApproval, withPage, type CapturedCall, type ToolCall } from './evaluate.ts'
import { failureText } from './failure.ts'
import { reasonOf, waited } from './host.ts'
import { prove, DEFAULT_SKEW, type Claim } from './prove.ts'
import type { Receipts } from './receipts.ts'
import { reportEffect, type EffectReport, type Reported } from './report.ts'
import type { Spent } from './spent.ts'
import type { Connection } from './transport.ts'

/** The second argument of a tool. */
export interface Run {
  /** Id of the decision's receipt. */
  readonly receipt: string
  /** The signal of the caller. The tool must listen to it to be stopped. */
  readonly signal: AbortSignal | undefined
}

/** A tool: a function of one argument of plain JSON data. */
export type Tool<A, R> = (args: A, run: Run) => R | Promise<R>

/** A guarded tool. */
export type Guarded<A, R> = (args: A, options?: CallOptions) => Promise<R>

/** How escalated calls wait for a person. */
export interface ApprovalOptions {
  /** Maximum wait in milliseconds, or false to throw at once. Default five minutes. */
  readonly wait?: number | false
  /** Called once before waiting for a person. If it throws, the tool does not run. */
  readonly onWaiting?: (request: ApprovalRequest) => void
}

/** The options of `guard`, for every call of the tool. */
export interface GuardOptions extends Pick<
  ToolCall,
  'session_id' | 'delegation_session_id' | 'principal' | 'context' | 'delegation'
> {
  readonly approval?: ApprovalOptions
  /**
   * A trust file. An ALLOW then counts only if the ledger, under the pinned keys, proves that it is for this tool, these arguments
   * and this session, and was decided after the request, within `skew`. Set `principal` too, or the ALLOW of another principal
   * counts. Needs two more requests per call, and a ledger without salted commitments.
   *
   * It does not prove that the ALLOW answers this request: an ALLOW for the same call that is younger than `skew` also counts. This
   * client uses it only once, but does not know what other clients, or the same program before a restart, used.
   */
  readonly trust?: Trust | string
  /**
   * With `trust`: maximum difference of the clocks of gateway and client, in milliseconds. Default 30,000. An ALLOW can be replayed
   * for this long.
   */
  readonly skew?: number
  /** On DENY: throw `ToolDenied` (default), or return it as the result. */
  readonly onDenied?: 'throw' | 'return'
  /**
   * If the tool ran but its effect could not be reported: throw `EffectUnreported` (default), or return the uninspected result. The
   * message of a tool that threw is never passed on without a report.
   */
  readonly onUnreported?: 'throw' | 'return'
}

/** The options of one call of a guarded tool. */
export interface CallOptions
  extends Pick<ToolCall, 'session_id' | 'approval' | 'delegation' | 'sources'>, BrowserPart {
  /**
   * Observes the page, each time before the gateway is asked: an observation from before a person's answer is no longer true. Its
   * members replace those of these options. If it throws, the tool does not run.
   */
  readonly observe?: (() => BrowserPart | Promise<BrowserPart>) | undefined
  /** Aborts asking and waiting. A running tool must handle the signal itself; its effect is always reported. */
  readonly signal?: AbortSignal | undefined
}

/** The dependencies of a guard. */
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
  return async (args, { signal, observe, session_id, approval, delegation, sources, ...page } = {}) => {
    const { approval: waiting = {}, onDenied, onUnreported, trust, skew = DEFAULT_SKEW, ...common } = options
    const own = given({ session_id, approval, delegation, sources, ...pagePart(page) })
    const captured = captureCall({ ...common, ...own, tool: name, arguments: args }, gate.session)
    const permission = await obtain(gate, captured, { ...waiting, observe, signal })
    if (permission instanceof ToolDenied) {
      if (onDenied === 'return') return permission
      throw permission
    }
    if (trust !== undefined) {
      const { receipts, connection } = gate
      await prove({ receipts, host: connection.host }, permission.call, permission, { trust, skew, signal })
    }
    // An ALLOW can look new for twice the skew.
    const receipt = use(gate, permission, { signal, remember: 2 * skew })
    // The tool gets a copy of the judged arguments, which the caller cannot change.
    // Sound: the canonical text of an `A` of plain JSON data parses as an `A`.
    const work = (): R | Promise<R> => tool(JSON.parse(captured.args) as A, { receipt, signal })
    return runAndReport(gate, { tool: name, decision: receipt }, work, onUnreported)
  }
}

function given(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

interface Permission extends Claim {
  /** The call as it was asked. */
  readonly call: CapturedCall
  /** How long it is valid after the request was sent. */
  readonly validFor: number
}

type Asking = ApprovalOptions & Pick<CallOptions, 'observe' | 'signal'>

// Limits the rounds with a gateway that escalates an approved call again.
const MAX_ROUNDS = 4

/** Asks until the verdict is ALLOW or DENY. */
async function obtain(
  { connection, approvals }: Gate,
  call: CapturedCall,
  { wait = DEFAULT_WAIT, onWaiting, observe, signal }: Asking,
): Promise<Permission | ToolDenied> {
  const start = connection.host.now()
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (observe) call = withPage(call, await observe())
    const { evaluation, sent, validFor } = await ask(connection, call, signal)
    if (evaluation.verdict === 'ALLOW') return { call, allowed: evaluation, sent, validFor }
    if (evaluation.verdict === 'DENY') return new ToolDenied(call.tool, evaluation)
    const { approval } = evaluation
    if (wait === false || approval === null) throw new ApprovalRequired(call.tool, approval)
    if (onWaiting && round === 0) onWaiting(await approvals.get(approval, signal ? { signal } : {}))
    const timeout = wait - (connection.host.now() - start)
    await approvals.wait(approval, { timeout, signal })
    // Asks again after any answer: only an ALLOW counts, and a DENY leaves a receipt.
    call = withApproval(call, approval)
  }
  throw invalidAnswer(200, 'it escalates an answered call again')
}

/** Marks a permission as used. @throws if the caller aborted, or the permission is expired or already used. */
function use(
  { connection, spent }: Gate,
  { allowed: { receipt }, sent, validFor }: Permission,
  { signal, remember }: { readonly signal: AbortSignal | undefined; readonly remember: number },
): string {
  const { host } = connection
  // The gateway closes an unused ALLOW as UNKNOWN.
  if (signal?.aborted) throw reasonOf(signal)
  if (!(waited(host, sent) < validFor)) {
    throw new TollgateError('decision-expired', 'the ALLOW has expired; the tool did not run', {
      remedy: 'Make the call again.',
    })
  }
  if (!spent.add(receipt, host.now(), remember)) {
    throw new TollgateError(
      'decision-spent',
      'the gateway answered with an ALLOW that is already used; the tool did not run',
      {
        remedy: 'Check for a proxy between client and gateway: an answer came twice.',
      },
    )
  }
  return receipt
}

/** An allowed call. */
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
  const report = async (
    effect: EffectReport,
    ended: { result?: unknown; failure?: string },
  ): Promise<Reported | undefined> => {
    try {
      // Without the signal of the caller: the effect is reported even after an abort.
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
    // The message of the tool is output and is inspected. Stack, cause and other properties are not passed on.
    const failure = failureText(thrown)
    const reported = await report({ status: 'FAILED', output: failure }, { failure })
    // Its message is ours, and says that nothing was done.
    if (thrown instanceof PageChanged) throw thrown
    throw new ToolFailed(tool, decision, failureLeft(failure, reported), reported)
  }
  const reported = await report({ status: 'COMPLETED', output: result }, { result })
  return reported ? forwarded(result, reported, { tool, decision }) : result
}

/** The part of a thrown message that may be forwarded; undefined if there is none or it is unknown. */
function failureLeft(failure: string, reported: Reported | undefined): string | undefined {
  if (reported?.delivery === 'full') return failure
  return reported?.delivery === 'redacted' && typeof reported.output === 'string'
    ? reported.output
    : undefined
}

/** The part of a result that may be forwarded. @throws Withheld if there is none or it is unknown. */
function forwarded<R>(result: R, reported: Reported, { tool, decision }: Allowance): R {
  const { delivery, output } = reported
  // There is nothing to withhold in `undefined`.
  if (delivery === 'full' || result === undefined) return result
  if (delivery !== 'redacted' || output === undefined) throw new Withheld(tool, decision, reported)
  // Sound: redaction replaces texts and keeps the shape of the result.
  return inTypeOf(result, output) as R
}

/** Converts a redacted output back to bytes if the result was bytes. They are reported as text. */
function inTypeOf(result: unknown, output: Json): unknown {
  const bytes = typeof output === 'string' ? new TextEncoder().encode(output) : new Uint8Array()
  if (result instanceof Uint8Array) return bytes
  return result instanceof ArrayBuffer ? bytes.buffer : output
}
