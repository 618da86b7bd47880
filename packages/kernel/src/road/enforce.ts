// Room: the road takes a call from an agent to a tool and records its effect. It holds every step of that, in order: capture, recall,
// judge, snapshot, guardian, settle, next state, effects, closing, inspect. It holds no detection: detectors are asked through the
// table in `gates/index.ts`.
//
// The only road from an agent to a tool.

import type { Effect, Json } from '@tollgate/evidence'
import { FLOOD_OF_ALL, floodName } from '../admin/freezes.ts'
import { capture, type Intent, type ToolCall } from './capture.ts'
import { chargedTo } from '../names.ts'
import { close, closeExpired, mustCloseSome, openingOf } from './closing.ts'
import { dueNow, type Outcome } from './effects.ts'
import { inspectFor } from './inspect.ts'
import { UNINSPECTED } from './inspect.ts'
import { KernelError } from '../error.ts'
import { judge, type Decided, type Judged } from './judge.ts'
import type { Kernel } from '../kernel.ts'
import type { Appended, Turn } from '../ledger/ledger.ts'
import { refilled } from '../rates.ts'
import { withRecords } from './recall.ts'
import { payerOf } from '../ledger/storage.ts'

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
  /** The value that this text was written from: the kernel's own copy. */
  readonly value: Json
  /** Id of the decision's receipt. */
  readonly receipt: string
}

/** What a tool answered. `FAILED` means that it said so itself. */
export interface ToolAnswer {
  readonly status: 'COMPLETED' | 'FAILED'
  readonly output: Uint8Array
  /** The output as a value, to be looked through before anybody gets it; what may be handed on is in the outcome. */
  readonly content?: Json
  /** Set by a door that hands on nothing, or not all. */
  readonly delivery?: Effect['delivery']
}

/** Runs a tool. If it throws, or answers something else, nobody knows what the tool did, and the effect is UNKNOWN. */
export type Dispatch = (order: Order) => Promise<ToolAnswer>

/** What came of a call: the decision, and the effect if it ran. */
export interface Enforced {
  readonly decided: Decided
  readonly effect: { readonly receipt: string; readonly outcome: Outcome } | undefined
}

// The permits that have not been spent, each with the kernel that made it. One made by hand is not in here.
const live = new WeakMap<Permit, Kernel>()

/**
 * Takes a call from an agent to a tool: captured, decided, on the ledger; then, only if it was allowed, run, and on the
 * ledger again. Only for calls that the gateway itself runs.
 *
 * @throws KernelError `REQUEST_INVALID` for an advised call, whose tool the caller runs; `EFFECT_UNRECORDED` if the tool ran
 * and the ledger could not take it. Nothing passes after that.
 */
export async function enforce(kernel: Kernel, call: ToolCall, dispatch: Dispatch): Promise<Enforced> {
  if (call.assurance !== 'enforced') {
    throw new KernelError('REQUEST_INVALID', 'an advised call is run by its caller; use `authorize`')
  }
  const { decided, permit } = await authorize(kernel, call)
  if (!permit) return { decided, effect: undefined }
  spend(kernel, permit)
  // Nothing that has been poisoned since may still run: its effect could not be recorded.
  if (kernel.ledger.poisoned !== undefined) return { ...refused('LEDGER_UNAVAILABLE'), effect: undefined }
  const { intent, receipt } = permit
  const order = { tool: intent.tool, args: intent.text, value: intent.args, receipt }
  const outcome = await waitFor(kernel, permit, () => dispatch(order))
  return { decided, effect: { receipt: await outcome.recorded, outcome: outcome.known } }
}

/**
 * The first half of the road: captured, decided, on the ledger. Never throws: if the ledger cannot take the decision, the
 * call is denied without a receipt. An advised call gets no permit: its caller runs it, and reports by the receipt's id.
 */
