// Rates: a bucket that holds so many calls and refills at that rate. Whole numbers only.

import type { Allowance } from './ledger/session.ts'

/** How many calls in how many milliseconds. */
export interface Pace {
  readonly calls: number
  readonly period: number
}

/** What is left of a rate now. Counted in calls × milliseconds: a call costs the period, a millisecond brings the calls. */
export function refilled({ calls, period }: Pace, allowance: Allowance | undefined, time: number): Allowance {
  const full = calls * period
  if (!allowance) return { left: full, at: time }
  const elapsed = Math.max(0, time - allowance.at)
  // Past a whole period it is full, however long ago that was.
  const left = elapsed >= period ? full : Math.min(full, allowance.left + elapsed * calls)
  return { left, at: time }
}

/** What is left once one more call, or so many of them, was taken, never below nothing. */
export function taken(pace: Pace, allowance: Allowance | undefined, time: number, calls = 1): Allowance {
  const { left, at } = refilled(pace, allowance, time)
  return { left: Math.max(0, left - calls * pace.period), at }
}
