// Where the data of a call would go, and whether the call does anything at all.

import type { Snapshot } from '../road/snapshot.ts'
import type { Target } from './destination.ts'

/** Whether a call does anything: has a side effect, or asks a stranger's address for something, which then goes out. */
export function acts(snapshot: Pick<Snapshot, 'sideEffect' | 'destinations'>): boolean {
  return snapshot.sideEffect || snapshot.destinations().length > 0
}

// Classes of effect by which data can leave without a destination being named.
const LETS_OUT: ReadonlySet<Snapshot['effect']> = new Set(['send', 'pay', 'execute', 'admin'])

const ANYWHERE: Target = { scheme: '', host: '', port: 0 }

/**
 * Where the data of a call would go. A call through which it leaves goes somewhere, even if no argument that is declared to
 * say so does: a host in some text is no proof that it goes there and nowhere else.
 */
export function targetsOf(snapshot: Pick<Snapshot, 'effect' | 'tool' | 'destinations'>): readonly Target[] {
  const found = snapshot.destinations()
  const staysHere = !LETS_OUT.has(snapshot.effect) || snapshot.tool?.declared?.destinations === 'none'
  return staysHere || found.some(({ from }) => from === 'declared') ? found : [...found, ANYWHERE]
}
