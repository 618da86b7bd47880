// Freezes at the LLM door: refuses frozen callers and ends their active requests.

import { isFrozen, refuseFrozen, type Entrant, type Kernel } from '@tollgate/kernel'
import { reasonOf } from '@tollgate/evidence'
import { denialText } from '../verdict.ts'
import { Refused } from './dialect.ts'

/** Refuses a frozen caller and records it. @throws Refused */
export async function requireNotFrozen(kernel: Kernel, entrant: Entrant): Promise<void> {
  const decided = await refuseFrozen(kernel, 'llm', entrant)
  if (decided) throw new Refused(403, decided.reason, denialText(decided, false).replaceAll('\n', ' '))
}

/** Aborts an active request as soon as its caller is frozen. Nothing more of its reply reaches the agent. */
export class ActiveRequests extends Map<AbortController, Entrant> {
  readonly #unwatch: () => void

  constructor(kernel: Kernel) {
    super()
    this.#unwatch = kernel.freezes.watch(() => {
      for (const [abort, entrant] of this) {
        if (isFrozen(kernel, 'llm', entrant)) abort.abort(new Refused(403, FROZEN, FROZEN_TEXT))
      }
    })
  }

  /** Aborts all of them. */
  close(): void {
    this.#unwatch()
    for (const abort of this.keys()) abort.abort()
  }
}

const FROZEN = 'SYSTEM_FROZEN'
const FROZEN_TEXT = `the gateway, the agent or the session was frozen during the reply; ${reasonOf(FROZEN)?.remedy ?? ''}`
