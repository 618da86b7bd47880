// Formats a decision for programs and for models, the same at every door.

import { reasonOf } from '@tollgate/evidence'
import type { Decided } from '@tollgate/kernel'

/** A decision with the message and the remedy of its reason. */
export function verdictOf(decided: Decided): Readonly<Record<string, string | null>> {
  const reason = reasonOf(decided.reason)
  return {
    verdict: decided.verdict,
    reason_code: decided.reason,
    message: reason?.sentence ?? '',
    remedy: reason?.remedy ?? '',
    rung: decided.rung,
    rule: decided.rule ?? null,
    detail: decided.detail ?? null,
    receipt: decided.receipt ?? null,
    approval: decided.approval ?? null,
    expires: decided.expires ?? null,
  }
}

/** The text for a model, always with the reason and the remedy. A repeated denial also says that it is one. */
export function denialText(decided: Decided, repeated: boolean): string {
  const { verdict, reason, receipt, approval } = decided
  const detail = detailOf(decided)
  const known = reasonOf(reason)
  const at = receipt === undefined ? 'No receipt could be written.' : `Receipt: ${receipt}`
  if (verdict === 'ESCALATE') {
    return [
      `This call needs the approval of a person (${reason}). ${known?.sentence ?? ''}`,
      ...(detail === undefined ? [] : [`Detail: ${detail}`]),
      `Next step: ${askFor(reason, approval)} After that, repeat exactly the same call. Until then it gets this same answer.`,
      `Approval: ${approval ?? 'none'}. ${at}`,
    ].join('\n')
  }
  return [
    `${repeated ? 'Denied again' : 'Denied'} (${reason}). ${known?.sentence ?? ''}`,
    ...(detail === undefined ? [] : [`Detail: ${detail}`]),
    `Next step: ${known?.remedy ?? 'ask the person who runs the gateway.'}`,
    ...(repeated ? ['Do not repeat the same call before that.'] : []),
    at,
  ].join('\n')
}

/** The detail, with the rule if a rule decided: its `because` alone does not say which rule to change. */
function detailOf({ rung, rule, detail }: Decided): string | undefined {
  if (rung !== 'policy' || rule === undefined) return detail
  return detail === undefined ? `rule \`${rule}\`` : `rule \`${rule}\`: ${detail}`
}

/** A sentence that names the receipt, or nothing if there is none. */
export function receiptNote(receipt: string | undefined): string {
  return receipt === undefined ? '' : ` Receipt: ${receipt}`
}

/** Names the request and no command: an agent that reads a command could run it. */
function askFor(reason: Decided['reason'], approval: string | undefined): string {
  const request = approval === undefined ? 'this call' : `the request ${approval}`
  const once = `ask the operator to answer ${request}`
  if (reason !== 'TOOL_NOT_PINNED') return `${once}.`
  return `ask the operator to review the tool and approve it; for this one call alone, ${once}.`
}
