// Keeps the observations that Sentinels posted. Each is valid for one call, for ten seconds, on its own page.

import { sha256Hex } from '@tollgate/evidence'
import type { Intent } from '../../road/capture.ts'
import type { Observation } from '../../road/observation.ts'

/** The observations that wait for their call. They are inputs of decisions, not state, and do not survive a restart. */
export interface Observations {
  /** Keeps an observation of a tenant's Sentinel and returns the id that a call uses to refer to it. */
  post(tenant: string, observation: Observation, time: number): string
  /** Removes and returns the observation that a call refers to; undefined if none matches. */
  take(intent: Intent, time: number): Observation | undefined
  /** Like `take`, but does not remove the observation. */
  peek(intent: Intent, time: number): Observation | undefined
}

const TEN_SECONDS = 10_000
const MAX_WAITING = 10_000

/** Creates an empty store. */
export function createObservations(): Observations {
  const waiting = new Map<string, WaitingObservation>()
  let posted = 0
  return {
    post(tenant, observation, time) {
      const id = sha256Hex(JSON.stringify([tenant, time, posted++, observation]))
      waiting.set(id, { tenant, observation, time })
      // Over the limit, the oldest observation is dropped.
      const [oldest] = waiting.keys()
      if (waiting.size > MAX_WAITING && oldest !== undefined) waiting.delete(oldest)
      return id
    },
    take(intent, time) {
      const id = intent.browser?.observation_id
      const found = foundFor(intent)
      if (id !== undefined && found) waiting.delete(id)
      return found && fitting(found, intent, time)
    },
    peek(intent, time) {
      const found = foundFor(intent)
      return found && fitting(found, intent, time)
    },
  }

  function foundFor({ tenant, browser }: Intent): WaitingObservation | undefined {
    const id = browser?.observation_id
    const found = id === undefined ? undefined : waiting.get(id)
    return found?.tenant === tenant ? found : undefined
  }
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
): Observation | undefined {
  // An observation from the future is not current either.
  const fresh = Math.abs(time - posted) <= TEN_SECONDS
  return fresh && browser?.observation?.url === observation.url ? observation : undefined
}
