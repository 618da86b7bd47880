// Denies calls while a freeze applies.

import type { Intent } from '../road/capture.ts'
import type { FreezeView } from '../admin/freezes.ts'
import type { ReasonCode } from '@tollgate/evidence'
import { always, deny, type Gate } from './gate.ts'

/** Objects while the whole gateway, the principal, the tool or the session is frozen. */
export const freeze: Gate = {
  name: 'freeze',
  standing: always,
  check(intent, { freezes }) {
    const reason = freezeReason(freezes, intent)
    return reason && deny(reason)
  },
}

/** The reason why this call is frozen; undefined if it is not. */
export function freezeReason(freezes: FreezeView, intent: Intent): ReasonCode | undefined {
  if (freezes.all()) return 'SYSTEM_FROZEN'
  if (freezes.principal(intent)) return 'AGENT_KILLED'
  if (freezes.tool(intent)) return 'TOOL_FROZEN'
  return freezes.session(intent) ? 'SESSION_FROZEN' : undefined
}
