// Compares the time of long and short texts in a way that a busy machine does not change.

/**
 * How many times longer one run of `long` takes than `times` runs of `short`, which are as much work if the time is linear. Both
 * last equally long, so a busy machine interrupts them alike; the best of each counts. Tries again while it is over the limit.
 */
export function paceRatio(short: () => void, long: () => void, times: number, limit: number): number {
  const best = { short: Infinity, long: Infinity }
  const ratio = (): number => best.long / best.short
  for (let attempt = 0; attempt < 3 || (attempt < 30 && ratio() > limit); attempt++) {
    best.long = Math.min(best.long, timeOf(long))
    best.short = Math.min(
      best.short,
      timeOf(() => {
        for (let run = 0; run < times; run++) short()
      }),
    )
  }
  return ratio()
}

function timeOf(run: () => void): number {
  const began = performance.now()
  run()
  return performance.now() - began
}
