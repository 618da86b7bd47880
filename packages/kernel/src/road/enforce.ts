// Room: takes a call from an agent to a tool and records its effect. It contains every part of this pipeline: capture, recall,
// judge, snapshot, guardian, settle, next state, effects, closing, inspect. Detection is not here: detectors are called through the
// table in `gates/index.ts`.
//
// The only path from an agent to a tool.

import type { Effect, Json } from '@tollgate/evidence'
import { capture, type Intent, type ToolCall } from './capture.ts'
import { close, closeExpired, mustCloseSome, openingOf } from './closing.ts'
import { dueNow, type Outcome } from './effects.ts'
import { countFlood, floodOf, type Flood } from './flood.ts'
import { inspectFor, type PageAfter } from './inspect.ts'
import { UNINSPECTED } from './inspect.ts'
import { KernelError } from '../error.ts'
import { judge, type Decided, type Judged } from './judge.ts'
import { Metering } from './metering.ts'
import { policyOf, type Kernel } from '../kernel.ts'
import type { Appended } from '../ledger/ledger.ts'
import { underCanonicalName } from './naming.ts'
import { withRecords } from './recall.ts'

declare const minted: unique symbol

/** Proof that a call was allowed and that its decision is durable. Only this file creates and spends permits. */
export interface Permit {
  readonly intent: Intent
  /** Id of the decision's receipt. */
  readonly receipt: string
  readonly [minted]: true
}

/** The decision and, if the call may run, its permit. */
export interface Authorization {
  readonly decided: Decided
  readonly permit: Permit | undefined
}

/** The captured call that a tool gets; never the caller's object. */
export interface Order {
  readonly tool: string
  /** The canonical text of the arguments that was hashed. */
  readonly args: string
  /** The kernel's own copy of the value of this text. */
  readonly value: Json
  /** Id of the decision's receipt. */
  readonly receipt: string
}

/** The answer of a tool. `FAILED` means that the tool reported a failure. */
export interface ToolAnswer {
  readonly status: 'COMPLETED' | 'FAILED'
  readonly output: Uint8Array
  /** The output as a value, for inspection before it is forwarded. The outcome contains what may be forwarded. */
  readonly content?: Json
  /** The page after a browser call, if the gateway drives the browser. */
  readonly page?: PageAfter
  /** Set by a door that forwards only part of the output, or none. */
  readonly delivery?: Effect['delivery']
}

/** Runs a tool. If it throws or returns anything else, the effect is UNKNOWN. */
export type Dispatch = (order: Order) => Promise<ToolAnswer>

/** The decision on a call, and its effect if it ran. */
export interface Enforced {
  readonly decided: Decided
  readonly effect: { readonly receipt: string; readonly outcome: Outcome } | undefined
}

// The unspent permits, each with the kernel that created it. A forged permit is not in this map.
const live = new WeakMap<Permit, Unspent>()

interface Unspent {
  readonly kernel: Kernel
  readonly metering: Metering | undefined
}

/**
 * Takes a call from an agent to a tool: captures it, decides and records the decision. If it is allowed, runs the tool and records
 * the effect. Only for calls that the gateway runs.
 *
 * @throws KernelError `REQUEST_INVALID` for an advised call, whose tool the caller runs; `EFFECT_UNRECORDED` if the tool ran and
 * the effect could not be recorded. Every later call is then denied.
 */
export async function enforce(kernel: Kernel, call: ToolCall, dispatch: Dispatch): Promise<Enforced> {
  if (call.assurance !== 'enforced') {
    throw new KernelError('REQUEST_INVALID', 'the caller runs the tool of an advised call; use `authorize`')
  }
  const { decided, permit } = await authorize(kernel, call)
  if (!permit) return { decided, effect: undefined }
  const metering = spend(kernel, permit)
  // If the ledger was poisoned meanwhile, the tool must not run: its effect could not be recorded.
  if (kernel.ledger.poisoned !== undefined) {
    metering?.ended('CANCELLED')
    return { ...refused('LEDGER_UNAVAILABLE'), effect: undefined }
  }
  const { intent, receipt } = permit
  const order = { tool: intent.tool, args: intent.text, value: intent.args, receipt }
  const { known, recorded } = await waitFor(kernel, permit, () => dispatch(order))
  metering?.ended(known.status)
  return { decided, effect: { receipt: await recorded, outcome: known } }
}

/**
 * Captures a call, decides and records the decision. Never throws: if the ledger cannot record the decision, the call is denied
 * without a receipt. An advised call gets no permit: its caller runs it and reports by the id of the receipt.
 */
export async function authorize(kernel: Kernel, call: ToolCall): Promise<Authorization> {
  const metering = Metering.begin(kernel.host.meter)
  const intent = captureOrNothing(kernel, call)
  if (!intent) return refused('AMBIGUOUS_INPUT')
  const authorization = await authorizeIntent(kernel, intent, metering)
  metering?.decided(intent, call, authorization.decided)
  return authorization
}

