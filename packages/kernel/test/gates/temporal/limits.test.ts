import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import type { Json } from '@tollgate/evidence'
import type { Intent } from '../../../src/road/capture.ts'
import { temporal } from '../../../src/gates/temporal/gate.ts'
import { allowanceOf, isOver, limitName, nextLimits, spent } from '../../../src/gates/temporal/limits.ts'
import { costOf } from '../../../src/policy/cost.ts'
import { glob } from '../../../src/policy/glob.ts'
import { readYaml } from '../../../src/policy/reader/read.ts'
import { temporalSettings, type Limit, type TemporalSettings } from '../../../src/gates/temporal/settings.ts'
import type { Allowances } from '../../../src/ledger/session.ts'
import type { Snapshot } from '../../../src/road/snapshot.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const RATE: Limit = {
  kind: 'rate',
  of: 'calls',
  scope: 'principal',
  name: 'mail/*',
  tools: glob('mail/*'),
  calls: 2,
  period: HOUR,
  then: 'deny',
}
const BUDGET: Limit = { ...RATE, kind: 'budget', name: 'calls', tools: glob('*') }
const BURST: Limit = { ...RATE, kind: 'burst', name: 'burst', tools: glob('*'), then: 'ask' }
const PASSED = { passed: true, cost: 0 }
const DENIED = { passed: false, cost: 0 }

function settingsOf(text: string): TemporalSettings {
  const reader = readYaml(text)
  const settings = temporalSettings.read(reader, reader.root)
  expect(reader.mistakes).toEqual([])
  return settings
}

function mistakesIn(text: string): readonly string[] {
  const reader = readYaml(text)
  temporalSettings.read(reader, reader.root)
  return reader.mistakes.map(({ message }) => message)
}

describe('the settings', () => {
  it('are read as documented, bursts first', () => {
    const { limits, hours } = settingsOf(`
rate:   { "mail/*": 20/h, "db/*": { session: 5/m, tool: 100/h, tenant: 1000/day } }
budget: { calls: 500/day, cost: { principal: 1000/day, tenant: 20000/day } }
hours:  { "pay/*": "mon-fri 08:00-18:00 +01:00" }
burst:  { ask: 30/10s, deny: 60/10s }`)
    const words = limits.map(
      ({ kind, of, scope, name, calls, period, then }) =>
        `${kind} ${of} ${scope} ${name} ${calls}/${period} ${then}`,
    )
    expect(words).toEqual([
      'burst calls principal burst 60/10000 deny',
      'burst calls principal burst 30/10000 ask',
      'rate calls principal mail/* 20/3600000 deny',
      'rate calls session db/* 5/60000 deny',
      'rate calls tool db/* 100/3600000 deny',
      'rate calls tenant db/* 1000/86400000 deny',
      'budget calls principal calls 500/86400000 deny',
      'budget cost principal cost 1000000/86400000 deny',
      'budget cost tenant cost 20000000/86400000 deny',
    ])
    expect(hours).toMatchObject([{ name: 'pay/*', windows: expect.any(Array) as unknown }])
  })

  it('set no limits if the mapping is empty', () => {
    expect(settingsOf('{}')).toEqual({ limits: [], hours: [] })
  })

  it('accept a large budget, which is not counted in milliseconds', () => {
    expect(settingsOf('budget: { cost: 999999999/366d }').limits).toMatchObject([{ calls: 999_999_999_000 }])
  })

  it('report every mistake', () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['rate: { x: fast }', /^a rate is written/],
      ['rate: { x: 0/h }', /^a rate is written/],
      ['rate: { x: 999999/366d }', /^a rate is written/],
      ['rate: { x: 1/367d }', /^a rate is written/],
      ['rate: { x: 1/constructor }', /^a rate is written/],
      ['rate: { x: 5 }', /^a rate must be text/],
      ['rate: { x: {} }', /the mapping sets no limit/],
      ['rate: { x: { planet: 1/h } }', /`planet` is not known here/],
      ['rate: [1/h]', /`rate` must be a mapping/],
      ['rate: { "": 1/h }', /the name of a tool is empty/],
      ['rate: { x: [1/h] }', /^a rate must be text/],
      ['budget: { time: 1/h }', /`time` is not known here/],
      ['budget: { cost: 1.5/h }', /^a budget is written/],
      ['burst: { ask: 30 }', /^a burst must be text/],
      ['burst: { allow: 30/s }', /`allow` is not known here/],
      ['hours: { x: always }', /hours are written/],
      ['hours: { x: 8 }', /hours must be text/],
      ['sleep: 1', /`sleep` is not known here/],
    ]
    for (const [text, message] of cases) expect(mistakesIn(text)[0], text).toMatch(message)
    const many = Array.from({ length: 201 }, (_, i) => `t${i}: 1/h`).join(', ')
    expect(mistakesIn(`rate: { ${many} }`)).toEqual([expect.stringMatching(/more than 200 entries/)])
  })
})

