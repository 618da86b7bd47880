// Data that leaves drop by drop, where nobody knows what the user has said: after labelled data was read, the same sink gets
// something again and again. Each call alone is one that the policy allows.

import type { Intent } from '../../road/capture.ts'
import { targetsOf } from '../../destinations/targets.ts'
import { matchesHost } from '../../destinations/pattern.ts'
import { holdsData, isOfData, wasSensitive } from './facts.ts'
import { isSentOften, wasLabelled, type RiskHistory } from './history.ts'
import type { Snapshot } from '../../road/snapshot.ts'

const MOST_SINKS = 8

/**
 * Where data goes that may hold what was read under a label: hosts that are not internal, or the tool itself where it names none.
 * Nowhere in a session whose user's words are known: there, who has named a target counts for more.
 */
export function drippingTo(intent: Intent, snapshot: Snapshot): readonly string[] {
  return sinksOf(intent, snapshot).slice(0, MOST_SINKS)
}

function sinksOf({ tool }: Intent, snapshot: Snapshot): readonly string[] {
  const { effect, data, policy } = snapshot
  // To look something up is everyday work, and money takes no data along.
  if (!data || effect === 'read' || effect === 'pay' || snapshot.voiced()) return []
  // A client may name another session for every call: what one of them has read counts in all.
  if (!wasSensitive(snapshot) && !wasLabelled(historyOf(snapshot), snapshot.time)) return []
  const internal = policy.gates.taint?.internal ?? []
  const outside = targetsOf(snapshot).filter((each) => !internal.some((host) => matchesHost(host, each)))
  return [...new Set(outside.map(({ host }) => (host === '' ? `\n${tool}` : host)))]
}

/** Whether a person should see that it is the same sink again. */
export function isDripping(intent: Intent, snapshot: Snapshot): boolean {
  const sinks = sinksOf(intent, snapshot)
  // Of more than are counted, one could get something every time.
  if (sinks.length > MOST_SINKS) return true
  return sinks.some((to) => isSentOften(historyOf(snapshot), to, snapshot.time))
}

/** Whether a session without words has data with a label, or gets some by a call that passes. */
export function bringsLabelled(snapshot: Snapshot): boolean {
  if (!snapshot.data || snapshot.voiced()) return false
  return (snapshot.tool?.declared?.returns ?? []).some(isOfData) || holdsData(snapshot)
}

function historyOf({ lineage, principal }: Snapshot): RiskHistory {
  return (lineage ?? principal).watch
}
