import type { Json } from '@tollgate/evidence'
import { isOpen, opensIn } from './hours.ts'
import { allowanceOf, isOver } from './limits.ts'
import { costOf } from '../../policy/cost.ts'
import type { Limit } from './settings.ts'
import type { Snapshot } from '../../road/snapshot.ts'
import { deny, escalate, type Gate, type Objection } from '../gate.ts'
import type { Allowances } from '../../ledger/session.ts'

/**
 * Objects to a call outside its hours, or over a burst, rate or budget. A rate of 20/h is a bucket of 20 calls that refills at 20
 * calls per hour. A denial takes precedence over an escalation.
 */
export const temporal: Gate = {
  name: 'temporal',
  standing({ gates: { temporal: settings } }) {
    return settings.limits.length + settings.hours.length > 0 ? 'active' : 'not configured'
  },
  check({ tool, args }, snapshot) {
    const { limits } = snapshot.policy.gates.temporal
    const closed = checkHours(tool, snapshot)
    if (closed) return closed
    let asks: Objection | undefined
    for (const limit of limits) {
      const objection = limit.tools.matches(tool) ? checkLimit(limit, tool, args, snapshot) : undefined
      if (objection?.verdict === 'DENY') return objection
      asks ??= objection
    }
    return asks
  },
}

function checkHours(tool: string, { policy, time }: Snapshot): Objection | undefined {
  const { hours } = policy.gates.temporal
  const closed = hours.find(({ tools, windows }) => tools.matches(tool) && !isOpen(windows, time))
  if (!closed) return undefined
  const opens = new Date(time + opensIn(closed.windows, time)).toISOString()
  return deny('OUTSIDE_HOURS', `\`${closed.name}\` opens at ${opens}`)
}

function checkLimit(limit: Limit, tool: string, args: Json, snapshot: Snapshot): Objection | undefined {
  const { name, scope, kind, of } = limit
  const amount = of === 'calls' ? 1 : costOf(snapshot.tool?.declared?.cost, args)
  if (amount === undefined) return deny('BUDGET_EXCEEDED', 'the cost of the call cannot be read')
  const over = isOver(limit, allowanceOf(limit, limitsOf(scope, snapshot), tool), snapshot.time, amount)
  if (over === false) return undefined
  const whose = scope === 'principal' ? `\`${name}\`` : `\`${name}\` for each ${scope}`
  const ends = `in ${over.wait} s, at ${new Date(snapshot.time + over.wait * 1000).toISOString()}`
  const text = kind === 'budget' ? budgetText(limit, amount, ends) : rateText(limit, ends)
  if (limit.then === 'ask') return escalate('TEMPORAL_INTERVENTION', `${whose} allows ${text}`)
  return deny(kind === 'budget' ? 'BUDGET_EXCEEDED' : 'RATE_EXCEEDED', `${whose} allows ${text}`)
}

/** Does not contain the cost of the call, because that may be an argument value. */
function budgetText(limit: Limit, amount: number, ends: string): string {
  const most = `${limit.of === 'cost' ? limit.calls / 1000 : limit.calls} in ${periodText(limit)}`
  return amount > limit.calls ? `${most}, and the call costs more` : `${most}; the next period begins ${ends}`
}

function rateText(limit: Limit, ends: string): string {
  return `${limit.calls} in ${periodText(limit)}; it allows the next call ${ends}`
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** A period as policies write it. */
function periodText({ period }: Limit): string {
  const [unit, length] = UNITS.find(([, each]) => period % each === 0) ?? ['ms', 1]
  return `${period / length}${unit}`
}

/** The remaining allowances of a scope. */
function limitsOf(scope: Limit['scope'], { session, principal, tenant }: Snapshot): Allowances {
  if (scope === 'session') return session.limits
  if (scope === 'principal') return principal.limits
  // The record is always read if the policy has such limits. If it is missing, the gate fails and the call is denied.
  if (!tenant) throw new TypeError('the record of the tenant was not read')
  return tenant.limits
}