describe('a rate', () => {
  it('refills continuously, and reports when the next call is allowed', () => {
    const once = spent(RATE, undefined, 0, 1)
    const twice = spent(RATE, once, 0, 1)
    expect(isOver(RATE, once, 0, 1)).toBe(false)
    expect(isOver(RATE, twice, 0, 1)).toEqual({ wait: 1800 })
    expect(isOver(RATE, twice, HOUR / 2 - 1, 1)).toEqual({ wait: 1 })
    expect(isOver(RATE, twice, HOUR / 2, 1)).toBe(false)
  })

  it('never allows more than its size plus the refill', () => {
    const pace = fc.record({
      calls: fc.integer({ min: 1, max: 50 }),
      period: fc.integer({ min: 1, max: DAY }),
    })
    const steps = fc.array(fc.nat(HOUR), { maxLength: 200 })
    fc.assert(
      fc.property(pace, steps, fc.constantFrom('rate' as const, 'burst' as const), (own, waits, kind) => {
        const limit: Limit = { ...RATE, ...own, kind }
        const start = 1_000_000
        let time = start
        let passed = 0
        let left = undefined as Allowances[string] | undefined
        for (const wait of waits) {
          time += wait
          if (isOver(limit, left, time, 1) !== false) continue
          left = spent(limit, left, time, 1)
          passed++
          expect(passed).toBeLessThanOrEqual(own.calls + ((time - start) * own.calls) / own.period)
        }
      }),
    )
  })

  it('allows the call after the reported wait', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: DAY }), (calls, period) => {
        const limit: Limit = { ...RATE, calls, period }
        const over = isOver(limit, { left: 0, at: 0 }, 0, 1)
        expect(over).not.toBe(false)
        expect(isOver(limit, { left: 0, at: 0 }, over === false ? 0 : over.wait * 1000, 1)).toBe(false)
      }),
    )
  })
})

describe('a budget', () => {
  it('resets with each period, counted from the epoch', () => {
    const used = spent(BUDGET, spent(BUDGET, undefined, HOUR + 5, 1), HOUR + 6, 1)
    expect(used).toEqual({ left: 0, at: HOUR })
    expect(isOver(BUDGET, used, 2 * HOUR - 1, 1)).toEqual({ wait: 1 })
    expect(isOver(BUDGET, used, 2 * HOUR, 1)).toBe(false)
    expect(spent(BUDGET, used, 2 * HOUR, 1)).toEqual({ left: 1, at: 2 * HOUR })
  })

  it('does not reset when the clock moves backwards', () => {
    const used = { left: 0, at: 2 * HOUR }
    expect(isOver(BUDGET, used, HOUR, 1)).toEqual({ wait: 7200 })
    expect(spent(BUDGET, used, HOUR, 1)).toEqual(used)
  })

  it('never falls below zero, and always allows a cost of zero', () => {
    expect(spent(BUDGET, undefined, 0, 1000).left).toBe(0)
    expect(isOver(BUDGET, { left: 0, at: 0 }, 0, 0)).toBe(false)
  })

  it('that is not a number counts as used up', () => {
    expect(isOver(BUDGET, { left: NaN, at: 0 }, 0, 1)).not.toBe(false)
    expect(isOver(RATE, { left: NaN, at: 0 }, 0, 1)).not.toBe(false)
  })

  it('never allows more than its amount in a period', () => {
    const spending = fc.array(fc.tuple(fc.nat(HOUR), fc.nat(900)), { maxLength: 100 })
    fc.assert(
      fc.property(spending, fc.integer({ min: 1, max: 2000 }), (calls, most) => {
        const limit: Limit = { ...BUDGET, of: 'cost', calls: most, period: DAY }
        const sums = new Map<number, number>()
        let left = undefined as Allowances[string] | undefined
        let time = DAY / 2
        for (const [wait, amount] of calls) {
          time += wait
          if (isOver(limit, left, time, amount) !== false) continue
          left = spent(limit, left, time, amount)
          const day = Math.floor(time / DAY)
          sums.set(day, (sums.get(day) ?? 0) + amount)
        }
        for (const sum of sums.values()) expect(sum).toBeLessThanOrEqual(most)
      }),
    )
  })
})

