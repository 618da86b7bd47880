// The only road from an agent to a tool.

import type { Effect } from '@tollgate/evidence'
import { FLOOD_OF_ALL, floodName } from './administer.ts'
import { capture, NOBODY, type Intent, type ToolCall } from './call.ts'
import { close, closeExpired, mustCloseSome, type Outcome } from './effects.ts'
import { KernelError } from './error.ts'
import { judge, type Decided, type Judged } from './judge.ts'
import type { Kernel } from './kernel.ts'
import type { Turn } from './ledger.ts'
import { refilled } from './rates.ts'
import { readPrincipal, readSession, recordNames } from './session.ts'

declare const minted: unique symbol

/** Proof that a call was allowed and that the decision is on the ledger. Only this file can make one, and spends it. */
export interface Permit {
  readonly intent: Intent
  /** Id of the decision's receipt. */
  readonly receipt: string
  readonly [minted]: true
}

/** What was decided and, if the call may run, its permit. */
export interface Authorization {
  readonly decided: Decided
  readonly permit: Permit | undefined
}

/** What a tool is handed: what was captured, never the caller's object. */
export interface Order {
  readonly tool: string
  /** The canonical text of the arguments, the one that was hashed. */
  readonly args: string
  /** Id of the decision's receipt. */
  readonly receipt: string
}

/** What a tool answered. `FAILED` means that it said so itself. */
export interface ToolAnswer {
  readonly status: 'COMPLETED' | 'FAILED'
  readonly output: Uint8Array
  readonly delivery?: Effect['delivery']
}

/** Runs a tool. If it throws, or answers something else, nobody knows what the tool did, and the effect is UNKNOWN. */
export type Dispatch = (order: Order) => Promise<ToolAnswer>

/** What came of a call: the decision, and the effect if it ran. */
export interface Enforced {
  readonly decided: Decided
  readonly effect: { readonly receipt: string; readonly outcome: Outcome } | undefined
}

// The permits that have not been spent. One made by hand is not in here.
const live = new WeakSet<Permit>()

/**
 * Takes a call from an agent to a tool: captured, decided, on the ledger; then, only if it was allowed, run, and on the
 * ledger again.
 *
 * @throws KernelError `EFFECT_UNRECORDED` if the tool ran and the ledger could not take it. Nothing passes after that.
 */
export async function enforce(kernel: Kernel, call: ToolCall, dispatch: Dispatch): Promise<Enforced> {
  const { decided, permit } = await authorize(kernel, call)
  if (!permit) return { decided, effect: undefined }
  spend(permit)
  const { intent, receipt } = permit
  const outcome = await settle(kernel, permit, () =>
    dispatch({ tool: intent.tool, args: intent.text, receipt }),
  )
  return { decided, effect: { receipt: await record(kernel, receipt, outcome), outcome } }
}

/**
 * The first half of the road: captured, decided, on the ledger. Never throws: if the ledger cannot take the decision, the
 * call is denied without a receipt.
 */
export async function authorize(kernel: Kernel, call: ToolCall): Promise<Authorization> {
  const intent = capture(call)
  try {
    const flood = floodOf(kernel, intent)
    if (flood) {
      await countDenial(kernel, flood.name)
      return refused(flood.reason)
    }
    if (mustCloseSome(kernel)) await closeExpired(kernel)
    // Decided inside its turn, so that two calls of one session cannot both pass on the same old risk.
    const names = recordNames(intent)
    const { decided, opening } = await kernel.ledger.append<Judged>({
      reads: [
        { name: names.session, parse: readSession },
        { name: names.principal, parse: readPrincipal },
      ],
      run: (turn) => judge(kernel, intent, names, turn),
    })
    return { decided, permit: opening && mint(intent, opening.id) }
  } catch {
    return refused('LEDGER_UNAVAILABLE')
  }
}

/**
 * The second half: what the tool did, bound to the decision that allowed it. Spends the permit.
 *
 * @throws KernelError `PERMIT_INVALID` if the permit was spent or forged; `EFFECT_UNRECORDED` if the ledger cannot take the
 * effect. Nothing passes after that.
 */
export async function complete(kernel: Kernel, permit: Permit, outcome: Outcome): Promise<string> {
  spend(permit)
  return record(kernel, permit.receipt, outcome)
}

/** What a permit is at run time: it can be read and not changed. */
class Minted {
  readonly #intent: Intent
  readonly #receipt: string

  constructor(intent: Intent, receipt: string) {
    this.#intent = intent
    this.#receipt = receipt
  }

  get intent(): Intent {
    return this.#intent
  }

  get receipt(): string {
    return this.#receipt
  }
}

