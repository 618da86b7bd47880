// How things are measured here: always beside a floor, in the same run, in short alternating rounds, so that a noisy
// machine slows both alike.

/** Whether this run only shows that the benchmark works: its numbers mean nothing. */
const TINY = process.argv.includes('--tiny')

/** A size of a measurement, and the one it has with `--tiny`. */
export function sized(full: number, tiny: number): number {
  return TINY ? tiny : full
}

/** The first few for each key with `--tiny`; otherwise all of them. */
export function someOf<T>(all: readonly T[], keyOf: (each: T) => string): readonly T[] {
  const seen = new Map<string, number>()
  return all.filter((each) => {
    const before = seen.get(keyOf(each)) ?? 0
    seen.set(keyOf(each), before + 1)
    return before < sized(Infinity, 1)
  })
}

/** One line of the table. */
export interface Row {
  readonly area: string
  readonly name: string
  readonly value: number
  readonly unit: string
  /** What the value is compared with, in the same unit; null if it stands alone. */
  readonly floor: number | null
  /** value ÷ floor, or floor ÷ value where more is better. */
  readonly ratio: number | null
  /** What was aimed at, in words. */
  readonly target: string
  readonly pass: boolean
}

/** Something to be timed. */
export type Work = (round: number) => unknown

/** How something is timed. */
export interface Rounds {
  readonly rounds: number
  /** Calls in a round. */
  readonly calls: number
  /** Rounds before the first that counts: the engine takes longer to get used to longer roads. */
  readonly warm?: number
  /** Clears up after a round; not timed. */
  readonly between?: () => Promise<unknown>
}

/** Microseconds for each call of `work` and of `floor`: the medians over alternating rounds. */
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

/** The value below which this share of the values lies. */
export function quantile(values: Float64Array, share: number): number {
  return values.toSorted()[Math.floor(values.length * share)] ?? NaN
}

/** The middle one. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? NaN
}
