// Fixed-point units. Integers keep verdicts independent of the floating-point arithmetic of a platform.

/** 1.0 of risk, with six decimal places. */
export const ONE = 1_000_000

/** One point of trust, with four decimal places. */
export const POINT = 10_000
