// The explanation of a decision as it was, from the call that was kept beside its receipt.

import type { Decision, Receipt } from '@tollgate/evidence'
import { keptName, whyUnreadable } from '@tollgate/kernel'
import { createReplay, explainCall, STANDING, type Looked, type Replay } from '@tollgate/kernel/workbench'
import { showExplanation, type ShownExplanation } from '../../api/explained.ts'
import type { LedgerView } from '../../view.ts'
import { tracePages, traceTexts } from '../../workbench/trace.ts'

/** A decision whose call may have been kept. */
export interface KeptDecision {
  readonly index: number
  readonly id: string
  readonly receipt: Decision
}

/** The explanation of a decision, or why there is none. */
export type KeptExplanation = ShownExplanation | 'not kept' | 'not the same' | { readonly unreadable: string }

/** The whole explanation of a decision as it was. One that says something else than the receipt is none. */
export async function explainKept(view: LedgerView, decision: KeptDecision): Promise<KeptExplanation> {
  const { id, receipt } = decision
  const kept = await view.record(keptName({ id, clock: receipt.lamport_clock }))
  if (kept === undefined) return 'not kept'
  const unreadable = whyUnreadable(kept)
  if (unreadable !== undefined) return { unreadable }
  const entry = { id, receipt, kept }
  const texts = await traceTexts(view)
  const alone = createReplay({ texts })
  await takeStanding(view, alone, decision.index)
  // What a session remembers of its data is kept once in a while: where it is not at hand, the history is gone through.
  const looked = alone.look(entry) ?? (await replayedTo(view, createReplay({ texts }), decision)).look(entry)
  if (!looked) return 'not kept'
  if (!isSame(looked, receipt)) return 'not the same'
  const { intent, snapshot } = looked
  return showExplanation(explainCall(intent, snapshot), snapshot.policy.hash)
}

/** Takes what stood when the decision was made: what was frozen, pinned and observed. Its policy it names itself. */
async function takeStanding(view: LedgerView, replay: Replay, before: number): Promise<void> {
  const kinds = [...STANDING].filter((kind) => kind !== 'policy')
  for (const index of await view.indexesOf(kinds)) {
    if (index >= before) return
    for (const { id, text } of await view.payloads(index, 1)) {
      // Sound: a payload is a receipt, and each was checked when it was appended.
      replay.take({ id, receipt: JSON.parse(text) as Receipt, kept: undefined })
    }
  }
}

/** The history up to a decision, decided again. */
async function replayedTo(view: LedgerView, replay: Replay, { id }: KeptDecision): Promise<Replay> {
  for await (const page of tracePages(view)) {
    for (const entry of page) {
      if (entry.id === id) return replay
      replay.take(entry)
    }
  }
  return replay
}

/** Whether the ladder says what the receipt says; where a person was asked, the receipt has their word as well. */
function isSame({ judgement: { verdict, reason, rung } }: Looked, receipt: Decision): boolean {
  if (rung !== receipt.rung) return false
  return (verdict === receipt.verdict && reason === receipt.reason_code) || wasAnswered(verdict, receipt)
}

function wasAnswered(verdict: string, { reason_code: code }: Decision): boolean {
  return verdict === 'ESCALATE' && (code.startsWith('APPROVAL_') || code === 'RATE_EXCEEDED')
}
