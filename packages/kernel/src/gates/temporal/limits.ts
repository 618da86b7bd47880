// Computes rates, bursts and budgets. A rate is a bucket that refills continuously. A budget resets with each period. Integers only.

import type { Limit } from './settings.ts'
import { refilled, taken } from '../../rates.ts'
import type { Allowance, Allowances } from '../../ledger/session.ts'

/** The maximum number of stored allowances. Beyond it, new tools share one allowance. */
const MAX_KEPT = 256

/**
 * The name under which the allowance of a limit is stored. Limits by tool have one name per tool. Another amount or period is another
 * limit. Parts contain no line breaks, so names are unique.
 */
export function limitName(limit: Limit, tool: string): string {
  return limit.scope === 'tool' ? `${headOf(limit)}\n${tool}` : headOf(limit)
}

// Cached, because every call needs these names.
const heads = new WeakMap<Limit, string>()

function headOf(limit: Limit): string {
  let head = heads.get(limit)
  if (head === undefined) {
    const { kind, of, then, scope, calls, period, name } = limit
    head = `${kind} ${of} ${then} ${scope} ${calls}/${period} ${name}`
    heads.set(limit, head)
  }
  return head
}

/** The stored allowance of a limit for a tool; undefined if it is unused. */
export function allowanceOf(limit: Limit, kept: Allowances, tool: string): Allowance | undefined {
  return kept[keptAs(limit, kept, tool)]
}

/** The name for this tool, or the shared name if the record is full. The shared name has an empty tool, which no real tool has. */
function keptAs(limit: Limit, kept: Allowances, tool: string): string {
  const own = limitName(limit, tool)
  if (limit.scope !== 'tool' || Object.hasOwn(kept, own)) return own
  const shared = limitName(limit, '')
  return Object.hasOwn(kept, shared) || Object.keys(kept).length >= MAX_KEPT ? shared : own
}

/** The remaining amount of a limit that is not by tool: calls, or thousandths of a unit of cost. */
export function leftOf(limit: Limit, kept: Allowances, time: number): number {
  const allowance = kept[limitName(limit, '')]
  if (limit.kind === 'budget') return remaining(limit, allowance, time).left
  return Math.floor(refilled(limit, allowance, time).left / limit.period)
}

/** Whether an amount exceeds the limit. If so, `wait` is the number of seconds until more is available. */
export function isOver(
  limit: Limit,
  allowance: Allowance | undefined,
  time: number,
  amount: number,
): false | { readonly wait: number } {
  const { calls, period } = limit
  if (limit.kind === 'budget') {
    const { left, at } = remaining(limit, allowance, time)
    return left >= amount ? false : { wait: Math.ceil((at + period - time) / 1000) }
  }
  const { left } = refilled(limit, allowance, time)
  const missing = amount * period - left
  return missing <= 0 ? false : { wait: Math.ceil(missing / calls / 1000) }
}

/** The allowance after an amount was taken, never below zero. */
export function spent(
  limit: Limit,
  allowance: Allowance | undefined,
  time: number,
  amount: number,
): Allowance {
  if (limit.kind !== 'budget') return taken(limit, allowance, time, amount)
  const { left, at } = remaining(limit, allowance, time)
  return { left: Math.max(0, left - amount), at }
}

/** The remaining budget. Periods count from the epoch, so a day ends at midnight UTC. */
function remaining({ calls, period }: Limit, allowance: Allowance | undefined, time: number): Allowance {
  const at = Math.floor(time / period) * period
  // A clock that moves backwards does not start a new period.
  return allowance && allowance.at >= at ? allowance : { left: calls, at }
}

/** The amount that a call takes from its limits. */
interface Spending {
  readonly passed: boolean
  /** In thousandths; undefined if it cannot be read. */
  readonly cost: number | undefined
}

/**
 * The allowances of one scope after a call; `before` itself if nothing changed. Every call counts for bursts, only allowed calls count
 * for rates and budgets. Once the record is full, allowances that are unused or no longer in the policy are removed, so that invented
 * tool names cannot fill it.
 */
export function nextLimits(
  limits: readonly Limit[],
  before: Allowances,
  tool: string,
  time: number,
  spending: Spending,
): Allowances {
  let next: Record<string, Allowance> | undefined
  for (const limit of limits) {
    const amount = limit.tools.matches(tool) ? amountOf(limit, spending) : 0
    if (amount === 0) continue
    next ??= copied(limits, before, time)
    const name = keptAs(limit, next, tool)
    next[name] = spent(limit, next[name], time, amount)
  }
  return next ?? before
}

function amountOf({ kind, of, calls }: Limit, { passed, cost }: Spending): number {
  if (!passed && kind !== 'burst') return 0
  // A call with an unreadable cost is denied. If it were allowed, it would use the whole budget.
  return of === 'calls' ? 1 : (cost ?? calls)
}

function copied(limits: readonly Limit[], before: Allowances, time: number): Record<string, Allowance> {
  const entries = Object.entries(before)
  if (entries.length < MAX_KEPT) return { ...before }
  const byHead = new Map(limits.map((limit) => [headOf(limit), limit]))
  return Object.fromEntries(
    entries.filter(([name, allowance]) => {
      const limit = byHead.get(name.split('\n', 1)[0] ?? '')
      return limit !== undefined && !isFull(limit, allowance, time)
    }),
  )
}

function isFull(limit: Limit, allowance: Allowance, time: number): boolean {
  const { calls, period, kind } = limit
  if (kind === 'budget') return remaining(limit, allowance, time).left === calls
  return refilled(limit, allowance, time).left === calls * period
}
