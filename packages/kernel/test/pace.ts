// Compares the run times of long and short texts, independent of the load of the machine.

/**
 * Returns how many times longer one run of `long` takes than `times` runs of `short`, which is the same work if the time is linear.
 * Both take equally long, so the load affects them alike, and the best run counts. Tries again while the result is over the limit.
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