export async function authorize(kernel: Kernel, call: ToolCall): Promise<Authorization> {
  const intent = captureOrNothing(call)
  if (!intent) return refused('AMBIGUOUS_INPUT')
  try {
    const flood = floodOf(kernel, intent)
    if (flood) return await refuseFlood(kernel, intent, flood)
    if (mustCloseSome(kernel)) await closeExpired(kernel)
    // Decided inside its turn, so that two calls of one session cannot both pass on the same old risk.
    const judged = await withRecords<Judged | Flood>(
      kernel,
      intent,
      // Asked again in its turn: while it waited for its records, others may have used up what its principal had left.
      (turn, names) => floodOf(kernel, intent) ?? judge(kernel, intent, names, turn),
    )
    if ('reason' in judged) return await refuseFlood(kernel, intent, judged)
    const { decided, opening } = judged
    return {
      decided,
      permit: opening?.assurance === 'enforced' ? mint(kernel, intent, opening.id) : undefined,
    }
  } catch {
    return refused('LEDGER_UNAVAILABLE')
  }
}

/**
 * The second half, for a door that cannot run its tool inside `enforce`: what the tool did, bound to the decision that
 * allowed it. Spends the permit; such a door must see to it by itself that one permit runs a tool once.
 *
 * @throws KernelError `PERMIT_INVALID` if the permit was spent or forged; `EFFECT_UNRECORDED` if the ledger cannot take the
 * effect. Nothing passes after that.
 */
