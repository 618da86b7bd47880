// Remembers the calls and approvals of a pack while it is read, so that an effect finds its decision and a decision its approval.

import type { Approval, Decision, Receipt } from '@tollgate/evidence'
import { shown } from '../program/table.ts'
import type { ShownEntry } from './describe.ts'

/** A decision at its place in the ledger. */
export type DecisionEntry = ShownEntry & { readonly receipt: Decision }
/** An approval at its place in the ledger. */
export type ApprovalEntry = ShownEntry & { readonly receipt: Approval }

/**
 * The calls of a pack. Keeps open calls, escalated calls and approvals, but no denied or closed call, so that memory does not
 * grow with the number of calls.
 */
export class PackCalls {
  readonly #decisions = new Map<string, DecisionEntry>()
  readonly #approvals = new Map<string, ApprovalEntry>()
  /** Approvals by the id of the escalated decision. The newest counts. */
  readonly #answers = new Map<string, ApprovalEntry>()

  /** Takes the next receipt. Returns the decision that it belongs to, which can be itself, if the pack has it. */
  take(entry: ShownEntry): DecisionEntry | undefined {
    const { receipt } = entry
    if (receipt.kind === 'decision') return this.#takeDecision({ ...entry, receipt })
    if (receipt.kind === 'approval') this.#takeApproval({ ...entry, receipt })
    const id = decisionOf(receipt)
    const decision = id === undefined ? undefined : this.#decisions.get(id)
    // After UNKNOWN, a late effect can follow.
    if (receipt.kind === 'effect' && receipt.status !== 'UNKNOWN') this.#decisions.delete(receipt.decision)
    return decision
  }

  /** Returns the approval that a decision uses, or that answered it. Complete only after the last receipt. */
  approvalFor({ id, receipt }: ShownEntry): ApprovalEntry | undefined {
    if (receipt.kind !== 'decision') return undefined
    return receipt.approval === undefined ? this.#answers.get(id) : this.#approvals.get(receipt.approval)
  }

  /** Returns an escalated decision by its id. */
  escalated(id: string): DecisionEntry | undefined {
    return this.#decisions.get(id)
  }

  #takeDecision(entry: DecisionEntry): DecisionEntry {
    if (entry.receipt.verdict !== 'DENY') this.#decisions.set(entry.id, entry)
    return entry
  }

  #takeApproval(entry: ApprovalEntry): void {
    this.#approvals.set(entry.id, entry)
    this.#answers.set(entry.receipt.decision, entry)
  }
}

function decisionOf(receipt: Receipt): string | undefined {
  return receipt.kind === 'effect' || receipt.kind === 'approval' ? receipt.decision : undefined
}

/** Says who approved or denied a decision and why, as an addition to its line; empty if no person did. */
export function answerText(entry: ShownEntry, approval: ApprovalEntry | undefined): string {
  const { receipt } = entry
  if (receipt.kind !== 'decision') return ''
  if (!approval) {
    return receipt.approval === undefined
      ? ''
      : `; approval ${receipt.approval.slice(0, 8)} is not in the pack`
  }
  const { answer, approver, because } = approval.receipt
  const act = answer === 'GRANTED' ? 'approved' : 'denied'
  return `; ${act} by ${shown(approver)}${because === undefined ? ', no reason given' : `: ${shown(because)}`}`
}
