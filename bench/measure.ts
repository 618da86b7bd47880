// Measures work compared with a floor, in the same run and in short alternating rounds, so that other load affects both
// equally.

/** Whether this run only checks that the benchmark works. Its numbers mean nothing. */
const TINY = process.argv.includes('--tiny')

/** A size, or its value with `--tiny`. */
export function sized(full: number, tiny: number): number {
  return TINY ? tiny : full
}

/** With `--tiny`, the first few items per key; otherwise all. */
export function someOf<T>(all: readonly T[], keyOf: (each: T) => string): readonly T[] {
  const seen = new Map<string, number>()
  return all.filter((each) => {
    const before = seen.get(keyOf(each)) ?? 0
    seen.set(keyOf(each), before + 1)
    return before < sized(Infinity, 1)
  })
}

export interface Row {
  readonly area: string
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The value to compare with, in the same unit; null if there is none. */
  readonly floor: number | null
  /** value ÷ floor, or floor ÷ value if more is better. */
  readonly ratio: number | null
  /** The target as text. */
  readonly target: string
  readonly pass: boolean
}

export type Work = (round: number) => unknown

export interface Rounds {
  readonly rounds: number
  /** Calls per round. */
  readonly calls: number
  /** Warm-up rounds: longer code paths need more. */
  readonly warm?: number
  /** Cleans up after a round; not timed. */
  readonly between?: () => Promise<unknown>
}

/** Microseconds per call of `work` and of `floor`: medians over alternating rounds. */
export async function beside(
  work: Work,
  floor: Work,
  { rounds, calls, warm = 1, between }: Rounds,
): Promise<{ readonly work: number; readonly floor: number; readonly ratio: number }> {
  await time(floor, calls)
  for (let i = 0; i < warm; i++) {
    await time(work, calls)
    await between?.()
  }
  const pairs: { work: number; floor: number }[] = []
  for (let i = 0; i < rounds; i++) {
    pairs.push({ floor: await time(floor, calls), work: await time(work, calls) })
    await between?.()
  }
  return {
    work: median(pairs.map((pair) => pair.work)),
    floor: median(pairs.map((pair) => pair.floor)),
    ratio: median(pairs.map((pair) => pair.work / pair.floor)),
  }
}

/** Seconds that `work` takes, once. */
export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began = process.hrtime.bigint()
  await work()
  return Number(process.hrtime.bigint() - began) / 1e9
}

async function time(work: Work, calls: number): Promise<number> {
  const began = process.hrtime.bigint()
  for (let i = 0; i < calls; i++) {
    const result = work(i)
    if (result instanceof Promise) await result
  }
  return Number(process.hrtime.bigint() - began) / 1e3 / calls
}

/** The value at a quantile. */
export function quantile(values: Float64Array, share: number): number {
  return values.toSorted()[Math.floor(values.length * share)] ?? NaN
}

/** The median. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? NaN
}
