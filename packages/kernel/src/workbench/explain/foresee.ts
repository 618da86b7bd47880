// Judges a call as of now with the same ladder and records, without recording or counting it.

import { capture, type Intent, type ToolCall } from '../../road/capture.ts'
import { explainCall, type Explanation } from './explanation.ts'
import type { Judgement } from '../../road/guardian.ts'
import { takeSnapshot } from '../../road/judge.ts'
import { policyOf, type Kernel } from '../../kernel.ts'
import { underCanonicalName } from '../../road/naming.ts'
import type { Explained } from '../../policy/evaluate.ts'
import type { Policy } from '../../policy/parse/parse.ts'
import { withRecords } from '../../road/recall.ts'

/** The judgement that a call would get, with the match of each rule. */
interface Foreseen {
  readonly intent: Intent
  readonly policy: Policy
  readonly judgement: Judgement
  /** Empty if the call is unreadable. */
  readonly rules: readonly Explained[]
  readonly explanation: Explanation
  /** The time of the judgement, in milliseconds. */
  readonly time: number
}

/**
 * Judges a call without a receipt and without counting it. Approvals are not considered.
 *
 * @throws KernelError `LEDGER_POISONED`, `LEDGER_FULL`.
 */
export async function foresee(kernel: Kernel, call: ToolCall): Promise<Foreseen> {
  const captured = capture(call)
  const intent = underCanonicalName(kernel.catalogue, policyOf(kernel, captured.tenant), captured)
  const { observations } = kernel
  // The posted observation stays available for the call itself.
  const take: Kernel['observations']['take'] = (...of) => observations.peek(...of)
  const looking = { ...kernel, observations: { ...observations, take } }
  const snapshot = await withRecords(kernel, intent, (turn, names) =>
    takeSnapshot(looking, intent, { names, turn }),
  )
  // Outside the turn, because explaining takes longer than deciding and must not delay other calls.
  const explanation = explainCall(intent, snapshot, kernel.ladder)
  const { judgement, rules } = explanation
  const { policy, time } = snapshot
  return { intent, policy, judgement, rules, explanation, time }
}
