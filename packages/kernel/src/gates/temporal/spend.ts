// Deducts a decided call from the limits of a record.

import { costOf } from '../../policy/cost.ts'
import type { Intent } from '../../road/capture.ts'
import type { Settled } from '../../road/settle.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import type { Spend } from '../detectors.ts'
import { isRejectedQuestion } from '../gate.ts'
import { nextLimits } from './limits.ts'
import type { Limit, TemporalSettings } from './settings.ts'

/** The function that deducts a call from the limits of a scope. The record of a tenant also contains the limits by tool. */
export function spendingOf(intent: Intent, { policy, tool: known, time }: Snapshot, settled: Settled): Spend {
  const { tool, args } = intent
  const { limits } = policy.gates.temporal
  if (limits.length === 0 || isRejectedQuestion(intent, settled)) return (_, before) => before
  const passed = settled.verdict === 'ALLOW'
  const cost = passed ? costOf(known?.declared?.cost, args) : 0
  return (scope, before) => {
    const own = ownLimits(policy.gates.temporal, scope)
    return own.length === 0 ? before : nextLimits(own, before, tool, time, { passed, cost })
  }
}

const grouped = new WeakMap<TemporalSettings, Map<string, readonly Limit[]>>()

/** The limits that a record contains, cached for each policy. */
function ownLimits(settings: TemporalSettings, scope: string): readonly Limit[] {
  const known = grouped.get(settings) ?? new Map<string, readonly Limit[]>()
  if (known.size === 0) grouped.set(settings, known)
  let own = known.get(scope)
  if (!own) {
    own = settings.limits.filter((limit) => (limit.scope === 'tool' ? 'tenant' : limit.scope) === scope)
    known.set(scope, own)
  }
  return own
}
