// How a call would be judged now: the same ladder on the same records, and nothing of it counts.

import { capture, type Intent, type ToolCall } from './call.ts'
import { decide, subjectOf, type Judgement } from './guardian.ts'
import { takeSnapshot } from './judge.ts'
import { policyOf, type Kernel } from './kernel.ts'
import { explain, type Explained } from './policy/evaluate.ts'
import type { Policy } from './policy/parse.ts'
import { withRecords } from './recall.ts'

/** What would be decided, and what each rule says to it. */
export interface Foreseen {
  readonly intent: Intent
  readonly policy: Policy
  readonly judgement: Judgement
  /** None if the call could not be read. */
  readonly rules: readonly Explained[]
}

/**
 * Judges a call without a receipt and without counting it. An approval that waits or was granted is not looked at.
 *
 * @throws KernelError `LEDGER_POISONED`, `LEDGER_FULL`.
 */
export async function foresee(kernel: Kernel, call: ToolCall): Promise<Foreseen> {
  const intent = capture(call)
  return withRecords(kernel, intent, (turn, names) => {
    const policy = policyOf(kernel, intent.tenant)
    const snapshot = takeSnapshot(kernel, intent, { names, turn })
    return {
      intent,
      policy,
      judgement: decide(intent, snapshot, kernel.ladder),
      rules: intent.unreadable === undefined ? explain(policy, subjectOf(intent, snapshot)) : [],
    }
  })
}