function mint(intent: Intent, receipt: string): Permit {
  // The brand is asserted here and nowhere else: the decision is durable.
  const permit = new Minted(intent, receipt) as Minted & Permit
  live.add(permit)
  return permit
}

function spend(permit: Permit): void {
  if (live.delete(permit)) return
  throw new KernelError('PERMIT_INVALID', 'the permit has been spent, or was not made by the kernel')
}

/** Waits for the tool, but not forever. What it answers afterwards is recorded as late. */
async function settle(kernel: Kernel, { receipt }: Permit, run: () => Promise<ToolAnswer>): Promise<Outcome> {
  return new Promise((resolve) => {
    let waiting = true
    let stop = (): void => undefined
    const end = (outcome: Outcome): void => {
      if (waiting) resolve(outcome)
      else if (outcome.status !== 'UNKNOWN') void recordLate(kernel, receipt, outcome)
      waiting = false
      stop()
    }
    stop = kernel.host.after(kernel.patience, () => end({ status: 'UNKNOWN', cause: 'timeout' }))
    attempt(run).then(end, () => end({ status: 'UNKNOWN', cause: 'lost' }))
  })
}

/** Runs the tool and makes its answer our own: bytes copied, nothing else taken over. */
async function attempt(run: () => Promise<ToolAnswer>): Promise<Outcome> {
  const answer: unknown = await run()
  if (!isAnswer(answer)) return { status: 'UNKNOWN', cause: 'lost' }
  const { status, output, delivery } = answer
  return { status, output: Uint8Array.from(output), ...(delivery !== undefined && { delivery }) }
}

const DELIVERIES: readonly unknown[] = ['full', 'redacted', 'withheld', undefined]

function isAnswer(answer: unknown): answer is ToolAnswer {
  if (typeof answer !== 'object' || answer === null) return false
  const { status, output, delivery } = answer as Partial<Record<keyof ToolAnswer, unknown>>
  const ended = status === 'COMPLETED' || status === 'FAILED'
  return ended && output instanceof Uint8Array && DELIVERIES.includes(delivery)
}

async function record(kernel: Kernel, receipt: string, outcome: Outcome): Promise<string> {
  try {
    return (await close(kernel, receipt, outcome, 'gateway')).id
  } catch (cause) {
    // The tool already ran. A ledger that cannot say so no longer tells the truth: nothing more may pass.
    kernel.ledger.poison(cause)
    throw new KernelError('EFFECT_UNRECORDED', 'the effect of an allowed call could not be recorded', {
      cause,
    })
  }
}

async function recordLate(kernel: Kernel, receipt: string, outcome: Outcome): Promise<void> {
  try {
    await close(kernel, receipt, outcome, 'gateway')
  } catch (cause) {
    // Nobody waits for it any more, but it happened: the same holds as for any effect.
    kernel.ledger.poison(cause)
  }
}

/** Whose flood the call belongs to, if its denial is only to be counted; and as what it is denied. */
function floodOf(
  kernel: Kernel,
  { tenant, principal = NOBODY }: Intent,
): { name: string; reason: 'QUOTA_EXCEEDED' | 'SYSTEM_FROZEN' } | undefined {
  const { flooding, freezes, denials, quota, host } = kernel
  const name = floodName(tenant, principal)
  if (flooding.size > 0 && flooding.has(name)) return { name, reason: 'QUOTA_EXCEEDED' }
  if (!freezes.all()) return undefined
  // Everything is frozen: who has used up its denials is not frozen for it, but gets no more receipts either.
  const { left } = refilled(quota, denials.get(name), host.now())
  return left < quota.period ? { name: FLOOD_OF_ALL, reason: 'SYSTEM_FROZEN' } : undefined
}

async function countDenial(kernel: Kernel, name: string): Promise<void> {
  const count = (kernel.flooding.get(name) ?? 0) + 1
  kernel.flooding.set(name, count)
  // Written at 1, 2, 4, 8, …: a flood costs the store next to nothing, and a crash loses less than half of the count.
  const run = (turn: Turn): void => turn.put(`flood\n${name}`, String(count))
  if (Number.isInteger(Math.log2(count))) await kernel.ledger.append({ run })
}

/** A denial that no receipt could be written for. */
function refused(reason: 'LEDGER_UNAVAILABLE' | 'QUOTA_EXCEEDED' | 'SYSTEM_FROZEN'): Authorization {
  return {
    decided: {
      verdict: 'DENY',
      reason,
      rung: reason === 'LEDGER_UNAVAILABLE' ? 'capture' : 'freeze',
      rule: undefined,
      detail: undefined,
      receipt: undefined,
      approval: undefined,
      expires: undefined,
    },
    permit: undefined,
  }
}
