// How often a property is tried: `npm test` takes a quarter of the runs, `npm run test:deep` all of them.

/** The runs of a property. Its seed is fixed, so the quarter is the same each time. */
export function runs(all: number): number {
  return process.env.TOLLGATE_RUNS === 'all' ? all : Math.ceil(all / 4)
}
