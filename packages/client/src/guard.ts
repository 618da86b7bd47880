// Wrapping a tool: ask, run, report. A function runs at most once a call, only after an ALLOW that was believed, and only
// with the arguments that were judged.

import { sha256Hex, type Trust } from '@tollgate/evidence'
import { strange } from './answer.ts'
import { USUAL_WAIT, type ApprovalRequest, type Approvals } from './approvals.ts'
import { ApprovalRequired, EffectUnreported, ToolDenied, TollgateError } from './error.ts'
import { ask, captureCall, withApproval, type Allowed, type CapturedCall, type ToolCall } from './evaluate.ts'
import { reasonOf } from './host.ts'
import type { Receipts } from './receipts.ts'
import { reportEffect, type EffectReport } from './report.ts'
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
  'session_id' | 'delegation_session_id' | 'principal' | 'context'
> {
  readonly approval?: ApprovalOptions
  /**
   * A trust file: then an ALLOW is believed only if the ledger, under the pinned keys, proves that it is for this tool and these
   * arguments. Costs two more requests a call. Needs a ledger whose commitments are not salted.
   */
  readonly trust?: Trust | string
  /** What to do with a DENY: throw `ToolDenied` (default), or return it as the result. */
  readonly onDenied?: 'throw' | 'return'
  /** What to do if the tool ran and that could not be reported: throw `EffectUnreported` (default), or go on as if it was. */
  readonly onUnreported?: 'throw' | 'return'
}

/** What holds for one call of a guarded tool. */
export interface CallOptions {
  /** Aborts asking and waiting. Once the tool has begun it is up to the tool, and what it did is reported all the same. */
  readonly signal?: AbortSignal | undefined
  readonly session_id?: string
  /** Id of the approval request that the call relies on. */
  readonly approval?: string
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
  return async (args, { signal, session_id, approval } = {}) => {
    const { approval: waiting = {}, onDenied, onUnreported, trust, ...usual } = options
    const call = { ...usual, tool: name, arguments: args, ...given({ session_id, approval }) }
    const captured = captureCall(call, gate.session)
    const permission = await obtain(gate, captured, waiting, signal)
    if (permission instanceof ToolDenied) {
      if (onDenied === 'return') return permission
      throw permission
    }
    if (trust !== undefined) await prove(gate, captured, permission.allowed, { trust, signal })
    const receipt = use(gate, permission, signal)
    // Our own copy of what was judged: whatever the caller does to its object meanwhile, the tool gets this.
    // Sound: the canonical text of an `A` that is plain JSON data reads as an `A`.
    const work = (): R | Promise<R> => tool(JSON.parse(captured.args) as A, { receipt, signal })
    return runAndReport(gate, receipt, work, onUnreported)
  }
}

function given(members: Readonly<Record<string, string | undefined>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

interface Permission {
  readonly allowed: Allowed
  readonly until: number
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
    const { evaluation, until } = await ask(connection, call, signal)
    if (evaluation.verdict === 'ALLOW') return { allowed: evaluation, until }
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

/**
 * Makes sure that an ALLOW is the ledger's own word on exactly this call, and not that of somebody in between.
 *
 * @throws TollgateError `receipt-unproven`.
 */
async function prove(
  { receipts }: Gate,
  { tool, args }: CapturedCall,
  allowed: Allowed,
  { trust, signal }: { readonly trust: Trust | string; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const { receipt } = await receipts.verify(allowed.receipt, trust, {
    // The ledger's key vouches for the whole entry; an agent may not read the receipts of other keys.
    signature: 'skip',
    ...(signal && { signal }),
  })
  const holds =
    receipt.kind === 'decision' &&
    receipt.verdict === 'ALLOW' &&
    receipt.tool === tool &&
    receipt.expires === allowed.expires &&
    receipt.commit === 'plain' &&
    receipt.args_hash === sha256Hex(args)
  if (holds) return
  throw new TollgateError(
    'receipt-unproven',
    'the ledger does not say that this call is allowed; nothing was run',
    {
      remedy:
        'Look what stands between here and the gateway. With salted commitments this cannot be proven: leave out `trust`.',
    },
  )
}

/** Uses a permission, the only time. @throws if the caller gave up, or it has ended, or was used before. */
function use(
  { connection, spent }: Gate,
  { allowed: { receipt }, until }: Permission,
  signal: AbortSignal | undefined,
): string {
  // An ALLOW that is not used is left to expire: the gateway then closes it as UNKNOWN.
  if (signal?.aborted) throw reasonOf(signal)
  if (connection.host.now() >= until) {
    throw new TollgateError('decision-expired', 'the ALLOW came too late to be used; nothing was run', {
      remedy: 'Make the call again.',
    })
  }
  if (!spent.add(receipt)) {
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

async function runAndReport<R>(
  { connection }: Gate,
  decision: string,
  work: () => R | Promise<R>,
  onUnreported: GuardOptions['onUnreported'],
): Promise<R> {
  const tell = async (
    effect: EffectReport,
    ended: { result?: unknown; failure?: unknown },
  ): Promise<void> => {
    try {
      // Without the caller's signal: the tool ran, and that is reported also to one who no longer waits.
      await reportEffect(connection, decision, effect)
    } catch (cause) {
      if (onUnreported !== 'return')
        throw new EffectUnreported(decision, { outcome: effect.status, ...ended }, cause)
    }
  }
  let result: R
  try {
    result = await work()
  } catch (failure) {
    await tell({ status: 'FAILED' }, { failure })
    throw failure
  }
  await tell({ status: 'COMPLETED', output: result }, { result })
  return result
}
