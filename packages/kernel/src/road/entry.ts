// Whether a caller may come in at all. Every door asks here before it forwards or starts anything: a gate is asked about a call, and
// much of what a door does is none.

import type { Door } from '@tollgate/evidence'
import { capture, type ToolCall } from './capture.ts'
import { authorize } from './enforce.ts'
import type { Decided } from './judge.ts'
import type { Kernel } from '../kernel.ts'
import { DETECTORS } from '../gates/index.ts'

/** Who comes in, as far as the door knows. */
export interface Entrant {
  readonly tenant: string
  readonly principal: string
  /** The session that it names; its principal's own if it names none. */
  readonly session?: unknown
}

/** The name that a refused entry has in its receipt. */
export const ENTRY = 'tollgate:entry'

/** Whether a freeze is in force on all, on the principal or on the session. Leaves nothing on the ledger. */
export function isFrozen(kernel: Kernel, door: Door, entrant: Entrant): boolean {
  if (!kernel.freezes.any) return false
  return DETECTORS.freeze.reason(kernel.freezes, capture(entryOf(door, entrant))) !== undefined
}

/**
 * The refusal of a caller that is frozen; undefined if it may come in. The refusal is on the ledger: a receipt, or one more in the
 * count of those that get none any more. Never throws.
 */
export async function refuseFrozen(
  kernel: Kernel,
  door: Door,
  entrant: Entrant,
): Promise<Decided | undefined> {
  if (!isFrozen(kernel, door, entrant)) return undefined
  return (await authorize(kernel, entryOf(door, entrant))).decided
}

/** Entering as a call that no server offers: if the freeze is lifted at this moment, it is denied all the same. */
function entryOf(door: Door, { tenant, principal, session }: Entrant): ToolCall {
  return {
    caller: { tenant, principal },
    door,
    assurance: 'enforced',
    tool: ENTRY,
    args: {},
    offered: null,
    ...(session !== undefined && { session_id: session }),
  }
}
