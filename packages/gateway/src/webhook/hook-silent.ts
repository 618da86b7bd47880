// The message about a coding agent whose hook lets calls run.

import { sha256Hex } from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import { forADay } from './ledger-messages.ts'
import type { WebhookMessage } from './outbox.ts'
import { quoted } from './quoted.ts'

/** Returns the message. */
export function silentMessage(kernel: Kernel, id: string, why: string): WebhookMessage {
  const repair = `tollgate setup ${id} repair`
  return {
    id: sha256Hex(`hook.silent\n${id}\n${kernel.host.now()}`),
    type: 'hook.silent',
    isWanted: forADay(kernel),
    read: () => ({
      data: { agent: id, because: why, repair },
      lines: [
        `The hook of ${quoted(id)} does not ask the gateway. Its calls may run without a decision.`,
        `Reason: ${quoted(why)}`,
        `Repair it: \`${repair}\``,
      ],
    }),
  }
}
