// Which calls of a ledger are observed, and which sessions are excluded from learning.

import {
  canonicalize,
  NO_HASH,
  sha256Hex,
  type Approval,
  type Decision,
  type Effect,
  type Json,
  type ReasonCode,
  type Receipt,
} from '@tollgate/evidence'
import { readKeptCall } from '@tollgate/kernel'
import type { TraceEntry } from '@tollgate/kernel/workbench'
import { describe, expect, test } from 'vitest'
import { createSeenTools } from '../../src/tools/seen.ts'
import { createGatherer, type Gathered, type CallFilter } from '../../src/workbench/learn/gather.ts'

let made = 0

const COMMON = {
  v: 1,
  ledger: 'ledger.example/test',
  tenant: 'main',
  writer: 'gateway',
  seq: 0,
  lamport_clock: 0,
  prev_receipt_hash: NO_HASH,
  causes: [],
  time: '2026-01-05T09:00:00.000Z',
  key: NO_HASH,
} as const

function entry(receipt: Receipt, kept?: string): TraceEntry {
  return { id: (made++).toString(16).padStart(64, '0'), receipt, kept }
}

function decision(args: Json, more: Partial<Decision> = {}): TraceEntry {
  const receipt: Decision = {
    ...COMMON,
    kind: 'decision',
    principal: 'agent:one',
    session: { id: 's', seq: 0 },
    door: 'mcp',
    assurance: 'enforced',
    tool: 'fs/read',
    effect_class: 'read',
    args_hash: sha256Hex(canonicalize(args)),
    commit: 'plain',
    verdict: 'ALLOW',
    reason_code: 'OBSERVE_MODE_ALLOWED',
    rung: 'policy',
    rule: 'observe',
    policy_hash: NO_HASH,
    ladder: NO_HASH,
    state_hash: NO_HASH,
    next_state_hash: NO_HASH,
    evidence: NO_HASH,
    trajectory_risk_score: '0',
    session_centroid_hash: NO_HASH,
    risk_accumulation_window: 0,
    ...more,
  }
  return entry(receipt, JSON.stringify({ args, context: {}, state: '' }))
}

function effect(of: TraceEntry, more: Partial<Effect>): TraceEntry {
  return entry({
    ...COMMON,
    kind: 'effect',
    decision: of.id,
    status: 'COMPLETED',
    commit: 'plain',
    reported_by: 'gateway',
    delivery: 'full',
    ...more,
  })
}

function refusal(of: TraceEntry): TraceEntry {
  const answer: Approval = {
    ...COMMON,
    kind: 'approval',
    decision: of.id,
    answer: 'REFUSED',
    approver: 'user:me',
    expires: COMMON.time,
  }
  return entry(answer)
}

function gather(entries: readonly TraceEntry[], wanted: CallFilter = {}): Gathered {
  const gatherer = createGatherer(wanted)
  for (const each of entries) gatherer.take(each)
  return gatherer.finish(undefined)
}

const NO_RULE = {
  verdict: 'DENY',
  reason_code: 'NO_RULE_MATCHED',
  rule: undefined,
} as unknown as Partial<Decision>

test('a call consists of its receipt and the kept call', () => {
  expect(readKeptCall(decision({}).kept)).toBeDefined()
  const { calls } = gather([decision({ url: 'https://example.com/a' })])
  expect(calls).toMatchObject([
    {
      tool: 'fs/read',
      effect: 'read',
      principal: 'agent:one',
      session: 's',
      door: 'mcp',
      args: { url: 'https://example.com/a' },
      destinations: [{ scheme: 'https', host: 'example.com', port: 443 }],
      clean: true,
    },
  ])
})

test('only calls allowed by observe mode count, and on request those that no rule matched', () => {
  const entries = [
    decision({ n: 1 }),
    decision({ n: 2 }, NO_RULE),
    decision({ n: 3 }, { reason_code: 'RULE_ALLOWED', rule: 'x' }),
  ]
  expect(gather(entries).calls.map(({ args }) => args)).toEqual([{ n: 1 }])
  expect(gather(entries).denied).toBe(1)
  expect(gather(entries, { denied: true }).calls.map(({ args }) => args)).toEqual([{ n: 1 }, { n: 2 }])
})

