// Freezes at the LLM door: who may not come in, and what is under way when a freeze comes.

import { isFrozen, refuseFrozen, type Decided, type Entrant, type Kernel } from '@tollgate/kernel'
import { reasonOf } from '@tollgate/evidence'
import { denialText } from '../verdict.ts'
import { Refused } from './dialect.ts'

/** Refuses a caller that is frozen, on the record. @throws Refused */
export async function requireThawed(kernel: Kernel, entrant: Entrant): Promise<void> {
  const decided = await refuseFrozen(kernel, 'llm', entrant)
  if (decided) throw refusalOf(decided)
}

function refusalOf(decided: Decided): Refused {
  return new Refused(403, decided.reason, denialText(decided, false).replaceAll('\n', ' '))
}

/** Requests that are under way, each until it is over. */
interface Flights {
  /** Takes one more; the returned function says that it is over. */
  add(flight: AbortController, entrant: Entrant): () => void
  /** Ends all of them. */
  close(): void
}

/** Ends a request under way as soon as its caller is frozen: nothing more of its reply reaches the agent. */
export function createFlights(kernel: Kernel): Flights {
  const flights = new Map<AbortController, Entrant>()
  const unwatch = kernel.freezes.watch(() => {
    for (const [flight, entrant] of flights) {
      if (isFrozen(kernel, 'llm', entrant)) flight.abort(new Refused(403, FROZEN, BROKEN_OFF))
    }
  })
  return {
    add(flight, entrant) {
      flights.set(flight, entrant)
      return () => void flights.delete(flight)
    },
    close() {
      unwatch()
      for (const flight of flights.keys()) flight.abort()
    },
  }
}

const FROZEN = 'SYSTEM_FROZEN'
const BROKEN_OFF = `the gateway, the agent or the session was frozen while the reply came; ${reasonOf(FROZEN)?.remedy ?? ''}`
