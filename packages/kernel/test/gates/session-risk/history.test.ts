import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import {
  answered,
  isLatched,
  latched,
  NO_HISTORY,
  paidBefore,
  paidTo,
  refused,
  sentTo,
  storedAway,
  isApprovalFatigue,
  historyText,
  type RiskHistory,
} from '../../../src/gates/session-risk/history.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** People answer so many questions, at this pace. */
function answering(count: number, pace: number): RiskHistory {
  let watch = NO_HISTORY
  for (let i = 0; i < count; i++) watch = answered(watch, DAY + i * pace)
  return watch
}

describe('people who are asked', () => {
  it('are not asked a sixth time in a row', () => {
    expect(isApprovalFatigue(answering(4, 20_000), 'a', false, DAY + 80_000)).toBe(false)
    expect(isApprovalFatigue(answering(5, 20_000), 'a', false, DAY + 100_000)).toBe(true)
    expect(isApprovalFatigue(answering(5, 20_000), 'a', false, DAY + 10 * MINUTE)).toBe(false)
  })

  it('are asked without end at their own pace about what was named, and not about what was not', () => {
    expect(isApprovalFatigue(answering(100, 5 * MINUTE), 'a', false, DAY + 500 * MINUTE)).toBe(false)
    expect(isApprovalFatigue(answering(100, 5 * MINUTE), 'a', true, DAY + 500 * MINUTE)).toBe(true)
    expect(isApprovalFatigue(answering(3, 5 * MINUTE), 'a', true, DAY + 15 * MINUTE)).toBe(false)
  })

  it('are not asked again soon about a tool to which they said no twice; about others they are', () => {
    const once = refused(NO_HISTORY, 'a', '11'.repeat(32), DAY)
    expect(isApprovalFatigue(once, 'a', false, DAY + 1)).toBe(false)
    const twice = refused(once, 'a', '22'.repeat(32), DAY + MINUTE)
    expect(isApprovalFatigue(twice, 'a', false, DAY + 15 * MINUTE)).toBe(true)
    expect(isApprovalFatigue(twice, 'b', false, DAY + 15 * MINUTE)).toBe(false)
    expect(isApprovalFatigue(twice, 'a', false, DAY + 17 * MINUTE)).toBe(false)
  })

  it('are not asked again for days about a stranger to whom they said no once', () => {
    const once = refused(NO_HISTORY, 'a', '11'.repeat(32), DAY)
    expect(isApprovalFatigue(once, 'a', true, 4 * DAY)).toBe(true)
    expect(isApprovalFatigue(once, 'a', true, 4 * DAY + 1)).toBe(false)
    expect(isApprovalFatigue(once, 'b', true, 2 * DAY)).toBe(false)
  })

  it('have said no once, however often the same call is sent again', () => {
    let watch = refused(NO_HISTORY, 'a', '11'.repeat(32), DAY)
    const once = watch
    for (let i = 0; i < 20; i++) watch = refused(watch, 'a', '11'.repeat(32), DAY + i)
    expect(watch).toBe(once)
  })

  it('are spared more once risk has denied something', () => {
    const watch = latched(answering(2, 1000), DAY + 2000)
    expect(isApprovalFatigue(watch, 'a', false, DAY + 2000)).toBe(false)
    expect(isApprovalFatigue(latched(answering(3, 1000), DAY), 'a', false, DAY + 3000)).toBe(true)
    expect(isApprovalFatigue(watch, 'a', true, 4 * DAY + 2000)).toBe(true)
    expect(isLatched(watch, 4 * DAY + 2001)).toBe(false)
    expect(isLatched(NO_HISTORY, 0)).toBe(false)
  })
})

describe('sums by target', () => {
  it('add up within a week, each target for itself', () => {
    const watch = paidTo(paidTo(NO_HISTORY, ['x', 'y'], 2000, DAY), ['x'], 500, 2 * DAY)
    expect(paidBefore(watch, 'x', 9 * DAY)).toMatchObject({ count: 2, sum: 2500 })
    expect(paidBefore(watch, 'y', 8 * DAY)).toMatchObject({ count: 1, sum: 2000 })
    expect(paidBefore(watch, 'y', 8 * DAY + 1)).toBeUndefined()
    expect(paidBefore(watch, 'z', DAY)).toBeUndefined()
  })

  it('stay whole numbers, whatever is paid', () => {
    const huge = paidTo(NO_HISTORY, ['x'], Number.MAX_SAFE_INTEGER, 1)
    expect(paidBefore(paidTo(huge, ['x'], Number.MAX_SAFE_INTEGER, 2), 'x', 3)?.sum).toBe(
      Number.MAX_SAFE_INTEGER,
    )
  })
})

describe('the record', () => {
  const step = fc.oneof(
    fc.nat(99).map((n) => (watch: RiskHistory, time: number) => paidTo(watch, [`${n}`], n, time)),
    fc
      .nat(99)
      .map((n) => (watch: RiskHistory, time: number) => refused(watch, `t${n}`, `${n}`.repeat(16), time)),
    fc.constant((watch: RiskHistory, time: number) => answered(watch, time)),
    fc.constant((watch: RiskHistory, time: number) => latched(watch, time)),
    fc.nat(99).map((n) => (watch: RiskHistory, time: number) => sentTo(watch, [`${n}`], n % 9 === 0, time)),
    fc.nat(99).map((n) => (watch: RiskHistory) => storedAway(watch, [String(n).padStart(12, '0')])),
  )

  it('is canonical JSON, and stays small whatever happens', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.nat(DAY)), { maxLength: 200 }), (steps) => {
        let watch = NO_HISTORY
        let time = 0
        for (const [change, later] of steps) watch = change(watch, (time += later))
        const text = historyText(watch)
        expect(historyText({ ...NO_HISTORY, ...(JSON.parse(text) as RiskHistory) })).toBe(text)
        expect(watch.paid.length).toBeLessThanOrEqual(24)
        expect(watch.refused.length).toBeLessThanOrEqual(8)
        expect(watch.stored.length).toBeLessThanOrEqual(32)
        expect(watch.sent.length).toBeLessThanOrEqual(24)
        expect(text.length).toBeLessThan(6144)
      }),
      { numRuns: 50 },
    )
  })
})
