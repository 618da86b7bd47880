// Limits: rates, bursts and budgets. A rate is a bucket that refills as time goes by; a budget is new with each period. Whole numbers only.

import type { Limit } from './settings.ts'
import { refilled, taken } from '../../rates.ts'
import type { Allowance, Allowances } from '../../ledger/session.ts'

/** So many are kept; past that, tools without one of their own share one. */
const MOST_KEPT = 256

/**
 * Under what name it is kept what is left of a limit; by tool for those that count by tool. Another pace is another
 * limit. Names hold no line breaks, so no two limits have the same.
 */
export function limitName(limit: Limit, tool: string): string {
  return limit.scope === 'tool' ? `${headOf(limit)}\n${tool}` : headOf(limit)
}

// A policy has few limits, and every call asks for their names.
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

/** What is left of a limit for a tool; undefined if it is all there. */
export function allowanceOf(limit: Limit, kept: Allowances, tool: string): Allowance | undefined {
  return kept[keptAs(limit, kept, tool)]
}

/** The tool's own name, unless there is no room for it. No tool has an empty name: that is the one they share. */
function keptAs(limit: Limit, kept: Allowances, tool: string): string {
  const own = limitName(limit, tool)
  if (limit.scope !== 'tool' || Object.hasOwn(kept, own)) return own
  const shared = limitName(limit, '')
  return Object.hasOwn(kept, shared) || Object.keys(kept).length >= MOST_KEPT ? shared : own
}

/** What is left of a limit that does not go by tool, in its own unit: calls, or thousandths of a unit of cost. */
export function leftOf(limit: Limit, kept: Allowances, time: number): number {
  const allowance = kept[limitName(limit, '')]
  if (limit.kind === 'budget') return remaining(limit, allowance, time).left
  return Math.floor(refilled(limit, allowance, time).left / limit.period)
}

/** Whether so much more is too much now, and then in how many seconds there is more to take. */
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

/** What is left once so much was taken, never below nothing. */
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

/** What is left of a budget. Periods are counted from the epoch, so that a day ends at midnight in UTC. */
function remaining({ calls, period }: Limit, allowance: Allowance | undefined, time: number): Allowance {
  const at = Math.floor(time / period) * period
  // A clock that went back does not bring a new period.
  return allowance && allowance.at >= at ? allowance : { left: calls, at }
}

/** What a call comes to, for its limits. */
interface Spending {
  readonly passed: boolean
  /** In thousandths; undefined if it cannot be read. */
  readonly cost: number | undefined
}

/**
 * What is left of the limits of one scope after a call: the very same if nothing was taken. Every call is taken from
 * bursts, only those that pass from rates and budgets. Once there are many, what is full again or no longer in the
 * policy is forgotten, so that invented names of tools cannot fill the record.
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
  // A cost that cannot be read does not pass; if it did, it would take all there is.
  return of === 'calls' ? 1 : (cost ?? calls)
}

function copied(limits: readonly Limit[], before: Allowances, time: number): Record<string, Allowance> {
  const entries = Object.entries(before)
  if (entries.length < MOST_KEPT) return { ...before }
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