describe('the names of limits', () => {
  it('differ in every property that makes a different limit', () => {
    const limits: readonly Limit[] = [
      RATE,
      { ...RATE, calls: 20 },
      { ...RATE, period: 60_000 },
      { ...RATE, scope: 'session' },
      { ...RATE, scope: 'tool' },
      { ...RATE, name: 'mail/* ' },
      { ...RATE, then: 'ask' },
      { ...RATE, kind: 'budget' },
      { ...RATE, kind: 'budget', of: 'cost' },
    ]
    expect(new Set(limits.map((limit) => limitName(limit, 'mail/send'))).size).toBe(limits.length)
    expect(limitName(RATE, 'mail/send')).toBe(limitName({ ...RATE, tools: glob('*') }, 'mail/read'))
  })

  it('contain the tool for limits by tool, and are unique', () => {
    const name = fc.string({ unit: fc.constantFrom('a', ' ', '/', '*', '1'), minLength: 1, maxLength: 6 })
    const pair = fc.tuple(name, name)
    fc.assert(
      fc.property(pair, pair, ([pattern, tool], [otherPattern, otherTool]) => {
        const own = limitName({ ...RATE, scope: 'tool', name: pattern }, tool)
        const other = limitName({ ...RATE, scope: 'tool', name: otherPattern }, otherTool)
        expect(own === other).toBe(pattern === otherPattern && tool === otherTool)
      }),
    )
  })
})

describe('the allowance after a call', () => {
  const LIMITS = [RATE, BUDGET, BURST]
  const names = (kept: Allowances): readonly string[] =>
    Object.keys(kept).map((name) => name.split(' ')[0] ?? '')

  it('is reduced for all limits by an allowed call, and only for bursts by any other call', () => {
    expect(names(nextLimits(LIMITS, {}, 'mail/send', 0, PASSED))).toEqual(['rate', 'budget', 'burst'])
    expect(names(nextLimits(LIMITS, {}, 'mail/send', 0, DENIED))).toEqual(['burst'])
    expect(names(nextLimits(LIMITS, {}, 'db/read', 0, PASSED))).toEqual(['budget', 'burst'])
  })

  it('is the same object if nothing was taken', () => {
    const before: Allowances = { [limitName(RATE, '')]: { left: 5, at: 3 } }
    expect(nextLimits([RATE], before, 'db/read', 10, PASSED)).toBe(before)
    expect(nextLimits([RATE, BUDGET], before, 'mail/send', 10, DENIED)).toBe(before)
    expect(nextLimits([], before, 'mail/send', 10, PASSED)).toBe(before)
    const cost: Limit = { ...BUDGET, of: 'cost' }
    expect(nextLimits([cost], before, 'mail/send', 10, PASSED)).toBe(before)
  })

  it('never changes for limits that do not match', () => {
    const tool = fc.string({ unit: fc.constantFrom('a', 'b', '/'), minLength: 1, maxLength: 4 })
    const limit = fc.tuple(tool, fc.constantFrom('rate' as const, 'budget' as const, 'burst' as const))
    fc.assert(
      fc.property(fc.array(limit, { maxLength: 6 }), tool, fc.boolean(), (made, called, passed) => {
        const limits = made.map(([name, kind]): Limit => ({ ...RATE, kind, name, tools: glob(name) }))
        const before: Allowances = { other: { left: 1, at: 1 } }
        const after = nextLimits(limits, before, called, 5, { passed, cost: 7 })
        const matching = limits.filter(({ name, kind }) => name === called && (passed || kind === 'burst'))
        expect(after === before).toBe(matching.length === 0)
        const touched = new Set(['other', ...matching.map((each) => limitName(each, called))])
        expect(new Set(Object.keys(after))).toEqual(touched)
      }),
    )
  })

  it('is zero for a cost budget after an unreadable cost was allowed', () => {
    const cost: Limit = { ...BUDGET, of: 'cost', calls: 5000 }
    const after = nextLimits([cost], {}, 'pay/now', 0, { passed: true, cost: undefined })
    expect(allowanceOf(cost, after, 'pay/now')).toEqual({ left: 0, at: 0 })
  })

  it('is separate for each tool with limits by tool', () => {
    const byTool: Limit = { ...RATE, scope: 'tool', calls: 1 }
    const after = nextLimits([byTool], {}, 'mail/a', 0, PASSED)
    expect(isOver(byTool, allowanceOf(byTool, after, 'mail/a'), 0, 1)).not.toBe(false)
    expect(isOver(byTool, allowanceOf(byTool, after, 'mail/b'), 0, 1)).toBe(false)
  })
})

