// Records the requests that a guarded browser was not allowed to send.

import type { Blocked } from '@tollgate/evidence'
import type { Kernel } from '../kernel.ts'
import type { Appended } from '../ledger/ledger.ts'
import { isFull } from '../ledger/storage.ts'

/** The blocked requests of one page load, or of several. */
interface BlockedRequests extends Pick<
  Blocked,
  'principal' | 'session' | 'page_host' | 'pages' | 'hosts' | 'requests' | 'more' | 'types'
> {
  readonly tenant: string
}

/**
 * Records blocked requests in one receipt. They change no risk, trust, rate or quota of the principal: a page sent them. Only the
 * bytes count for its storage. Returns undefined, and records nothing, if the storage of the principal is used up.
 *
 * @throws KernelError `LEDGER_POISONED`, `LEDGER_FULL`.
 */
export async function recordBlocked(
  kernel: Kernel,
  requests: BlockedRequests,
): Promise<Appended | undefined> {
  return kernel.ledger.append({
    run: (turn) => {
      if (isFull(kernel, requests, turn.time)) return undefined
      const appended = turn.append({}, (header): Blocked => ({ ...header, kind: 'blocked', ...requests }))
      kernel.storage.charge(requests, turn, turn.written)
      return appended
    },
  })
}
