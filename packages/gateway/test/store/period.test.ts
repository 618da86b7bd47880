// Pages of a period, from a real ledger file, compared with a plain filter over all entries.

import { describe, expect, it } from 'vitest'
import type { Gateway } from '../../src/open.ts'
import type { EntryFilter, LedgerEntry, PageRequest } from '../../src/view.ts'
import { activate, ask, createSite } from '../gateway-rig.ts'

const timeOf = ({ payload }: LedgerEntry): number =>
  Date.parse((JSON.parse(Buffer.from(payload).toString()) as { time: string }).time)

/** The indexes of all pages. */
async function indexesOf(
  { view }: Gateway,
  filter: EntryFilter,
  direction: PageRequest['direction'],
  limit: number,
): Promise<number[]> {
  const indexes: number[] = []
  let from: number | undefined
  do {
    const page = await view.page({ filter, direction, limit, ...(from !== undefined && { from }) })
    indexes.push(...page.entries.map(({ index }) => index))
    from = page.next
  } while (from !== undefined)
  return indexes
}

describe('a period', () => {
  it('has the entries since its start and before its end, in both directions and pages of any size', async () => {
    const site = await createSite()
    const gateway = await site.open()
    await activate(gateway)
    for (const session of ['s1', 's2', 's3']) await ask(gateway, 'notes/write', {}, session)
    const { entries } = await gateway.view.page({ filter: {}, direction: 'on', limit: 100 })
    const times = entries.map(timeOf)
    const limits = [undefined, 0, ...new Set(times), Math.max(...times) + 1]
    for (const since of limits) {
      for (const until of limits) {
        const filter = { ...(since !== undefined && { since }), ...(until !== undefined && { until }) }
        const expected = entries
          .filter((_, i) => (times[i] ?? 0) >= (since ?? 0) && (times[i] ?? 0) < (until ?? Infinity))
          .map(({ index }) => index)
        for (const size of [1, 3, 100]) {
          expect(await indexesOf(gateway, filter, 'on', size)).toEqual(expected)
          expect(await indexesOf(gateway, filter, 'back', size)).toEqual([...expected].reverse())
        }
      }
    }
    await gateway.close()
  })
})
