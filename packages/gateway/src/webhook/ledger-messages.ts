// The messages about receipts: an answer of a person, a freeze. Each is sent for a day at most: later it is no news, and the ledger
// has it.

import type { Approval, Freeze } from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import type { WebhookMessage } from './outbox.ts'
import { quoted } from './quoted.ts'

const DAY = 86_400_000

/** Returns a test that holds for a day from now. */
export function forADay({ host }: Kernel): () => boolean {
  const end = host.now() + DAY
  return () => host.now() <= end
}

/** Returns the message about a person's answer. */
export function answerMessage(kernel: Kernel, id: string, receipt: Approval): WebhookMessage {
  const { decision, answer, approver, because, time, expires } = receipt
  const { principal, tool } = kernel.approvals.find({ id: decision }) ?? {}
  const call =
    principal === undefined || tool === undefined
      ? 'a call'
      : `the call ${quoted(tool)} of ${quoted(principal)}`
  const data = { id: decision, answer, approver, principal, tool, because, time, expires }
  return {
    id,
    type: 'approval.answered',
    isWanted: forADay(kernel),
    read: () => ({
      data: defined(data),
      lines: [
        `${quoted(approver)} ${answer === 'GRANTED' ? 'approved' : 'denied'} ${call}.`,
        ...reasonOf(because),
      ],
    }),
  }
}

/** Returns the message about a freeze or its end. */
export function freezeMessage(kernel: Kernel, id: string, receipt: Freeze): WebhookMessage {
  const { scope, target, frozen, by, because, denials, time } = receipt
  const whom = scope === 'all' ? 'all agents' : `the ${scope} ${quoted(target ?? '')}`
  return {
    id,
    type: 'freeze.changed',
    isWanted: forADay(kernel),
    read: () => ({
      data: defined({ scope, target, frozen, by, because, denials, time }),
      lines: [`${quoted(by)} ${frozen ? 'froze' : 'ended the freeze of'} ${whom}.`, ...reasonOf(because)],
    }),
  }
}

function reasonOf(because: string | undefined): readonly string[] {
  return because === undefined ? [] : [`Reason: ${quoted(because)}`]
}

type Defined = Record<string, string | number | boolean>

/** Leaves out the members without a value. */
function defined(members: Readonly<Record<string, Defined[string] | undefined>>): Defined {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
