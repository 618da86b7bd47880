// Limits are exact: of concurrent calls exactly as many are allowed as the limit permits, across sessions, principals and tools,
// also with a restart and with a small record cache.

import type { ReasonCode } from '@tollgate/evidence'
import { describe, expect, it } from 'vitest'
import type { Enforced, MemoryStore, Store, ToolCall } from '../../src/index.ts'
import { createRig, type Rig, type RigOptions } from '../rig.ts'

const CALLS = 200
const PERMITTED = 20

/** The number of names that the calls of a case use. */
interface Spread {
  readonly principals: number
  readonly sessions: number
  readonly tools: number
}

interface Case {
  readonly limit: string
  /** The settings under `gates.temporal`. */
  readonly temporal: string
  /** All names within the scope share one limit. */
  readonly spread: Spread
  readonly reason: ReasonCode
}

const ONE: Spread = { principals: 1, sessions: 1, tools: 1 }

const CASES: readonly Case[] = [
  {
    limit: 'a rate by principal',
    temporal: 'rate: { "db/*": 20/h }',
    spread: { ...ONE, sessions: 7, tools: 3 },
    reason: 'RATE_EXCEEDED',
  },
  {
    limit: 'a rate by session',
    temporal: 'rate: { "db/*": { session: 20/h } }',
    spread: { ...ONE, tools: 3 },
    reason: 'RATE_EXCEEDED',
  },
  {
    limit: 'a rate by tool',
    temporal: 'rate: { "db/*": { tool: 20/h } }',
    spread: { principals: 5, sessions: 7, tools: 1 },
    reason: 'RATE_EXCEEDED',
  },
  {
    limit: 'a rate by tenant',
    temporal: 'rate: { "db/*": { tenant: 20/h } }',
    spread: { principals: 5, sessions: 7, tools: 3 },
    reason: 'RATE_EXCEEDED',
  },
  {
    limit: 'a budget of calls',
    temporal: 'budget: { calls: 20/day }',
    spread: { ...ONE, sessions: 7, tools: 3 },
    reason: 'BUDGET_EXCEEDED',
  },
  {
    limit: 'a budget of cost by tenant',
    temporal: 'budget: { cost: { tenant: 60/day } }',
    spread: { principals: 5, sessions: 7, tools: 3 },
    reason: 'BUDGET_EXCEEDED',
  },
  {
    limit: 'a burst guard',
    temporal: 'burst: { deny: 20/10s }',
    spread: { ...ONE, sessions: 7, tools: 3 },
    reason: 'RATE_EXCEEDED',
  },
]

/** The results of concurrent calls. */
interface Sent {
  readonly passed: number
  /** How often a tool ran. */
  readonly ran: number
  readonly reasons: readonly ReasonCode[]
}

const NOTHING: Sent = { passed: 0, ran: 0, reasons: [] }

function rigOf({ temporal }: Case, options: Omit<RigOptions, 'policy'> = {}): Promise<Rig> {
  const policy = `
tools: { "db/*": { effect: read, cost: 3 } }
rules: [{ id: reading, allow: "db/*" }]
gates: { temporal: { ${temporal} } }
`
  return createRig({ ...options, policy })
}

/** Returns the `i`-th call of a case. */
function callOf({ principals, sessions, tools }: Spread, i: number): Partial<ToolCall> {
  const principal = `agent:p${i % principals}`
  return {
    caller: { tenant: 'default', principal },
    session_id: `s${i % sessions}`,
    tool: `db/t${i % tools}`,
    args: { row: i },
  }
}

/** Sends a number of concurrent calls, beginning with the `from`-th, and adds the results to `before`. */
async function sendAtOnce(
  rig: Rig,
  { spread }: Case,
  count: number,
  from = 0,
  before = NOTHING,
): Promise<Sent> {
  let ran = 0
  const send = (i: number): Promise<Enforced> =>
    rig.enforce(callOf(spread, from + i), () => {
      ran++
      return Promise.resolve({ status: 'COMPLETED', output: new Uint8Array([1]) })
    })
  const all = await Promise.all(Array.from({ length: count }, (_, i) => send(i)))
  const denied = all.filter(({ decided }) => decided.verdict !== 'ALLOW')
  return {
    passed: before.passed + count - denied.length,
    ran: before.ran + ran,
    reasons: [...new Set([...before.reasons, ...denied.map(({ decided }) => decided.reason)])],
  }
}

/** Counts the allowed calls in the ledger. */
function allowedIn(rig: Rig): number {
  return rig.receipts().filter((receipt) => receipt.kind === 'decision' && receipt.verdict === 'ALLOW').length
}

describe.each(CASES)('of 200 concurrent calls against $limit', (each) => {
  const exactly: Sent = { passed: PERMITTED, ran: PERMITTED, reasons: [each.reason] }

  it('exactly 20 are allowed and recorded', async () => {
    const rig = await rigOf(each)
    expect(await sendAtOnce(rig, each, CALLS)).toEqual(exactly)
    expect(allowedIn(rig)).toBe(PERMITTED)
  })

  it('exactly 20 are allowed with a restart after 10 of them', async () => {
    const rig = await rigOf(each)
    const first = await sendAtOnce(rig, each, 10)
    expect(first).toEqual({ passed: 10, ran: 10, reasons: [] })
    await rig.reopen()
    expect(await sendAtOnce(rig, each, CALLS - 10, 10, first)).toEqual(exactly)
    expect(allowedIn(rig)).toBe(PERMITTED)
  })

  it('exactly 20 are allowed with a cache so small that records are evicted and loaded again', async () => {
    let read = 0
    const between = (store: MemoryStore): Store => ({
      ...store,
      load: (names) => {
        read += names.length
        return store.load(names)
      },
    })
    const rig = await rigOf(each, { kernel: { maxRemembered: 1 }, between })
    const first = await sendAtOnce(rig, each, 10)
    await forgetAll(rig)
    const before = read
    expect(await sendAtOnce(rig, each, CALLS - 10, 10, first)).toEqual(exactly)
    expect(read).toBeGreaterThan(before)
  })
})

/** Calls of unknown principals for an unknown tool evict the other records from a small cache. */
async function forgetAll(rig: Rig): Promise<void> {
  for (let i = 0; i < 3; i++) {
    await rig.enforce({
      caller: { tenant: 'default', principal: `agent:q${i}` },
      session_id: 'q',
      tool: 'nothing',
    })
  }
}

describe('limits that are exact', () => {
  it('leave a ledger that verifies', async () => {
    const [each] = CASES
    if (!each) throw new Error('there is no case')
    const rig = await rigOf(each, { kernel: { maxRemembered: 1 } })
    await sendAtOnce(rig, each, CALLS)
    expect((await rig.verify()).level).toBe('verified')
  })

  it('give each of two tools 20 calls if they count by tool', async () => {
    const each: Case = {
      limit: 'a rate by tool',
      temporal: 'rate: { "db/*": { tool: 20/h } }',
      spread: { principals: 5, sessions: 7, tools: 2 },
      reason: 'RATE_EXCEEDED',
    }
    expect((await sendAtOnce(await rigOf(each), each, CALLS)).passed).toBe(2 * PERMITTED)
  })

  it('refill exactly with time', async () => {
    const [each] = CASES
    if (!each) throw new Error('there is no case')
    const rig = await rigOf(each)
    await sendAtOnce(rig, each, CALLS)
    rig.host.advance(15 * 60_000)
    expect((await sendAtOnce(rig, each, CALLS)).passed).toBe(5)
  })
})
