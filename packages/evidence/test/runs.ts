// The number of runs of a property test: a tenth in `npm test`, all in `npm run test:deep`.

/** The number of runs of a property. The seed is fixed, so the tenth is the same each time. */
export function runs(all: number): number {
  return process.env.TOLLGATE_RUNS === 'all' ? all : Math.ceil(all / 10)
}