async function authorizeIntent(
  kernel: Kernel,
  intent: Intent,
  metering: Metering | undefined,
): Promise<Authorization> {
  try {
    const flood = floodOf(kernel, intent)
    if (flood) return await refuseFlood(kernel, intent, flood)
    if (mustCloseSome(kernel)) await closeExpired(kernel)
    // Decided inside its turn, so that two calls of one session cannot both pass with the same old risk.
    const judged = await withRecords<Judged | Flood>(
      kernel,
      intent,
      // Checked again in the turn, because other calls may have used up the quota of the principal meanwhile.
      (turn, names) => {
        const result = floodOf(kernel, intent) ?? judge(kernel, intent, names, turn)
        metering?.judged()
        return result
      },
    )
    if ('reason' in judged) return await refuseFlood(kernel, intent, judged)
    const { decided, opening } = judged
    return {
      decided,
      permit: opening?.assurance === 'enforced' ? mint({ kernel, metering }, intent, opening.id) : undefined,
    }
  } catch {
    return refused('LEDGER_UNAVAILABLE')
  }
}

/**
 * Records the effect of an allowed call, for a door that cannot run its tool inside `enforce`. Spends the permit. Such a door must
 * ensure that one permit runs the tool once.
 *
 * @throws KernelError `PERMIT_INVALID` if the permit was spent or forged; `EFFECT_UNRECORDED` if the effect could not be recorded.
 * Every later call is then denied.
 */
export async function complete(kernel: Kernel, permit: Permit, outcome: Outcome): Promise<string> {
  const metering = spend(kernel, permit)
  metering?.ended(outcome.status)
  return record(kernel, permit.receipt, outcome)
}

/** A permit at run time: readable and immutable. */
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

function mint(unspent: Unspent, intent: Intent, receipt: string): Permit {
  // The only place that asserts the brand: the decision is durable.
  const permit = new Minted(intent, receipt) as Minted & Permit
  live.set(permit, unspent)
  return permit
}

function spend(kernel: Kernel, permit: Permit): Metering | undefined {
  const unspent = live.get(permit)
  if (unspent?.kernel.ledger === kernel.ledger && live.delete(permit)) return unspent.metering
  throw new KernelError('PERMIT_INVALID', 'the permit was already spent, or the kernel did not create it')
}

/** A known outcome, and the id of its receipt once it is durable. */
interface Ended {
  readonly known: Outcome
  readonly recorded: Promise<string>
}

/** Waits for the tool until a timeout. A later answer is recorded as late, after the first effect. */
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

/** Runs the tool and copies its answer: each member is read once. */
async function attempt(kernel: Kernel, receipt: string, run: () => Promise<ToolAnswer>): Promise<Outcome> {
  const answer: unknown = await run()
  if (typeof answer !== 'object' || answer === null) return LOST
  const { status, output, delivery, content, page } = answer as Partial<Record<keyof ToolAnswer, unknown>>
  if ((status !== 'COMPLETED' && status !== 'FAILED') || !(output instanceof Uint8Array)) return LOST
  if (!isDelivery(delivery)) return LOST
  const known: Outcome = { status, output: Uint8Array.from(output), ...(delivery && { delivery }) }
  if (content === undefined) return known
  const opening = await openingOf(kernel, receipt)
  // There is always an opening. Without one the policy is unknown, so the output is withheld.
  if (!opening) return { ...known, inspection: UNINSPECTED, delivery: 'withheld' }
  // Safe casts: a door gives a parsed JSON value and its own description of the page. Anything else makes the inspection fail, and is withheld.
  const inspection = inspectFor(
    kernel,
    dueNow(kernel, opening),
    content as Json,
    page as PageAfter | undefined,
  )
  return { ...known, inspection, delivery: lesser(delivery, inspection.delivery) }
}

const DELIVERIES = ['full', 'redacted', 'withheld'] as const

/** Returns the delivery that forwards less. */
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
    // The tool already ran. If the ledger cannot record that, every later call must be denied.
    kernel.ledger.poison(cause)
    throw new KernelError(
      'EFFECT_UNRECORDED',
      'the tool ran, but its effect could not be recorded; restart the gateway',
      {
        cause,
      },
    )
  }
}

async function closeById(kernel: Kernel, receipt: string, outcome: Outcome): Promise<Appended> {
  const opening = kernel.openings.get(receipt) ?? (await openingOf(kernel, receipt))
  if (!opening) throw new KernelError('EFFECT_REFUSED', 'there is no open call with this id')
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
    // No caller waits for it any more, but the effect happened, so a failure to record it poisons the ledger.
    kernel.ledger.poison(cause)
  }
}

/** Returns the captured call; undefined if reading the door's object throws, which leaves nothing to record. */
function captureOrNothing(kernel: Kernel, call: ToolCall): Intent | undefined {
  try {
    const intent = capture(call)
    return underCanonicalName(kernel.catalogue, policyOf(kernel, intent.tenant), intent)
  } catch {
    // The cause does not matter: an unreadable call is denied.
    return undefined
  }
}

async function refuseFlood(kernel: Kernel, intent: Intent, flood: Flood): Promise<Authorization> {
  await countFlood(kernel, intent, flood)
  return refused(flood.reason)
}

type Unrecorded = Flood['reason'] | 'AMBIGUOUS_INPUT' | 'LEDGER_UNAVAILABLE'

/** Returns a denial without a receipt. */
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
