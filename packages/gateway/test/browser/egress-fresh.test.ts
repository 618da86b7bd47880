// An answer that is shared was never read before the question.

import { expect, test } from 'vitest'
import { fresh } from '../../src/browser/egress/fresh.ts'

test('callers share a reading that began after their call, also after one that failed', async () => {
  const readings: { give: (n: number) => void; fail: () => void }[] = []
  const ask = fresh(
    () => new Promise<number>((give, no) => readings.push({ give, fail: () => no(new Error('failed')) })),
  )
  const first = ask()
  const [second, third] = [ask(), ask()]
  expect(readings).toHaveLength(1)
  readings[0]?.fail()
  await expect(first).rejects.toThrow('failed')
  await expect.poll(() => readings.length).toBe(2)
  readings[1]?.give(2)
  expect(await Promise.all([second, third])).toEqual([2, 2])
  const fourth = ask()
  expect(readings).toHaveLength(3)
  readings[2]?.give(3)
  expect(await fourth).toBe(3)
})
