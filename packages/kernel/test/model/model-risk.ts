// The arithmetic of risk and rates in the model. Shares only types with the kernel.

import type { Axes, RiskSettings } from '../../src/gates/session-risk/risk.ts'

const ONE = 1_000_000

/** A sum that decays with time. */
export interface Leak {
  readonly sum: number
  readonly at: number
  readonly turns: number
}
/** A number of calls per period in milliseconds. */
export interface Pace {
  readonly calls: number
  readonly period: number
}
/** The rest of a pace, in calls × milliseconds to avoid rounding. */
export interface Bucket {
  readonly left: number
  readonly at: number
}

/** a × b / c, rounded down, also below zero. */
function share(a: number, b: number, c: number): number {
  const product = BigInt(a) * BigInt(b)
  return Number(product / BigInt(c)) - (product % BigInt(c) < 0n ? 1 : 0)
}

/** The sum at a time: halved every half-life, linear in between. */
function leftOf({ sum, at }: Leak, time: number, halfLife: number): number {
  let elapsed = time - at
  for (; elapsed >= halfLife && sum > 0; elapsed -= halfLife) sum = share(sum, 1, 2)
  return sum === 0 ? 0 : share(sum, 2 * halfLife - elapsed, 2 * halfLife)
}

function grow(leak: Leak, signal: number, time: number, halfLife: number): Leak {
  const added = share(signal - 80_000, 1, 5)
  const left = leftOf(leak, time, halfLife)
  if (added <= 0) return leak
  return { sum: Math.min(ONE, left + added), at: time, turns: left === 0 ? 1 : leak.turns + 1 }
}

/** The sum after an approval: halved. */
export function ease(leak: Leak, time: number, halfLife: number): Leak {
  return { ...leak, sum: share(leftOf(leak, time, halfLife), 1, 2), at: time }
}

/** The highest axis plus half of the others. */
export function signalOf({ exfiltration, privilege, compliance }: Axes): number {
  const worst = Math.max(exfiltration, privilege, compliance)
  return Math.min(ONE, worst + share(exfiltration + privilege + compliance - worst, 1, 2))
}

interface Remembered {
  readonly average: number
  readonly leak: Leak
}

/** The result of one more turn. */
export interface Weighed {
  readonly average: number
  readonly own: Leak
  /** The sums of the principal, and of its first delegator if there is one. */
  readonly carried: readonly Leak[]
  readonly score: number
  readonly tooRisky: boolean
}

/** In a session with a generated id, the risk of the principal counts in full. */
export const riskOf = (
  { id }: { readonly id: string },
  { risk }: { readonly risk: RiskSettings },
): RiskSettings => (id.startsWith('mcp:') ? { ...risk, carry: ONE } : risk)

/** The session and carried sums after one more turn (if `axes` is given), and their score. */
export function weigh(
  session: Remembered,
  leaks: readonly Leak[],
  axes: Axes | undefined,
  time: number,
  { threshold, window, baseline, halfLife, carry }: RiskSettings,
): Weighed {
  const signal = axes ? signalOf(axes) : 0
  const step = share(Math.max(0, signal - baseline) - session.average, 2, window + 1)
  const average = session.average + (axes ? step : 0)
  const own = grow(session.leak, signal, time, halfLife)
  const carried = leaks.map((leak) => grow(leak, signal, time, halfLife))
  const ownScore = Math.max(average, leftOf(own, time, halfLife))
  const inherited = carried.map((leak) => share(leftOf(leak, time, halfLife), carry, ONE))
  const tooRisky =
    (ownScore >= threshold && own.turns > 1) ||
    carried.some(({ turns }, i) => (inherited[i] ?? 0) >= threshold && turns > 1)
  return { average, own, carried, score: Math.max(ownScore, ...inherited), tooRisky }
}

/** A bucket that refills evenly. A new bucket is full. */
export function fill({ calls, period }: Pace, bucket: Bucket | undefined, time: number): Bucket {
  const full = calls * period
  return { left: bucket ? Math.min(full, bucket.left + (time - bucket.at) * calls) : full, at: time }
}

/** The bucket after one call. */
export function take(pace: Pace, bucket: Bucket | undefined, time: number): Bucket {
  return { left: Math.max(0, fill(pace, bucket, time).left - pace.period), at: time }
}