describe('invented tool names', () => {
  const byTool: Limit = { ...RATE, scope: 'tool', calls: 1 }
  const call = (kept: Allowances, tool: string, time: number): Allowances =>
    isOver(byTool, allowanceOf(byTool, kept, tool), time, 1) === false
      ? nextLimits([byTool], kept, tool, time, PASSED)
      : kept
  const flood = (kept: Allowances, count: number, time: number): Allowances =>
    Array.from({ length: count }, (_, i) => `mail/${time}-${i}`).reduce(
      (all, tool) => call(all, tool, time),
      kept,
    )

  it('do not fill the record: beyond 256 they share one allowance', () => {
    const full = flood({}, 1000, 0)
    expect(Object.keys(full)).toHaveLength(257)
    expect(isOver(byTool, allowanceOf(byTool, full, 'mail/another'), 0, 1)).not.toBe(false)
  })

  it('do not restore the allowance of a real tool', () => {
    const used = call({}, 'mail/real', 0)
    const full = flood(used, 1000, 1)
    expect(isOver(byTool, allowanceOf(byTool, full, 'mail/real'), 1, 1)).not.toBe(false)
    // The same for a tool that is called after them.
    const late = call(full, 'mail/late', 2)
    expect(isOver(byTool, allowanceOf(byTool, late, 'mail/late'), 2, 1)).not.toBe(false)
  })

  it('share one allowance until it is full again', () => {
    const kept = { [limitName(byTool, '')]: { left: 0, at: 0 } }
    expect(isOver(byTool, allowanceOf(byTool, kept, 'mail/new'), 1, 1)).not.toBe(false)
    expect(isOver(byTool, allowanceOf(byTool, kept, 'mail/new'), HOUR, 1)).toBe(false)
  })

  it('are removed when the period of their budget ends', () => {
    const budget: Limit = { ...byTool, kind: 'budget' }
    const tools = Array.from({ length: 300 }, (_, i) => `mail/${i}`)
    const full = tools.reduce<Allowances>((kept, tool) => nextLimits([budget], kept, tool, 0, PASSED), {})
    const after = nextLimits([budget], full, 'mail/real', HOUR, PASSED)
    expect(Object.keys(after)).toEqual([limitName(budget, 'mail/real')])
  })

  it('are removed once they are full again, and so are limits that no longer exist', () => {
    const gone: Limit = { ...byTool, period: 2 * DAY }
    const full = flood(nextLimits([gone], {}, 'mail/x', 0, PASSED), 300, 0)
    const after = call(full, 'mail/real', 2 * HOUR)
    expect(Object.keys(after)).toEqual([limitName(byTool, 'mail/real')])
  })

  it('do not remove a burst that is not full yet', () => {
    const burst: Limit = { ...BURST, period: DAY }
    const before = nextLimits([burst], flood({}, 300, 0), 'mail/a', 0, DENIED)
    const after = nextLimits([byTool, burst], before, 'mail/b', 2 * HOUR, PASSED)
    expect(Object.keys(after)).toHaveLength(2)
    expect(allowanceOf(burst, after, 'mail/b')?.left).toBeLessThan(burst.calls * burst.period - burst.period)
  })
})

