// A decision as programs and models are told it, whichever door they came by.

import { reasonOf } from '@tollgate/evidence'
import type { Decided } from '@tollgate/kernel'

/** A decision with what its reason means and what can be done about it. */
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

/** The text for a model. The second time the same is denied it is told so, and nothing else. */
export function denialText(decided: Decided, repeated: boolean): string {
  const { verdict, reason, detail, receipt, approval } = decided
  const known = reasonOf(reason)
  const at = receipt === undefined ? 'No receipt could be written.' : `Receipt: ${receipt}`
  if (repeated && verdict === 'DENY') {
    return `Denied again (${reason}). The same call will not pass; do not repeat it. ${at}`
  }
  if (verdict === 'ESCALATE') {
    return [
      `This call waits for a person (${reason}). ${known?.sentence ?? ''}`,
      ...(detail === undefined ? [] : [`Detail: ${detail}`]),
      `What to do: ${askFor(reason, approval)} Then repeat exactly the same call; earlier it will be answered like this.`,
      `Approval: ${approval ?? 'none'}. ${at}`,
    ].join('\n')
  }
  return [
    `Denied (${reason}). ${known?.sentence ?? ''}`,
    ...(detail === undefined ? [] : [`Detail: ${detail}`]),
    `What to do: ${known?.remedy ?? 'ask the person who runs the gateway.'}`,
    at,
  ].join('\n')
}

/** Where it is on record, behind a text; nothing if it is not. */
export function receiptNote(receipt: string | undefined): string {
  return receipt === undefined ? '' : ` Receipt: ${receipt}`
}

function askFor(reason: Decided['reason'], approval: string | undefined): string {
  const once = `ask the user to run \`tollgate approvals approve ${approval ?? ''}\``
  if (reason !== 'TOOL_NOT_PINNED') return `${once}, or to deny it.`
  return `${once} for this one call, or to look at the tool and approve it for good with \`tollgate mcp approve NAME\`.`
}
