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
  withStored,
  isApprovalFatigue,
  historyText,
  type RiskHistory,
} from '../../../src/gates/session-risk/history.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The history after people answered `count` requests at this pace. */
function answering(count: number, pace: number): RiskHistory {
  let history = NO_HISTORY
  for (let i = 0; i < count; i++) history = answered(history, DAY + i * pace)
  return history
}

describe('approval fatigue', () => {
  it('stops the sixth request in a row', () => {
    expect(isApprovalFatigue(answering(4, 20_000), 'a', false, DAY + 80_000)).toBe(false)
    expect(isApprovalFatigue(answering(5, 20_000), 'a', false, DAY + 100_000)).toBe(true)
    expect(isApprovalFatigue(answering(5, 20_000), 'a', false, DAY + 10 * MINUTE)).toBe(false)
  })

  it('does not stop slow requests for named targets, but stops those for strange targets', () => {
    expect(isApprovalFatigue(answering(100, 5 * MINUTE), 'a', false, DAY + 500 * MINUTE)).toBe(false)
    expect(isApprovalFatigue(answering(100, 5 * MINUTE), 'a', true, DAY + 500 * MINUTE)).toBe(true)
    expect(isApprovalFatigue(answering(3, 5 * MINUTE), 'a', true, DAY + 15 * MINUTE)).toBe(false)
  })

  it('stops requests for a tool for 15 minutes after two denials, but not for other tools', () => {
    const once = refused(NO_HISTORY, 'a', '11'.repeat(32), DAY)
    expect(isApprovalFatigue(once, 'a', false, DAY + 1)).toBe(false)
    const twice = refused(once, 'a', '22'.repeat(32), DAY + MINUTE)
    expect(isApprovalFatigue(twice, 'a', false, DAY + 15 * MINUTE)).toBe(true)
    expect(isApprovalFatigue(twice, 'b', false, DAY + 15 * MINUTE)).toBe(false)
    expect(isApprovalFatigue(twice, 'a', false, DAY + 17 * MINUTE)).toBe(false)
  })

  it('stops requests for a strange target for three days after one denial', () => {
    const once = refused(NO_HISTORY, 'a', '11'.repeat(32), DAY)
    expect(isApprovalFatigue(once, 'a', true, 4 * DAY)).toBe(true)
    expect(isApprovalFatigue(once, 'a', true, 4 * DAY + 1)).toBe(false)
    expect(isApprovalFatigue(once, 'b', true, 2 * DAY)).toBe(false)
  })

  it('counts one denial however often the same call is repeated', () => {
    let history = refused(NO_HISTORY, 'a', '11'.repeat(32), DAY)
    const once = history
    for (let i = 0; i < 20; i++) history = refused(history, 'a', '11'.repeat(32), DAY + i)
    expect(history).toBe(once)
  })

  it('has lower limits after a denial for risk', () => {
    const history = latched(answering(2, 1000), DAY + 2000)
    expect(isApprovalFatigue(history, 'a', false, DAY + 2000)).toBe(false)
    expect(isApprovalFatigue(latched(answering(3, 1000), DAY), 'a', false, DAY + 3000)).toBe(true)
    expect(isApprovalFatigue(history, 'a', true, 4 * DAY + 2000)).toBe(true)
    expect(isLatched(history, 4 * DAY + 2001)).toBe(false)
    expect(isLatched(NO_HISTORY, 0)).toBe(false)
  })
})

describe('sums by target', () => {
  it('add up separately for each target within a week', () => {
    const history = paidTo(paidTo(NO_HISTORY, ['x', 'y'], 2000, DAY), ['x'], 500, 2 * DAY)
    expect(paidBefore(history, 'x', 9 * DAY)).toMatchObject({ count: 2, sum: 2500 })
    expect(paidBefore(history, 'y', 8 * DAY)).toMatchObject({ count: 1, sum: 2000 })
    expect(paidBefore(history, 'y', 8 * DAY + 1)).toBeUndefined()
    expect(paidBefore(history, 'z', DAY)).toBeUndefined()
  })

  it('stay safe integers for any amount', () => {
    const huge = paidTo(NO_HISTORY, ['x'], Number.MAX_SAFE_INTEGER, 1)
    expect(paidBefore(paidTo(huge, ['x'], Number.MAX_SAFE_INTEGER, 2), 'x', 3)?.sum).toBe(
      Number.MAX_SAFE_INTEGER,
    )
  })
})

describe('the record', () => {
  const step = fc.oneof(
    fc.nat(99).map((n) => (history: RiskHistory, time: number) => paidTo(history, [`${n}`], n, time)),
    fc
      .nat(99)
      .map((n) => (history: RiskHistory, time: number) => refused(history, `t${n}`, `${n}`.repeat(16), time)),
    fc.constant((history: RiskHistory, time: number) => answered(history, time)),
    fc.constant((history: RiskHistory, time: number) => latched(history, time)),
    fc
      .nat(99)
      .map((n) => (history: RiskHistory, time: number) => sentTo(history, [`${n}`], n % 9 === 0, time)),
    fc.nat(99).map((n) => (history: RiskHistory) => withStored(history, [String(n).padStart(12, '0')])),
  )

  it('is canonical JSON of limited size', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(step, fc.nat(DAY)), { maxLength: 200 }), (steps) => {
        let history = NO_HISTORY
        let time = 0
        for (const [change, later] of steps) history = change(history, (time += later))
        const text = historyText(history)
        expect(historyText({ ...NO_HISTORY, ...(JSON.parse(text) as RiskHistory) })).toBe(text)
        expect(history.paid.length).toBeLessThanOrEqual(24)
        expect(history.refused.length).toBeLessThanOrEqual(8)
        expect(history.stored.length).toBeLessThanOrEqual(32)
        expect(history.sent.length).toBeLessThanOrEqual(24)
        expect(text.length).toBeLessThan(6144)
      }),
      { numRuns: 50 },
    )
  })
})
