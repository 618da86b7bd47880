// Explains a past decision from its kept call.

import type { Decision, Receipt } from '@tollgate/evidence'
import { keptName, whyUnreadable } from '@tollgate/kernel'
import {
  createReplay,
  explainCall,
  STATEFUL_KINDS,
  type Looked,
  type Replay,
} from '@tollgate/kernel/workbench'
import { showExplanation, type ShownExplanation } from '../../api/explained.ts'
import type { LedgerView } from '../../view.ts'
import { tracePages, traceTexts } from '../../workbench/trace.ts'

/** A decision whose call may have been kept. */
export interface KeptDecision {
  readonly index: number
  readonly id: string
  readonly receipt: Decision
}

/** The explanation of a decision, or why it is not available. */
export type KeptExplanation = ShownExplanation | 'not kept' | 'not the same' | { readonly unreadable: string }

/** Explains a decision as it was made. Returns no explanation if the replay differs from the receipt. */
export async function explainKept(view: LedgerView, decision: KeptDecision): Promise<KeptExplanation> {
  const { id, receipt } = decision
  const kept = await view.record(keptName({ id, clock: receipt.lamport_clock }))
  if (kept === undefined) return 'not kept'
  const unreadable = whyUnreadable(kept)
  if (unreadable !== undefined) return { unreadable }
  const entry = { id, receipt, kept }
  const texts = await traceTexts(view)
  const alone = createReplay({ texts })
  await takeState(view, alone, decision.index)
  // The data state of a session is stored only from time to time. If it is missing, replay the history.
  const judged = alone.look(entry) ?? (await replayedTo(view, createReplay({ texts }), decision)).look(entry)
  if (!judged) return 'not kept'
  if (!isSame(judged, receipt)) return 'not the same'
  const { intent, snapshot } = judged
  return showExplanation(explainCall(intent, snapshot), snapshot.policy.hash)
}

/** Replays the freezes, pins and observe modes before the decision. The decision names its policy. */
async function takeState(view: LedgerView, replay: Replay, before: number): Promise<void> {
  const kinds = [...STATEFUL_KINDS].filter((kind) => kind !== 'policy')
  for (const index of await view.indexesOf(kinds)) {
    if (index >= before) return
    for (const { id, text } of await view.payloads(index, 1)) {
      // Sound: a payload is a receipt, and each was checked when it was appended.
      replay.take({ id, receipt: JSON.parse(text) as Receipt, kept: undefined })
    }
  }
}

async function replayedTo(view: LedgerView, replay: Replay, { id }: KeptDecision): Promise<Replay> {
  for await (const page of tracePages(view)) {
    for (const entry of page) {
      if (entry.id === id) return replay
      replay.take(entry)
    }
  }
  return replay
}

/** Whether the replay matches the receipt. For an escalated call, the receipt can also contain the answer of a person. */
function isSame({ judgement: { verdict, reason, rung } }: Looked, receipt: Decision): boolean {
  if (rung !== receipt.rung) return false
  return (verdict === receipt.verdict && reason === receipt.reason_code) || wasAnswered(verdict, receipt)
}

function wasAnswered(verdict: string, { reason_code: code }: Decision): boolean {
  return verdict === 'ESCALATE' && (code.startsWith('APPROVAL_') || code === 'RATE_EXCEEDED')
}
