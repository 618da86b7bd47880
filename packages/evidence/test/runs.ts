// The number of runs of a property test: a quarter in `npm test`, all in `npm run test:deep`.

/** The number of runs of a property. The seed is fixed, so the quarter is the same each time. */
export function runs(all: number): number {
  return process.env.TOLLGATE_RUNS === 'all' ? all : Math.ceil(all / 4)
}
