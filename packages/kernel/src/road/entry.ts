// Checks whether a caller is frozen before a door forwards or starts anything. Gates only judge calls, and much of what a door does
// is not a call.

import type { Door } from '@tollgate/evidence'
import { capture, type ToolCall } from './capture.ts'
import { authorize } from './enforce.ts'
import type { Decided } from './judge.ts'
import type { Kernel } from '../kernel.ts'
import { DETECTORS } from '../gates/index.ts'

/** The caller as the door knows it. */
export interface Entrant {
  readonly tenant: string
  readonly principal: string
  /** The session that it names; the session of the principal by default. */
  readonly session?: unknown
}

/** The tool name in the receipt of a refused entry. */
export const ENTRY = 'tollgate:entry'

/** Returns whether a freeze covers everything, the principal or the session. Writes nothing to the ledger. */
export function isFrozen(kernel: Kernel, door: Door, entrant: Entrant): boolean {
  if (!kernel.freezes.any) return false
  return DETECTORS.freeze.reason(kernel.freezes, capture(entryOf(door, entrant))) !== undefined
}

/**
 * Returns the refusal of a frozen caller; undefined if the caller is not frozen. The refusal is recorded as a receipt, or counted
 * if the principal gets no more receipts. Never throws.
 */
export async function refuseFrozen(
  kernel: Kernel,
  door: Door,
  entrant: Entrant,
): Promise<Decided | undefined> {
  if (!isFrozen(kernel, door, entrant)) return undefined
  return (await authorize(kernel, entryOf(door, entrant))).decided
}

/** Represents the entry as a call to a tool that no server offers. If the freeze is lifted at this moment, it is still denied. */
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
