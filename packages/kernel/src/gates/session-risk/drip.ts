// Detects data that leaves in small parts: after labelled data was read, the same sink receives data again and again. It covers
// sessions without a known user message. The policy allows each of these calls alone.

import type { Intent } from '../../road/capture.ts'
import { targetsOf } from '../../destinations/targets.ts'
import { matchesHost } from '../../destinations/pattern.ts'
import { holdsData, isDataLabel, wasSensitive } from './facts.ts'
import { isSentOften, wasLabelled, type RiskHistory } from './history.ts'
import type { Snapshot } from '../../road/snapshot.ts'

const MAX_SINKS = 8

/**
 * The sinks that may receive labelled data: hostnames that are not internal, or the tool if it names none. Empty in a session with a
 * known user message, because the origin of the targets is checked there instead.
 */
export function drippingTo(intent: Intent, snapshot: Snapshot): readonly string[] {
  return sinksOf(intent, snapshot).slice(0, MAX_SINKS)
}

function sinksOf({ tool }: Intent, snapshot: Snapshot): readonly string[] {
  const { effect, data, policy } = snapshot
  // Reading is ordinary work, and a payment carries no data.
  if (!data || effect === 'read' || effect === 'pay' || snapshot.voiced()) return []
  // A client can use a new session for every call, so labelled data counts across sessions.
  if (!wasSensitive(snapshot) && !wasLabelled(historyOf(snapshot), snapshot.time)) return []
  const internal = policy.gates.taint?.internal ?? []
  const outside = targetsOf(snapshot).filter((each) => !internal.some((host) => matchesHost(host, each)))
  return [...new Set(outside.map(({ host }) => (host === '' ? `\n${tool}` : host)))]
}

/** Whether the call needs an approval because a sink has already received data several times. */
export function isDripping(intent: Intent, snapshot: Snapshot): boolean {
  const sinks = sinksOf(intent, snapshot)
  // With more sinks than are counted, an uncounted one could receive data every time.
  if (sinks.length > MAX_SINKS) return true
  return sinks.some((to) => isSentOften(historyOf(snapshot), to, snapshot.time))
}

/** Whether a session without a known user message has labelled data, or gets some from this call. */
export function bringsLabelled(snapshot: Snapshot): boolean {
  if (!snapshot.data || snapshot.voiced()) return false
  return (snapshot.tool?.declared?.returns ?? []).some(isDataLabel) || holdsData(snapshot)
}

function historyOf({ lineage, principal }: Snapshot): RiskHistory {
  return (lineage ?? principal).watch
}
