// Data that leaves drop by drop, where nobody knows what the user has said: after labelled data was read, the same sink gets
// something again and again. Each call alone is one that the policy allows.

import type { Intent } from './call.ts'
import { targetsOf } from './flow.ts'
import { matchesHost } from './destinations/pattern.ts'
import { wasSensitive } from './risk-facts.ts'
import { isSentOften } from './risk-watch.ts'
import type { Snapshot } from './snapshot.ts'

const MOST_SINKS = 8

/**
 * Where data goes that may hold what was read under a label: hosts that are not internal, or the tool itself where it names none.
 * Nowhere in a session whose user's words are known: there, who has named a target counts for more.
 */
export function drippingTo({ tool }: Intent, snapshot: Snapshot): readonly string[] {
  const { effect, data, policy } = snapshot
  // To look something up is everyday work, and money takes no data along.
  if (!data || effect === 'read' || effect === 'pay' || snapshot.voiced() || !wasSensitive(snapshot))
    return []
  const internal = policy.gates.taint?.internal ?? []
  const outside = targetsOf(snapshot).filter((each) => !internal.some((host) => matchesHost(host, each)))
  return [...new Set(outside.map(({ host }) => (host === '' ? `\n${tool}` : host)))].slice(0, MOST_SINKS)
}

/** Whether a person should see that it is the same sink again. */
export function isDripping(intent: Intent, snapshot: Snapshot): boolean {
  const { watch } = snapshot.lineage ?? snapshot.principal
  return drippingTo(intent, snapshot).some((to) => isSentOften(watch, to, snapshot.time))
}