describe('the cost of a call', () => {
  const cost = (declared: number | string | undefined, args: Json): number | undefined =>
    costOf(declared, args)

  it('comes from the policy or an argument, in thousandths, rounded up', () => {
    expect(cost(undefined, { amount: 5 })).toBe(0)
    expect(cost(5, {})).toBe(5000)
    expect(cost('amount', { amount: 12.5 })).toBe(12_500)
    expect(cost('order.total', { order: { total: 0.0001 } })).toBe(1)
    expect([16.1, 1.005, 4.35, 0.57, 0, -0].map((amount) => cost('a', { a: amount }))).toEqual([
      16_100, 1005, 4350, 570, 0, 0,
    ])
  })

  it('is the sum if a path leads through arrays', () => {
    expect(cost('payments.amount', { payments: [{ amount: 1 }, { amount: 2.5 }] })).toBe(3500)
    expect(cost('payments[*].amount', { payments: [{ amount: 1 }, { amount: 2.5 }] })).toBe(3500)
    expect(cost('amounts', { amounts: [1, [2, 3]] })).toBe(6000)
  })

  it('cannot be read if it is missing, negative, too large or not a number', () => {
    const unreadable: readonly Json[] = [
      null,
      5,
      {},
      { a: null },
      { a: '5' },
      { a: true },
      { a: -1 },
      { a: [] },
      { a: [1, -1] },
      { a: [1, 'x'] },
      { a: { a: 1 } },
      { a: 1e300 },
      { a: [9_000_000_000_000, 9_000_000_000_000] },
    ]
    for (const args of unreadable) expect(cost('a', args), JSON.stringify(args)).toBeUndefined()
    expect(cost('a.b', { a: 1 })).toBeUndefined()
    expect(cost('constructor', {})).toBeUndefined()
    for (const declared of [-1, NaN, Infinity]) expect(cost(declared, {})).toBeUndefined()
  })

  it('is an integer and never less than the stated amount', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (amount) => {
        const units = cost('a', { a: amount }) ?? NaN
        expect(Number.isSafeInteger(units)).toBe(true)
        expect(units / 1000).toBeGreaterThanOrEqual(amount)
        expect((units - 1) / 1000).toBeLessThan(amount + 1e-9)
      }),
    )
  })
})

