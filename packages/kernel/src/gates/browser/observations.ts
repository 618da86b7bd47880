// Keeps the observations that Sentinels posted. Each is valid for one call, for ten seconds, on its own page.

import { sha256Hex } from '@tollgate/evidence'
import type { Intent } from '../../road/capture.ts'
import type { Observation } from '../../road/observation.ts'

/** Why a call has no observation: it is too old, already used, of another page, or was never posted. */
export type ObservationFault = 'stale' | 'reused' | 'elsewhere' | 'unknown'

/** The observations that wait for their call. They are inputs of decisions, not state, and do not survive a restart. */
export interface Observations {
  /** Keeps an observation of a tenant's Sentinel and returns the id that a call uses to refer to it. */
  post(tenant: string, observation: Observation, time: number): string
  /** Removes and returns the observation that a call refers to, or says why there is none. */
  take(intent: Intent, time: number): Observation | ObservationFault
  /** Like `take`, but does not remove the observation. */
  peek(intent: Intent, time: number): Observation | ObservationFault
}

const TEN_SECONDS = 10_000
const MAX_WAITING = 10_000

/** Creates an empty store. */
export function createObservations(): Observations {
  const waiting = new Map<string, WaitingObservation>()
  const used = new Map<string, string>()
  // A call is judged again if another writer has changed what it was decided on.
  const taken = new WeakMap<Intent, Observation | ObservationFault>()
  let posted = 0
  return {
    post(tenant, observation, time) {
      const id = sha256Hex(JSON.stringify([tenant, time, posted++, observation]))
      waiting.set(id, { tenant, observation, time })
      dropOldest(waiting)
      return id
    },
    take(intent, time) {
      const found = find(intent)
      if (typeof found === 'string') return taken.get(intent) ?? found
      waiting.delete(found.id)
      used.set(found.id, intent.tenant)
      dropOldest(used)
      const observation = fitting(found, intent, time)
      taken.set(intent, observation)
      return observation
    },
    peek(intent, time) {
      const found = find(intent)
      return typeof found === 'string' ? found : fitting(found, intent, time)
    },
  }

  function find({
    tenant,
    browser,
  }: Intent): (WaitingObservation & { readonly id: string }) | ObservationFault {
    const id = browser?.observation_id ?? ''
    const found = waiting.get(id)
    if (found?.tenant === tenant) return { ...found, id }
    return used.get(id) === tenant ? 'reused' : 'unknown'
  }
}

/** Limits a store of ids: over the limit, the oldest is dropped. */
function dropOldest(ids: Map<string, unknown>): void {
  const [oldest] = ids.keys()
  if (ids.size > MAX_WAITING && oldest !== undefined) ids.delete(oldest)
}

interface WaitingObservation {
  readonly tenant: string
  readonly observation: Observation
  readonly time: number
}

function fitting(
  { observation, time: posted }: WaitingObservation,
  { browser }: Intent,
  time: number,
): Observation | ObservationFault {
  // An observation from the future is not current either.
  if (Math.abs(time - posted) > TEN_SECONDS) return 'stale'
  return browser?.observation?.url === observation.url ? observation : 'elsewhere'
}
