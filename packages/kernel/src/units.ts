// Whole numbers that stand for fractions: a host's arithmetic must not change a verdict.

/** One, of risk: six decimal places. */
export const ONE = 1_000_000

/** One point of trust, four decimal places. */
export const POINT = 10_000
