// Shows decisions and effects to the host application, for its metrics and traces. Nothing in the kernel depends on the meter.

import type { Door, Effect } from '@tollgate/evidence'
import type { Intent, ToolCall } from './capture.ts'
import type { Decided } from './judge.ts'

/** A decided call, without its arguments. Times are those of `Meter.clock`. */
interface MeteredCall {
  readonly door: Door
  readonly assurance: 'enforced' | 'advised'
  readonly tool: string
  readonly session: string
  readonly principal: string | undefined
  /** The caller's own id for the call. */
  readonly reference: string | undefined
  /** The parent span that the door read from the request. Untrusted text. */
  readonly traceparent: string | undefined
  readonly decided: Decided
  readonly arrived: number
  /** When the verdict was known. The receipt is durable, or could not be written, at `recorded`. */
  readonly judged: number
  readonly recorded: number
}

/** Counts and times calls. Its methods must be fast. An error of the meter changes no decision and no effect. */
export interface Meter {
  /** Milliseconds of a clock that never goes back. */
  clock(): number
  /** A call was decided, with or without a receipt. */
  decided(call: MeteredCall): void
  /** The tool of an allowed, enforced call has ended. CANCELLED means that it did not run. */
  ended(call: MeteredCall, status: Effect['status']): void
  /** An effect was recorded; `decision` is the id of the decision that it closes. */
  effect(status: Effect['status'], reportedBy: Effect['reported_by'], decision: string): void
}

/** Meters one call. */
export class Metering {
  readonly #meter: Meter
  readonly #arrived: number
  #judged: number | undefined
  #call: MeteredCall | undefined

  private constructor(meter: Meter) {
    this.#meter = meter
    this.#arrived = meter.clock()
  }

  /** Begins when a call arrives. Returns undefined without a meter. */
  static begin(meter: Meter | undefined): Metering | undefined {
    return meter && quietly(() => new Metering(meter))
  }

  /** The verdict is known. */
  judged(): void {
    this.#judged = quietly(() => this.#meter.clock())
  }

  /** The decision is durable, or could not be recorded. */
  decided(intent: Intent, call: Pick<ToolCall, 'traceparent'>, decided: Decided): void {
    quietly(() => {
      const recorded = this.#meter.clock()
      const { door, assurance, tool, session, principal, reference } = intent
      const { traceparent } = call
      const names = { door, assurance, tool, session, principal, reference, traceparent }
      const judged = this.#judged ?? recorded
      this.#call = { ...names, decided, arrived: this.#arrived, judged, recorded }
      this.#meter.decided(this.#call)
    })
  }

  /** The tool has ended. */
  ended(status: Effect['status']): void {
    const call = this.#call
    if (call) quietly(() => this.#meter.ended(call, status))
  }
}

/** Counts a recorded effect. */
export function meterEffect(
  meter: Meter | undefined,
  { status, reported_by, decision }: Pick<Effect, 'status' | 'reported_by' | 'decision'>,
): void {
  if (meter) quietly(() => meter.effect(status, reported_by, decision))
}

function quietly<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    // A number is lost. The call goes its way.
    return undefined
  }
}