test.each<[CallFilter, number]>([
  [{}, 2],
  [{ session: 't' }, 1],
  [{ principal: 'agent:two' }, 1],
  [{ tool: 'fs/read' }, 1],
  [{ since: Date.parse('2026-01-05T10:00:00Z') }, 1],
  [{ session: 't', principal: 'agent:one' }, 0],
])('of those that are wanted: %j', (wanted, many) => {
  const other = {
    tool: 'fs/list',
    principal: 'agent:two',
    session: { id: 't', seq: 0 },
    time: '2026-01-05T11:00:00.000Z',
  }
  expect(gather([decision({}), decision({}, other)], wanted).calls).toHaveLength(many)
})

describe('calls that do not match their receipt are not used', () => {
  const good = decision({ n: 1 })
  test.each<[string, TraceEntry]>([
    ['nothing was kept', { ...good, kept: undefined }],
    ['it is damaged', { ...good, kept: '{"args":' }],
    ['it is another call', { ...good, kept: JSON.stringify({ args: { n: 2 }, context: {}, state: '' }) }],
    [
      'it has no arguments that a call could have',
      { ...good, kept: '{"args":1e400,"context":{},"state":""}' },
    ],
    ['it could not be read', decision(null, { commit: 'raw' })],
  ])('%s', (_, each) => {
    expect(gather([each])).toMatchObject({ calls: [], unkept: 1 })
  })
})

describe('a session is left out as a whole', () => {
  const first = decision({ n: 1 })
  const asked = decision({ n: 2 }, { verdict: 'ESCALATE', reason_code: 'APPROVAL_REQUIRED', rule: 'ask' })
  test.each<[string, TraceEntry]>([
    ['a call has findings', decision({ n: 2 }, { findings: ['ROLE_TAG'] })],
    ['a call had data labelled `secret`', decision({ n: 2 }, { labels: ['secret'] })],
    [
      'a call was denied, PROMPT_INJECTION_DETECTED',
      decision({ n: 2 }, { verdict: 'DENY', reason_code: 'PROMPT_INJECTION_DETECTED', rung: 'threat' }),
    ],
    ['a result was withheld', effect(first, { delivery: 'withheld' })],
    ['a result has findings', effect(first, { findings: ['ROLE_TAG'] })],
    ['a result had data labelled `flagged`', effect(first, { labels: ['flagged'] })],
    ['a person denied a call', refusal(asked)],
  ])('%s', (why, each) => {
    const others = decision({ n: 3 }, { session: { id: 'other', seq: 0 } })
    const { calls } = gather([first, asked, others, each], { tool: 'fs/read' })
    const bySession = calls.map(({ session, clean, why: said }) => [session, clean, said])
    expect(
      bySession
        .filter(([session]) => session === 's')
        .every(([, clean, said]) => clean === false && said === why),
    ).toBe(true)
    expect(bySession).toContainEqual(['other', true, undefined])
  })

  test.each<[string, Partial<Decision>]>([
    ['its risk reached 0.38 or more', { trajectory_risk_score: '0.3800' }],
    ['its risk reached 0.38 or more', { trajectory_risk_score: 'no number' }],
    [
      'a call was denied, SESSION_RISK_MEMORY_DENY',
      { verdict: 'DENY', reason_code: 'SESSION_RISK_MEMORY_DENY' },
    ],
  ])('%s: %j', (why, more) => {
    const { calls } = gather([first, decision({ n: 2 }, more)])
    expect(calls[0]).toMatchObject({ clean: false, why })
    expect(gather([first, decision({ n: 2 }, { trajectory_risk_score: '0.3799' })]).calls[0]?.clean).toBe(
      true,
    )
  })

  test.each<[string, 'session' | 'principal', string, string | undefined]>([
    ['it was frozen', 'session', 's', undefined],
    ['its principal was frozen', 'principal', 'agent:one', 'its principal was frozen'],
  ])('%s, also if that was lifted later', (why, scope, target, others) => {
    const freeze = (frozen: boolean): TraceEntry =>
      entry({ ...COMMON, kind: 'freeze', scope, target, frozen, by: 'user:olga' })
    const other = decision({ n: 2 }, { session: { id: 'other', seq: 0 } })
    const stranger = decision({ n: 3 }, { principal: 'agent:two', session: { id: 'two', seq: 0 } })
    const { calls } = gather([first, freeze(true), freeze(false), other, stranger])
    expect(calls.map((call) => call.why)).toEqual([why, others, undefined])
    // A freeze of another tenant and a lifted freeze do not apply here.
    const elsewhere = entry({
      ...COMMON,
      tenant: 'another',
      kind: 'freeze',
      scope,
      target,
      frozen: true,
      by: 'user:olga',
    })
    expect(gather([first, freeze(false), elsewhere]).calls[0]?.clean).toBe(true)
  })

  test('also for events before the selected calls, and of other tools', () => {
    const bad = decision({}, { tool: 'x', findings: ['ROLE_TAG'], time: '2026-01-01T00:00:00.000Z' })
    const { calls } = gather([bad, decision({})], {
      tool: 'fs/read',
      since: Date.parse('2026-01-05T00:00:00Z'),
    })
    expect(calls.map(({ clean }) => clean)).toEqual([false])
  })

  test('but not for harmless labels or calls that no rule matched', () => {
    const { calls } = gather([decision({}, { labels: ['page'] }), decision({ n: 1 }, NO_RULE)])
    expect(calls.map(({ clean }) => clean)).toEqual([true])
  })
})

