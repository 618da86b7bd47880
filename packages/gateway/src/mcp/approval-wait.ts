// Holds a call that needs an approval until a person has answered, while its client waits for the result.

import { clearInterval, setInterval } from 'node:timers'
import type { Kernel } from '@tollgate/kernel'
import { endRequest } from '@tollgate/kernel/admin'
import { MAX_WAIT, readWait, untilAnswered, type AnswerWait } from '../answer-wait.ts'
import type { OrderOutcome } from './govern.ts'
import { CODE, RpcFault } from './message.ts'
import { OURS } from './protocol.ts'
import type { Turn } from './proxy.ts'

/** How the calls of a gateway wait. */
export interface WaitingOptions {
  /** Milliseconds that a call waits, unless its client says otherwise. */
  readonly wait: number
  readonly watch: AnswerWait['watch']
  /** Aborted when the gateway stops. */
  readonly ending: AbortSignal
}

interface ApprovalWaitOptions extends WaitingOptions {
  readonly kernel: Kernel
  /** Whether the caller of a request is frozen. */
  readonly isFrozen: (turn: Turn) => boolean
}

// An approved call may need another approval, if its circumstances have changed.
const MAX_ROUNDS = 4
// Clients give up on a request without a sign of life, most after a minute.
const TELL_EVERY_MS = 10_000

/** The calls of all clients that wait for an approval. */
export class ApprovalWaits {
  readonly #options: ApprovalWaitOptions
  /** The number of calls that wait for each request. */
  readonly #waiting = new Map<string, number>()

  constructor(options: ApprovalWaitOptions) {
    this.#options = options
  }

  /**
   * Makes an attempt to run a call. If it needs an approval, waits for the answer and makes another attempt, which is judged again.
   * Returns the newest outcome. @throws RpcFault for an unreadable time.
   */
  async hold(turn: Turn, attempt: (isFirst: boolean) => Promise<OrderOutcome>): Promise<OrderOutcome> {
    const wait = this.#waitOf(turn)
    let outcome = await attempt(true)
    for (let round = 0; round < MAX_ROUNDS && wait.left > 0; round++) {
      const request = requestIn(outcome)
      if (request === undefined || !(await this.#mayGoOn(request, turn, wait))) return outcome
      outcome = await attempt(false)
    }
    return outcome
  }

  #waitOf({ meta, signal, lost }: Turn): AnswerWait {
    const { wait, watch, ending } = this.#options
    const given = meta[OURS.wait]
    const left = given === undefined ? wait : typeof given === 'string' ? readWait(given) : undefined
    if (left === undefined)
      throw new RpcFault(CODE.invalidParams, `\`${OURS.wait}\` must be a time such as "90s" or "5m", or "0"`)
    if (left === 0) return { left, signal, watch }
    return { left: Math.min(left, MAX_WAIT), signal: AbortSignal.any([signal, lost, ending]), watch }
  }

  /** Waits for the answer to a request. Returns whether the call must be judged again. */
  async #mayGoOn(request: string, turn: Turn, wait: AnswerWait): Promise<boolean> {
    const { kernel, ending, isFrozen } = this.#options
    const { approvals, catalogue, host } = kernel
    const { until = 0, tool = '', reason } = approvals.find({ id: request }) ?? {}
    const isPinned = (): boolean => reason === 'TOOL_NOT_PINNED' && catalogue.pinned(tool) !== undefined
    const isOver = (): boolean => isFrozen(turn) || isPinned()
    this.#waiting.set(request, (this.#waiting.get(request) ?? 0) + 1)
    const stopTelling = tellProgress(turn, request)
    // Its end is no change of the ledger.
    const own = { ...wait, left: Math.min(wait.left, Math.max(0, until - host.now()) + 1) }
    const begun = own.left
    await untilAnswered(kernel, new Set([request]), own, isOver)
    wait.left -= begun - own.left
    stopTelling()
    const isLast = this.#leave(request)
    if (ending.aborted || turn.caller.known?.() === false) return false
    if (wait.signal.aborted) {
      if (isLast) await endRequest(kernel, request).catch(() => undefined)
      return false
    }
    // A request that is gone was approved, and an equal call has used it.
    const found = approvals.find({ id: request })
    return isOver() || found === undefined || found.answer !== null
  }

  #leave(request: string): boolean {
    const left = (this.#waiting.get(request) ?? 1) - 1
    if (left > 0) this.#waiting.set(request, left)
    else this.#waiting.delete(request)
    return left <= 0
  }
}

/** The open request of an escalated call. */
function requestIn(outcome: OrderOutcome): string | undefined {
  if (outcome.kind !== 'denied' || outcome.decided.verdict !== 'ESCALATE') return undefined
  return outcome.decided.approval
}

/** Reports the wait to the client, so that it does not give up. Returns a function that stops it. */
function tellProgress({ progress }: Turn, request: string): () => void {
  if (!progress) return () => undefined
  const message = `waiting for a person to answer the approval request ${request}`
  let count = 0
  // Small steps, because the progress of the server begins at its own numbers.
  const tell = (): void => progress({ progress: ++count / 1000, message })
  tell()
  const timer = setInterval(tell, TELL_EVERY_MS)
  return () => clearInterval(timer)
}
