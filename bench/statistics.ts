// Shares with Clopper–Pearson intervals, and McNemar's test for paired sessions.

/** A share with its exact 95 % interval. */
export interface Share {
  readonly count: number
  readonly of: number
  readonly low: number
  readonly high: number
}

const TAIL = 0.025

/** The share and its Clopper–Pearson interval. */
export function shareOf(count: number, of: number): Share {
  return {
    count,
    of,
    low: count === 0 ? 0 : solve((p) => 1 - binomialUpTo(count - 1, of, p) - TAIL),
    high: count === of ? 1 : solve((p) => TAIL - binomialUpTo(count, of, p)),
  }
}

/** The root of an increasing function between 0 and 1. */
function solve(grows: (p: number) => number): number {
  let [low, high] = [0, 1]
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2
    if (grows(middle) > 0) high = middle
    else low = middle
  }
  return (low + high) / 2
}

/** The probability of at most `most` successes in `of` trials with probability p. */
function binomialUpTo(most: number, of: number, p: number): number {
  if (p <= 0) return 1
  if (p >= 1) return most >= of ? 1 : 0
  let logTerm = of * Math.log1p(-p)
  let sum = Math.exp(logTerm)
  for (let k = 1; k <= most; k++) {
    logTerm += Math.log(of - k + 1) - Math.log(k) + Math.log(p) - Math.log1p(-p)
    sum += Math.exp(logTerm)
  }
  return Math.min(1, sum)
}

/**
 * Two methods on the same sessions: how many only one of them caught, and the probability of that by chance (exact,
 * two-sided).
 */
export interface Paired {
  readonly onlyFirst: number
  readonly onlySecond: number
  readonly p: number
}

/** McNemar's test on pairs of outcomes. */
export function mcnemar(first: readonly boolean[], second: readonly boolean[]): Paired {
  const onlyFirst = first.filter((caught, i) => caught && !second[i]).length
  const onlySecond = second.filter((caught, i) => caught && !first[i]).length
  const [few, all] = [Math.min(onlyFirst, onlySecond), onlyFirst + onlySecond]
  return { onlyFirst, onlySecond, p: all === 0 ? 1 : Math.min(1, 2 * binomialUpTo(few, all, 0.5)) }
}