export async function complete(kernel: Kernel, permit: Permit, outcome: Outcome): Promise<string> {
  spend(kernel, permit)
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

function mint(kernel: Kernel, intent: Intent, receipt: string): Permit {
  // The brand is asserted here and nowhere else: the decision is durable.
  const permit = new Minted(intent, receipt) as Minted & Permit
  live.set(permit, kernel)
  return permit
}

function spend(kernel: Kernel, permit: Permit): void {
  if (live.get(permit)?.ledger === kernel.ledger && live.delete(permit)) return
  throw new KernelError('PERMIT_INVALID', 'the permit has been spent, or was not made by the kernel')
}

/** What is known of an effect, and the receipt that says so once it is durable. */
interface Ended {
  readonly known: Outcome
  readonly recorded: Promise<string>
}

/** Waits for the tool, but not forever. What it answers afterwards is recorded as late, behind what was recorded first. */
async function waitFor(kernel: Kernel, { receipt }: Permit, run: () => Promise<ToolAnswer>): Promise<Ended> {
  return new Promise((resolve) => {
    let recorded: Promise<string> | undefined
    let stop = (): void => undefined
    const end = (known: Outcome): void => {
      stop()
      if (recorded) {
        if (known.status !== 'UNKNOWN') void recordLate(kernel, receipt, known, recorded)
        return
      }
      recorded = record(kernel, receipt, known)
      resolve({ known, recorded })
    }
    stop = kernel.host.after(kernel.patience, () => end({ status: 'UNKNOWN', cause: 'timeout' }))
    attempt(kernel, receipt, run).then(end, () => end({ status: 'UNKNOWN', cause: 'lost' }))
  })
}

/** Runs the tool and makes its answer our own: read once, bytes copied, nothing else taken over. */
async function attempt(kernel: Kernel, receipt: string, run: () => Promise<ToolAnswer>): Promise<Outcome> {
  const answer: unknown = await run()
  if (typeof answer !== 'object' || answer === null) return LOST
  const { status, output, delivery, content } = answer as Partial<Record<keyof ToolAnswer, unknown>>
  if ((status !== 'COMPLETED' && status !== 'FAILED') || !(output instanceof Uint8Array)) return LOST
  if (!isDelivery(delivery)) return LOST
  const known: Outcome = { status, output: Uint8Array.from(output), ...(delivery && { delivery }) }
  if (content === undefined) return known
  const opening = await openingOf(kernel, receipt)
  // There is always one; if there were none, nobody could say how to look through it.
  if (!opening) return { ...known, inspection: UNINSPECTED, delivery: 'withheld' }
  // Sound: a door gives what it has read as JSON; what is not makes the inspection fail, and is withheld.
  const inspection = inspectFor(kernel, dueNow(kernel, opening), content as Json)
  return { ...known, inspection, delivery: lesser(delivery, inspection.delivery) }
}

const DELIVERIES = ['full', 'redacted', 'withheld'] as const

/** The one that hands on less. */
function lesser(given: Effect['delivery'] | undefined, found: Effect['delivery']): Effect['delivery'] {
  return DELIVERIES[Math.max(DELIVERIES.indexOf(given ?? 'full'), DELIVERIES.indexOf(found))] ?? 'withheld'
}

const LOST: Outcome = { status: 'UNKNOWN', cause: 'lost' }

function isDelivery(value: unknown): value is Effect['delivery'] | undefined {
  return value === undefined || value === 'full' || value === 'redacted' || value === 'withheld'
}

async function record(kernel: Kernel, receipt: string, outcome: Outcome): Promise<string> {
  try {
    return (await closeById(kernel, receipt, outcome)).id
  } catch (cause) {
    // The tool already ran. A ledger that cannot say so no longer tells the truth: nothing more may pass.
    kernel.ledger.poison(cause)
    throw new KernelError('EFFECT_UNRECORDED', 'the effect of an allowed call could not be recorded', {
      cause,
    })
  }
}

async function closeById(kernel: Kernel, receipt: string, outcome: Outcome): Promise<Appended> {
  const opening = kernel.openings.get(receipt) ?? (await openingOf(kernel, receipt))
  if (!opening) throw new KernelError('EFFECT_REFUSED', 'there is no open call of this id')
  return close(kernel, dueNow(kernel, opening), outcome, 'gateway')
}

async function recordLate(
  kernel: Kernel,
  receipt: string,
  outcome: Outcome,
  first: Promise<string>,
): Promise<void> {
  try {
    await first
    await closeById(kernel, receipt, outcome)
  } catch (cause) {
    // Nobody waits for it any more, but it happened: the same holds as for any effect.
    kernel.ledger.poison(cause)
  }
}

/** The captured call; undefined if the door's own object throws when it is read, which nothing can be written about. */
function captureOrNothing(call: ToolCall): Intent | undefined {
  try {
    return capture(call)
  } catch {
    // Whose fault it is does not matter: what cannot be read does not pass.
    return undefined
  }
}

/** A call whose denial is only to be counted: under which name, and as what it is denied. */
interface Flood {
  readonly name: string
  readonly reason: 'QUOTA_EXCEEDED' | 'STORAGE_QUOTA_EXCEEDED' | 'SYSTEM_FROZEN'
}

function floodOf(kernel: Kernel, intent: Intent): Flood | undefined {
  const { flooding, freezes, denials, quota, host, storage } = kernel
  const name = floodName(intent.tenant, chargedTo(intent))
  if (flooding.size > 0 && flooding.has(name)) return { name, reason: 'QUOTA_EXCEEDED' }
  if (storage.isDenied(payerOf(intent), host.now())) return { name, reason: 'STORAGE_QUOTA_EXCEEDED' }
  if (!freezes.all()) return undefined
  // Everything is frozen: who has used up its denials is not frozen for it, but gets no more receipts either.
  const { left } = refilled(quota, denials.get(name), host.now())
  return left < quota.period ? { name: FLOOD_OF_ALL, reason: 'SYSTEM_FROZEN' } : undefined
}

async function refuseFlood(kernel: Kernel, intent: Intent, { name, reason }: Flood): Promise<Authorization> {
  if (reason !== 'STORAGE_QUOTA_EXCEEDED') await countDenial(kernel, name)
  else {
    const run = kernel.storage.count(payerOf(intent))
    if (run) await kernel.ledger.append({ run })
  }
  const { host, floodPause } = kernel
  if (floodPause > 0) await new Promise<void>((resolve) => host.after(floodPause, resolve))
  return refused(reason)
}

async function countDenial(kernel: Kernel, name: string): Promise<void> {
  const count = (kernel.flooding.get(name) ?? 0) + 1
  kernel.flooding.set(name, count)
  // Written at 1, 2, 4, 8, …: a flood costs the store next to nothing, and a crash loses less than half of the count.
  const run = (turn: Turn): void => turn.put(`flood\n${name}`, String(count))
  if (Number.isInteger(Math.log2(count))) await kernel.ledger.append({ run })
}

type Unrecorded = Flood['reason'] | 'AMBIGUOUS_INPUT' | 'LEDGER_UNAVAILABLE'

/** A denial that no receipt could be written for. */
function refused(reason: Unrecorded): Authorization {
  return {
    decided: {
      verdict: 'DENY',
      reason,
      rung: reason === 'AMBIGUOUS_INPUT' || reason === 'LEDGER_UNAVAILABLE' ? 'capture' : 'freeze',
      rule: undefined,
      detail: undefined,
      receipt: undefined,
      approval: undefined,
      expires: undefined,
    },
    permit: undefined,
  }
}
