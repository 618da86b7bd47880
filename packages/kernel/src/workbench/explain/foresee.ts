// How a call would be judged now: the same ladder on the same records, and nothing of it counts.

import { capture, type Intent, type ToolCall } from '../../road/capture.ts'
import { explainCall, type Explanation } from './explanation.ts'
import type { Judgement } from '../../road/guardian.ts'
import { takeSnapshot } from '../../road/judge.ts'
import type { Kernel } from '../../kernel.ts'
import type { Explained } from '../../policy/evaluate.ts'
import type { Policy } from '../../policy/parse/parse.ts'
import { withRecords } from '../../road/recall.ts'

/** What would be decided, and what each rule says to it. */
interface Foreseen {
  readonly intent: Intent
  readonly policy: Policy
  readonly judgement: Judgement
  /** None if the call could not be read. */
  readonly rules: readonly Explained[]
  readonly explanation: Explanation
  /** When it would be decided, in milliseconds. */
  readonly time: number
}

/**
 * Judges a call without a receipt and without counting it. An approval that waits or was granted is not looked at.
 *
 * @throws KernelError `LEDGER_POISONED`, `LEDGER_FULL`.
 */
export async function foresee(kernel: Kernel, call: ToolCall): Promise<Foreseen> {
  const intent = capture(call)
  const { observations } = kernel
  // What a Sentinel has posted is still there for the call itself.
  const take: Kernel['observations']['take'] = (...of) => observations.peek(...of)
  const looking = { ...kernel, observations: { ...observations, take } }
  const snapshot = await withRecords(kernel, intent, (turn, names) =>
    takeSnapshot(looking, intent, { names, turn }),
  )
  // Outside of the turn: to explain a call takes longer than to decide on it, and nobody need wait for that.
  const explanation = explainCall(intent, snapshot, kernel.ladder)
  const { judgement, rules } = explanation
  const { policy, time } = snapshot
  return { intent, policy, judgement, rules, explanation, time }
}
