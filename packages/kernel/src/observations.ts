// What Sentinels have posted themselves: each observation serves one call, for ten seconds, on its own page.

import { sha256Hex } from '@tollgate/evidence'
import type { Intent, Observation } from './call.ts'

/** The observations that wait for their call. They are inputs of a decision, not state: a restart forgets them. */
export interface Observations {
  /** Keeps an observation of a tenant's Sentinel, and answers with the id that a call refers to it by. */
  post(tenant: string, observation: Observation, time: number): string
  /** The observation that a call refers to, which is then used up; undefined if there is none that fits. */
  take(intent: Intent, time: number): Observation | undefined
}

const TEN_SECONDS = 10_000
const MAX_WAITING = 10_000

/** No observation has been posted. */
export function createObservations(): Observations {
  const waiting = new Map<string, { tenant: string; observation: Observation; time: number }>()
  let posted = 0
  return {
    post(tenant, observation, time) {
      const id = sha256Hex(JSON.stringify([tenant, time, posted++, observation]))
      waiting.set(id, { tenant, observation, time })
      // The oldest goes first; whoever floods loses what nobody will use any more.
      const [oldest] = waiting.keys()
      if (waiting.size > MAX_WAITING && oldest !== undefined) waiting.delete(oldest)
      return id
    },
    take({ tenant, browser }, time) {
      const id = browser?.observation_id
      const found = id === undefined ? undefined : waiting.get(id)
      if (id === undefined || found?.tenant !== tenant) return undefined
      waiting.delete(id)
      // Also one from the future is not of this moment.
      const fresh = Math.abs(time - found.time) <= TEN_SECONDS
      return fresh && browser?.observation?.url === found.observation.url ? found.observation : undefined
    },
  }
}
