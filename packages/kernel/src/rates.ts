// Rates as token buckets. All arithmetic uses integers.

import type { Allowance } from './ledger/session.ts'

/** A number of calls per number of milliseconds. */
export interface Pace {
  readonly calls: number
  readonly period: number
}

/** Returns the allowance at a time. The unit is calls × milliseconds: a call costs `period`, a millisecond adds `calls`. */
export function refilled({ calls, period }: Pace, allowance: Allowance | undefined, time: number): Allowance {
  const full = calls * period
  if (!allowance) return { left: full, at: time }
  const elapsed = Math.max(0, time - allowance.at)
  // After a whole period the bucket is full. The check also prevents overflow.
  const left = elapsed >= period ? full : Math.min(full, allowance.left + elapsed * calls)
  return { left, at: time }
}

/** Returns the allowance after `calls` more calls, never below zero. */
export function taken(pace: Pace, allowance: Allowance | undefined, time: number, calls = 1): Allowance {
  const { left, at } = refilled(pace, allowance, time)
  return { left: Math.max(0, left - calls * pace.period), at }
}
