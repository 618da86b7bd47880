// Limits and hours in the model. Shares only types with the kernel.

import { matches } from './model-glob.ts'
import type { ModelHours, ModelLimit, ModelPolicy } from './model-policy.ts'
import { fill, take, type Bucket } from './model-risk.ts'
import type { Amount } from './model-world.ts'

/** The remaining amount of each limit, by its name. */
export type Buckets = ReadonlyMap<string, Bucket>
export const FULL: Buckets = new Map()

/** A changed amount or period is another limit. Limits by tool have one name per tool. */
function nameOf({ kind, of, then, scope, calls, period, name }: ModelLimit, tool: string): string {
  return JSON.stringify([kind, of, then, scope, calls, period, name, scope === 'tool' ? tool : ''])
}

/** A budget resets with each period, counted from 1970. */
function budget({ calls, period }: ModelLimit, bucket: Bucket | undefined, time: number): Bucket {
  const begin = time - (time % period)
  return bucket?.at === begin ? bucket : { left: calls, at: begin }
}

/** Whether an amount exceeds the limit. */
export function isOver(
  limit: ModelLimit,
  buckets: Buckets,
  tool: string,
  time: number,
  amount: number,
): boolean {
  const bucket = buckets.get(nameOf(limit, tool))
  if (limit.kind === 'budget') return budget(limit, bucket, time).left < amount
  return fill(limit, bucket, time).left < amount * limit.period
}

/** The buckets after a call. Bursts count every call, rates and budgets only allowed ones. The same map if nothing changed. */
export function spend(
  limits: readonly ModelLimit[],
  buckets: Buckets,
  call: {
    readonly tool: string
    readonly time: number
    readonly passed: boolean
    readonly cost: number | undefined
  },
): Buckets {
  const { tool, time, passed, cost } = call
  let next = buckets
  for (const limit of limits) {
    const counts = matches(limit.tools, tool) && (passed || limit.kind === 'burst')
    // An unreadable cost uses the whole budget.
    const amount = limit.of === 'calls' ? 1 : (cost ?? limit.calls)
    if (!counts || amount === 0) continue
    const name = nameOf(limit, tool)
    const bucket = next.get(name)
    const { left, at } = budget(limit, bucket, time)
    const after =
      limit.kind === 'budget' ? { left: Math.max(0, left - amount), at } : take(limit, bucket, time)
    next = new Map([...next, [name, after]])
  }
  return next
}

/** The cost of a call in thousandths, rounded up; undefined if it cannot be read. */
export function costOf(cost: number | 'amount' | undefined, amount: Amount | undefined): number | undefined {
  if (cost === undefined) return 0
  if (cost !== 'amount') return thousandths(cost)
  if (typeof amount === 'number') return thousandths(amount)
  if (amount === undefined || typeof amount === 'string' || amount.length === 0) return undefined
  const costs = amount.map(thousandths)
  return costs.reduce((sum, each) => (sum === undefined || each === undefined ? undefined : sum + each), 0)
}

/** Computed from the decimal digits. */
function thousandths(amount: number): number | undefined {
  if (amount < 0) return undefined
  const [whole = '', places = ''] = String(amount).split('.')
  const [kept, rest] = [places.padEnd(3, '0').slice(0, 3), places.slice(3)]
  return Number(BigInt(whole + kept)) + (/[1-9]/.test(rest) ? 1 : 0)
}

const MINUTE = 60_000

/** Whether it is open, by local day and minute. */
export function isOpen({ days, from, to, offset }: ModelHours, time: number): boolean {
  const there = new Date(time + offset * MINUTE)
  const today = (there.getUTCDay() + 6) % 7
  const minute = there.getUTCHours() * 60 + there.getUTCMinutes()
  const [isToday, wasYesterday] = [days.includes(today), days.includes((today + 6) % 7)]
  if (from < to) return isToday && from <= minute && minute < to
  return (isToday && minute >= from) || (wasYesterday && minute < to)
}

/** Whether all principals of a tenant share some limits. */
export function sharesLimits({ limits }: ModelPolicy): boolean {
  return limits.some(({ scope }) => scope === 'tool' || scope === 'tenant')
}