describe('after a denial', () => {
  const denied = { verdict: 'DENY', reason_code: 'POLICY_VIOLATION', rule: 'x' } as const

  test.each<ReasonCode>(['POLICY_VIOLATION', 'SCHEMA_VIOLATION', 'DATA_EGRESS_BLOCKED', 'RATE_EXCEEDED'])(
    'only the denied call is left out, with its reason: %s',
    (reason_code) => {
      const { calls, rejected } = gather([decision({ n: 1 }), decision({ n: 2 }, { ...denied, reason_code })])
      expect(calls.map(({ args, clean }) => [args, clean])).toEqual([[{ n: 1 }, true]])
      expect([...rejected]).toEqual([[reason_code, 1]])
    },
  )

  test('calls that the filter leaves out are not counted', () => {
    expect(gather([decision({}, denied)], { tool: 'fs/list' }).rejected.size).toBe(0)
  })

  test('a principal that the gateway froze because of its denials is still learned from', () => {
    const frozen = { kind: 'freeze', scope: 'principal', target: 'agent:one', frozen: true } as const
    const flood = entry({ ...COMMON, ...frozen, by: 'tollgate' })
    expect(gather([decision({}), flood]).calls[0]?.clean).toBe(true)
    expect(gather([decision({}), entry({ ...COMMON, ...frozen, by: 'user:olga' })]).calls[0]?.clean).toBe(
      false,
    )
  })

  test('a call of an undeclared tool can be learned from with `--denied`', () => {
    const undeclared = decision({ n: 1 }, { ...NO_RULE, reason_code: 'TOOL_NOT_DECLARED' })
    expect(gather([undeclared], { denied: true }).calls).toHaveLength(1)
    expect([...gather([undeclared]).rejected]).toEqual([['TOOL_NOT_DECLARED', 1]])
  })
})

test('a draft shows no secrets of calls, at any depth', () => {
  const tools = createSeenTools()
  tools.take(
    decision({
      headers: { Authorization: 'Bearer abcdefghijklmnop' },
      options: { login: [{ password: 'hunter2horsebattery' }] },
      url: 'https://bob:s3cretpw@example.com/a',
      path: 'src/a.ts',
    }),
  )
  const samples = tools.list().flatMap((tool) => tool.arguments.map((each) => [each.name, each.samples]))
  expect(samples).toEqual([
    ['headers', []],
    ['options', []],
    ['url', []],
    ['path', ['"src/a.ts"']],
  ])
})

test('the newest activated policy is known', () => {
  const gatherer = createGatherer()
  expect(gatherer.policyHash()).toBeUndefined()
  for (const letter of ['a', 'b']) {
    gatherer.take(
      entry({ ...COMMON, kind: 'policy', policy_hash: letter.repeat(64), name: 'x', by: 'user:me' }),
    )
  }
  expect(gatherer.policyHash()).toBe('b'.repeat(64))
})
