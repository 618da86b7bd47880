// Determines where the data of a call would go, and whether the call acts.

import type { Snapshot } from '../road/snapshot.ts'
import type { Target } from './destination.ts'

/** Returns whether a call acts: it has a side effect, or it sends a request to a destination. */
export function acts(snapshot: Pick<Snapshot, 'sideEffect' | 'destinations'>): boolean {
  return snapshot.sideEffect || snapshot.destinations().length > 0
}

// Effect classes that can send data without naming a destination.
const OUTBOUND: ReadonlySet<Snapshot['effect']> = new Set(['send', 'pay', 'execute', 'admin'])

const UNKNOWN: Target = { scheme: '', host: '', port: 0 }

/**
 * Returns where the data of a call would go. A call that sends data has an unknown target if no declared argument names one. A
 * host in other text does not prove that data goes only there.
 */
export function targetsOf(snapshot: Pick<Snapshot, 'effect' | 'tool' | 'destinations'>): readonly Target[] {
  const found = snapshot.destinations()
  const isInternal = !OUTBOUND.has(snapshot.effect) || snapshot.tool?.declared?.destinations === 'none'
  return isInternal || found.some(({ from }) => from === 'declared') ? found : [...found, UNKNOWN]
}
