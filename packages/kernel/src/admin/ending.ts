// Ends a request before its time, because the caller no longer waits for its call.

import { canonicalize } from '@tollgate/evidence'
import { requestName, statusOf } from './approvals.ts'
import type { Kernel } from '../kernel.ts'

/**
 * Ends a request that waits for an answer. It then counts as expired without an answer: the same call opens a new one. It still counts
 * against the limit of requests, so that a caller cannot ask without end. Does nothing if the request does not wait.
 */
export async function endRequest(kernel: Kernel, id: string): Promise<void> {
  await kernel.ledger.append({
    reserved: true,
    run: (turn) => {
      const request = kernel.approvals.find({ id })
      if (!request || statusOf(request, turn.time) !== 'waiting') return
      const opened = request.until - request.lasts
      const until = turn.time - 1
      const ended = { ...request, until, lasts: Math.max(0, until - opened) }
      turn.put(requestName(id), canonicalize(ended))
      kernel.approvals.set(ended)
    },
  })
}
