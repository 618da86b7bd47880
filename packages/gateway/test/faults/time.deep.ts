import { afterEach, it, vi } from 'vitest'
import { checkCopies, checkJumps, HOUR, YEAR } from './time.ts'

afterEach(() => {
  vi.useRealTimers()
})

it('a wrong clock never sets the ledger back in time', async () => {
  const start = Date.now()
  await checkJumps(start, [0, -HOUR, -YEAR, HOUR, -start, 10 * YEAR, 0, -1, 10 * YEAR + 1])
})

it('an older copy of a ledger is refused at every point', async () => {
  await checkCopies(8)
})
