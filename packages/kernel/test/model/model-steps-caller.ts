// The steps of the model that check the caller and the time: delegation, risk, trust, privilege, temporal.

import { covers, holds, isDelegateOnly } from './model-delegation.ts'
import { matches } from './model-glob.ts'
import { costOf, FULL, isOpen, isOver } from './model-limits.ts'
import { signalOf } from './model-risk.ts'
import { ruleFor } from './model-ladder.ts'
import { isLatched, isOften, paidBefore } from './model-history.ts'
import { reachesTier, reachesTrust } from './model-trust.ts'
import { ask, deny, worst, type StepResult } from './model-results.ts'
import type { State } from './model.ts'

export function askDelegation({
  call,
  policy,
  chain,
  effect,
  time,
  isFrozen,
}: State): StepResult | undefined {
  if (call.delegation === undefined) {
    const alone = call.principal !== undefined && isDelegateOnly(policy, call.principal)
    return alone ? deny('DELEGATION_INVALID') : undefined
  }
  if (!holds(chain, call.principal, { policy, time, frozen: isFrozen })) return deny('DELEGATION_INVALID')
  return covers(chain ?? [], call, effect) ? undefined : deny('DELEGATION_SCOPE_VIOLATION')
}
export function askRisk(state: State): StepResult | undefined {
  const { broken, acts, hosts, tooRisky, seen, score, policy, answers, time } = state
  if (broken.length > 0 && (acts || hosts.length > 0)) return deny('STATE_MISMATCH')
  if (tooRisky) return deny('SESSION_RISK_MEMORY_DENY')
  const drips = state.drips.some((to) => isOften(answers.history, to, time))
  if (!seen && !drips) return undefined
  const isGrey = seen && signalOf(seen.axes) > 80_000 && score >= policy.risk.ask
  if (seen && !seen.grave && !isGrey && !isSplit(state)) return undefined
  return isLatched(answers.history, time)
    ? deny('SESSION_RISK_MEMORY_DENY')
    : ask('SESSION_RISK_APPROVAL_REQUIRED')
}
/** Whether the payee was paid before, and a rule does not allow the call. */
function isSplit(state: State): boolean {
  const { effect, seen, answers, tool, call, time } = state
  if (effect !== 'pay' || tool?.cost !== 'amount' || costOf('amount', call.amount) === undefined) return false
  const before = seen?.unnamed.some((to) => paidBefore(answers.history, to, time) !== undefined)
  const action = ruleFor(state)?.action
  return before === true && action !== undefined && action !== 'allow'
}
/** Whether the trust is too low for the class, declared or guessed. */
export function lacksTrust({ policy: { trust: settings }, trust, effect, time }: State): boolean {
  const needed = settings?.needs[effect]
  return settings !== undefined && needed !== undefined && !reachesTrust(trust, time, settings, needed)
}
/** Whether the tier is too low for the class, declared or guessed. */
export function lacksTier({ policy: { privilege }, tier, effect }: State): boolean {
  const needed = privilege?.needs[effect]
  return needed !== undefined && !reachesTier(tier, needed)
}
export function askTrust(state: State): StepResult | undefined {
  return state.tool && lacksTrust(state) ? deny('TRUST_INSUFFICIENT') : undefined
}
export function askPrivilege(state: State): StepResult | undefined {
  const { policy, effect } = state
  const { privilege } = policy
  const needed = privilege?.needs[effect]
  if (!state.tool || !privilege || !needed || !lacksTier(state)) return undefined
  const { elevation } = privilege
  return elevation && reachesTier(elevation.upTo, needed)
    ? ask('ELEVATION_REQUIRED', needed)
    : deny('INSUFFICIENT_PRIVILEGE')
}

export function askTemporal({
  call,
  policy,
  session,
  principal,
  tenant,
  tool,
  time,
}: State): StepResult | undefined {
  const hours = policy.hours.filter(({ tools }) => matches(tools, call.tool))
  if (hours.some((each) => !isOpen(each, time))) return deny('OUTSIDE_HOURS')
  const cost = costOf(tool?.cost, call.amount)
  const words = policy.limits.flatMap((limit): StepResult[] => {
    const { scope, kind, of, then, tools } = limit
    if (!matches(tools, call.tool)) return []
    const amount = of === 'calls' ? 1 : cost
    const shared = tenant?.limits ?? FULL
    const left = scope === 'session' ? session.limits : scope === 'principal' ? principal.limits : shared
    if (amount !== undefined && !isOver(limit, left, call.tool, time, amount)) return []
    if (then === 'ask') return [ask('TEMPORAL_INTERVENTION')]
    return [deny(kind === 'budget' ? 'BUDGET_EXCEEDED' : 'RATE_EXCEEDED')]
  })
  return worst(words)
}