describe('the gate', () => {
  const MONDAY = Date.UTC(2026, 0, 5)

  interface Given {
    readonly temporal: string
    readonly kept?: Allowances
    readonly time?: number
    readonly cost?: number | string
    readonly args?: Json
  }

  /** The objection of the gate to a call of `mail/send`, as text. */
  function check({ temporal: text, kept = {}, time = MONDAY, cost, args = {} }: Given): string | undefined {
    const policy = { gates: { temporal: settingsOf(text) } }
    const snapshot = {
      policy,
      time,
      tool: { declared: { cost } },
      session: { limits: kept },
      principal: { limits: kept },
      tenant: { limits: kept },
    }
    const intent = { tool: 'mail/send', args }
    // Sound: the gate uses nothing else.
    const said = temporal.check(intent as Intent, snapshot as unknown as Snapshot)
    return said && `${said.verdict} ${said.reason}: ${said.detail ?? ''}`
  }

  /** The record after a number of allowed calls. */
  function after(text: string, calls: number, time: number = MONDAY): Allowances {
    const { limits } = settingsOf(text)
    let kept: Allowances = {}
    for (let i = 0; i < calls; i++)
      kept = nextLimits(limits, kept, 'mail/send', time, { passed: true, cost: 1000 })
    return kept
  }

  it('does not object without limits, and reports that it is not configured', () => {
    expect(check({ temporal: '{}' })).toBeUndefined()
    const standing = (text: string): string =>
      // Sound: the gate uses nothing else.
      temporal.standing({ gates: { temporal: settingsOf(text) } } as Parameters<typeof temporal.standing>[0])
    expect(standing('{}')).toBe('not configured')
    expect(standing('rate: { x: 1/h }')).toBe('active')
    expect(standing('hours: { x: "mon 08:00-09:00" }')).toBe('active')
  })

  it('denies outside the hours, and reports when they begin', () => {
    const text = 'hours: { "mail/*": "mon-fri 08:00-18:00", "db/*": "sun 00:00-01:00" }'
    expect(check({ temporal: text, time: MONDAY + 8 * HOUR })).toBeUndefined()
    expect(check({ temporal: text, time: MONDAY })).toBe(
      'DENY OUTSIDE_HOURS: `mail/*` opens at 2026-01-05T08:00:00.000Z',
    )
  })

  it('denies above a rate, and reports when the next call is allowed', () => {
    const text = 'rate: { "mail/*": 2/h, "db/*": 1/h }'
    expect(check({ temporal: text, kept: after(text, 1) })).toBeUndefined()
    const others = nextLimits(settingsOf(text).limits, {}, 'db/read', MONDAY, PASSED)
    expect(check({ temporal: text, kept: others })).toBeUndefined()
    expect(check({ temporal: text, kept: after(text, 2) })).toBe(
      'DENY RATE_EXCEEDED: `mail/*` allows 2 in 1h; it allows the next call in 1800 s, at 2026-01-05T00:30:00.000Z',
    )
    const byTenant = 'rate: { "mail/*": { tenant: 1/h } }'
    expect(check({ temporal: byTenant, kept: after(byTenant, 1) })).toBe(
      'DENY RATE_EXCEEDED: `mail/*` for each tenant allows 1 in 1h; it allows the next call in 3600 s, at 2026-01-05T01:00:00.000Z',
    )
  })

  it('denies above a budget, and reports when the next period begins', () => {
    const text = 'budget: { calls: 2/day }'
    expect(check({ temporal: text, kept: after(text, 2), time: MONDAY + 23 * HOUR })).toBe(
      'DENY BUDGET_EXCEEDED: `calls` allows 2 in 1d; the next period begins in 3600 s, at 2026-01-06T00:00:00.000Z',
    )
    expect(check({ temporal: text, kept: after(text, 2), time: MONDAY + DAY })).toBeUndefined()
  })

  it('counts costs, and never reports the cost of the call', () => {
    const text = 'budget: { cost: 3/day }'
    const given = { temporal: text, kept: after(text, 2), cost: 'amount' }
    expect(check({ ...given, args: { amount: 1 } })).toBeUndefined()
    expect(check({ ...given, args: { amount: 1.001 } })).toMatch(
      /^DENY BUDGET_EXCEEDED: `cost` allows 3 in 1d; /,
    )
    expect(check({ ...given, args: { amount: 4711 } })).toBe(
      'DENY BUDGET_EXCEEDED: `cost` allows 3 in 1d, and the call costs more',
    )
  })

  it('denies an unreadable cost, but only if costs are limited', () => {
    const given = { cost: 'amount', args: { amount: -5 } }
    expect(check({ temporal: 'budget: { cost: 3/day }', ...given })).toMatch(
      /BUDGET_EXCEEDED: .*cannot be read/,
    )
    expect(check({ temporal: 'budget: { calls: 3/day }', ...given })).toBeUndefined()
  })

  it('allows a tool without a cost when the cost budget is used up', () => {
    const text = 'budget: { cost: 3/day }'
    expect(check({ temporal: text, kept: after(text, 3) })).toBeUndefined()
  })

  it('escalates above one burst and denies above the other', () => {
    const text = 'burst: { ask: 2/10s, deny: 4/10s }'
    expect(check({ temporal: text, kept: after(text, 1) })).toBeUndefined()
    expect(check({ temporal: text, kept: after(text, 2) })).toMatch(
      /^ESCALATE TEMPORAL_INTERVENTION: `burst`/,
    )
    expect(check({ temporal: text, kept: after(text, 4) })).toMatch(/^DENY RATE_EXCEEDED: `burst`/)
  })

  it('does not escalate a call that a rate or a budget denies', () => {
    const rate = 'burst: { ask: 1/10s }\nrate: { "*": 1/h }'
    expect(check({ temporal: rate, kept: after(rate, 1) })).toMatch(/^DENY RATE_EXCEEDED: `\*`/)
    const budget = 'burst: { ask: 1/10s }\nbudget: { calls: 1/h }'
    expect(check({ temporal: budget, kept: after(budget, 1) })).toMatch(/^DENY BUDGET_EXCEEDED/)
  })

  it('checks hours, bursts, rates and budgets in this order', () => {
    const all =
      'burst: { deny: 1/10s }\nrate: { "*": 1/h }\nbudget: { calls: 1/h }\nhours: { "*": "sun 00:00-01:00" }'
    expect(check({ temporal: all, kept: after(all, 1) })).toMatch(/OUTSIDE_HOURS/)
    const open = all.replace('sun 00:00-01:00', 'daily 00:00-24:00')
    expect(check({ temporal: open, kept: after(open, 1) })).toMatch(/`burst`/)
    const calm = open.replace('deny: 1/10s', 'deny: 9/10s')
    expect(check({ temporal: calm, kept: after(calm, 1) })).toMatch(/RATE_EXCEEDED: `\*`/)
  })
})
