// The byte budget of a principal, with a controllable clock.

import { describe, expect, it } from 'vitest'
import { announced, createBudget, FINE, FREE, type Budget } from '../../src/budget.ts'

const KIB = 1 << 10
const LIMITS = { rate: 100 * KIB, burst: 1000 * KIB }
const A = { tenant: 'default', principal: 'agent:a' }
const B = { tenant: 'default', principal: 'agent:b' }

function openBudget(): { budget: Budget; pass: (seconds: number) => void } {
  let time = 0
  return { budget: createBudget(LIMITS, () => time), pass: (seconds) => void (time += 1000 * seconds) }
}

/** A body that costs this many bytes. */
const costing = (bytes: number): number => FREE + bytes

describe('a budget', () => {
  it('refuses the first body beyond it, and says when it would fit', () => {
    const { budget, pass } = openBudget()
    for (let i = 0; i < 4; i++) expect(budget.take(A, costing(250 * KIB)).ok).toBe(true)
    expect(budget.take(A, costing(250 * KIB))).toEqual({ ok: false, after: 3 })
    pass(2)
    expect(budget.take(A, costing(250 * KIB))).toEqual({ ok: false, after: 1 })
    pass(0.5)
    expect(budget.take(A, costing(250 * KIB)).ok).toBe(true)
  })

  it('refuses even a small body while it is empty', () => {
    const { budget, pass } = openBudget()
    budget.take(A, costing(LIMITS.burst))
    expect(budget.take(A, 10)).toEqual({ ok: false, after: 1 })
    pass(0.01)
    expect(budget.take(A, 10).ok).toBe(true)
  })

  it('is separate for each principal', () => {
    const { budget } = openBudget()
    budget.take(A, costing(LIMITS.burst))
    expect(budget.take(A, 10).ok).toBe(false)
    expect(budget.take(B, costing(LIMITS.burst)).ok).toBe(true)
    expect(budget.take({ ...A, tenant: 'far' }, costing(LIMITS.burst)).ok).toBe(true)
  })

  it('is not charged for ordinary bodies', () => {
    const { budget } = openBudget()
    for (let i = 0; i < 10_000; i++) expect(budget.take(A, FREE).ok).toBe(true)
    expect(budget.take(A, costing(LIMITS.burst)).ok).toBe(true)
  })

  it('is refunded what a body did not need', () => {
    const { budget } = openBudget()
    const share = budget.take(A, costing(LIMITS.burst))
    if (!share.ok) throw new Error('the budget is full')
    share.settle(costing(400 * KIB))
    expect(budget.take(A, costing(601 * KIB)).ok).toBe(false)
    expect(budget.take(A, costing(600 * KIB)).ok).toBe(true)
  })

  it('never exceeds its burst', () => {
    const { budget, pass } = openBudget()
    const share = budget.take(A, costing(100 * KIB))
    pass(1e6)
    if (share.ok) share.settle(0)
    expect(budget.take(A, costing(LIMITS.burst)).ok).toBe(true)
    expect(budget.take(A, costing(1)).ok).toBe(false)
  })

  it('accepts a body larger than itself only when it is full, and then has a debt', () => {
    const { budget, pass } = openBudget()
    expect(budget.take(A, costing(2 * LIMITS.burst)).ok).toBe(true)
    expect(budget.take(A, 10)).toEqual({ ok: false, after: 11 })
    pass(19)
    expect(budget.take(A, costing(2 * LIMITS.burst)).ok).toBe(false)
    pass(1)
    expect(budget.take(A, costing(2 * LIMITS.burst)).ok).toBe(true)
  })

  it('is charged for messages that cannot be parsed, until the sender is refused', () => {
    const { budget, pass } = openBudget()
    let sent = 0
    while (budget.take(A, 10).ok) {
      budget.fine(A)
      sent++
    }
    expect(sent).toBe(Math.ceil(LIMITS.burst / FINE))
    // A debt is limited: a principal is locked out for at most the time that two budgets take to fill.
    for (let i = 0; i < 1000; i++) budget.fine(A)
    pass((2 * LIMITS.burst) / LIMITS.rate)
    expect(budget.take(A, costing(LIMITS.burst)).ok).toBe(true)
  })

  it('returns how long the sender of lines must wait', () => {
    const { budget, pass } = openBudget()
    expect(budget.charge(A, costing(LIMITS.burst))).toBe(0)
    expect(budget.charge(A, costing(150 * KIB))).toBe(1.5)
    pass(1.5)
    expect(budget.charge(A, 10)).toBe(0)
  })

  it('forgets only principals without a debt', () => {
    const { budget } = openBudget()
    budget.take(A, costing(LIMITS.burst))
    for (let i = 0; i < 20_001; i++) budget.take({ tenant: 'default', principal: `agent:${i}` }, 10)
    expect(budget.take(A, 10).ok).toBe(false)
  })
})

describe('the announced length of a request', () => {
  it.each([
    ['0', 0],
    ['17', 17],
    ['5000', 1000],
    [undefined, 1000],
    ['-1', 1000],
    ['1e99', 1000],
    ['many', 1000],
  ])('%s is %i of at most 1000 bytes', (length, bytes) => {
    expect(announced(length, 1000)).toBe(bytes)
  })
})
