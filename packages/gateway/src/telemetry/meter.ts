// The meter of the kernel: counts every call of every door, records a span for it, and writes it into the decision log.

import { performance } from 'node:perf_hooks'
import type { Host } from '@tollgate/kernel'
import { callSpan } from './call-span.ts'
import type { DecisionLog } from './decision-log.ts'
import type { Metrics } from './metrics.ts'
import type { Tracer } from './tracer.ts'

/** The meter of the kernel, and a call as it sees it. */
export type CallMeter = NonNullable<Host['meter']>
export type SeenCall = Parameters<CallMeter['decided']>[0]

/** Creates the meter. A call that the gateway runs has one span, until its effect; every other call one until its decision. */
export function createMeter(
  metrics: Metrics,
  tracer?: Pick<Tracer, 'record'>,
  decisions?: Pick<DecisionLog, 'decided' | 'effect'>,
): CallMeter {
  const zero = performance.timeOrigin
  return {
    clock: () => performance.now(),
    decided(call) {
      metrics.decided(call)
      decisions?.decided(call)
      const runsHere = call.assurance === 'enforced' && call.decided.verdict === 'ALLOW'
      if (!runsHere) tracer?.record(callSpan(call, { ended: call.recorded, zero }))
    },
    ended(call, status) {
      tracer?.record(callSpan(call, { ended: performance.now(), zero, status }))
    },
    effect(status, reportedBy, decision) {
      metrics.effect(status, reportedBy, decision)
      decisions?.effect({ decision, status, reported_by: reportedBy })
    },
  }
}
