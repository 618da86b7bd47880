// Real traffic at every door moves every metric and leaves a span for every call. A metric that no traffic here moves fails.

import { setFreeze } from '@tollgate/kernel/admin'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { FAMILIES, type FamilyName } from '../../src/telemetry/families.ts'
import { createApiRig, type ApiRig } from '../api/rig.ts'
import { closeAll, createServedRig, request } from '../serve/serve-rig.ts'
import type { Peer } from '../mcp/peers.ts'
import { openDoorsRig, type DoorsRig } from './doors-rig.ts'
import { alertNames, monitoringQueries, readDocument, usedIn } from './monitoring.ts'
import { readExposition, type ReadFamily } from './prometheus.ts'

type Scrape = ReadonlyMap<string, ReadFamily>

const SECRET = 'a-secret-argument'
const TRACE = 'c'.repeat(32)
const parentOf = (door: number): string => `${door}`.repeat(16)
const traceparent = (door: number): string => `00-${TRACE}-${parentOf(door)}-01`

/** The metrics that this traffic cannot move, each with the test below that moves it. */
const ELSEWHERE: Readonly<Partial<Record<FamilyName, string>>> = {
  tollgate_build_info: 'constant',
  process_start_time_seconds: 'constant',
  tollgate_ledger_waiting_entries: 'entries that wait for a slow store',
  tollgate_ledger_writing_batches: 'entries that wait for a slow store',
  tollgate_storage_used_up: 'a principal that has used up its storage',
  tollgate_connections_dropped_total: 'too many connections',
}

let rig: DoorsRig
let crm: Peer
const scrapes: Scrape[] = []
const receipts: Record<string, string> = {}

const tools = ['read_note', 'send_mail'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { text: { type: 'string' } } } },
}))
const chat = (door: number): Promise<Response> =>
  rig.post(
    '/openai/v1/chat/completions',
    { model: 'm', messages: [{ role: 'user', content: 'Read.' }], tools },
    { traceparent: traceparent(door), 'tollgate-session': 's-llm' },
  )

/** The traffic, step by step. The metrics are read after each step. */
const STEPS: readonly (() => Promise<unknown>)[] = [
  async () => {
    const call = { tool: 'read_note', arguments: { text: SECRET }, session_id: 's-http' }
    const answer = await rig.post('/v1/evaluate', call, { traceparent: traceparent(1) })
    receipts.http = ((await answer.json()) as { receipt: string }).receipt
  },
  () => rig.post('/v1/effects', { decision: receipts.http, status: 'COMPLETED', output: SECRET }),
  () => rig.running.gateway.checkpoint(),
  () => rig.post('/v1/evaluate', { tool: 'pay', session_id: 's-http' }),
  () => rig.post('/v1/evaluate', { tool: `invented-${'x'.repeat(20)}`, session_id: `s-${SECRET}` }),
  async () => {
    const observation = { url: 'https://example.com/', sentinel_risk: 1, sentinel_findings: [] }
    const call = { tool_name: 'web/look', session_id: 's-browser', observation, side_effect: false }
    await rig.post('/v1/browser/evaluate', call, { traceparent: traceparent(2) })
  },
  async () => {
    rig.model.script({ calls: [{ id: 'call_1', name: 'read_note', args: { text: SECRET } }] })
    expect((await chat(3)).status).toBe(200)
  },
  async () => {
    rig.model.script({ raw: { status: 500, headers: { 'content-type': 'application/json' }, body: '{}' } })
    await chat(3)
  },
  () =>
    crm.ask('tools/call', {
      name: 'lookup',
      arguments: { id: SECRET },
      _meta: { traceparent: traceparent(4), 'dev.tollgate/session': 's-mcp' },
    }),
  () => crm.ask('tools/call', { name: 'post', arguments: { url: 'https://a.example/', text: SECRET } }),
  () =>
    setFreeze(rig.running.gateway.kernel, {
      scope: 'tool',
      target: 'pay',
      frozen: true,
      by: 'user:test',
      tenant: 'default',
    }),
  () => fetch(`${rig.running.url}/healthz`, { headers: { origin: 'https://other.example' } }),
  async () => {
    const abort = new AbortController()
    const headers = { authorization: `Bearer ${await rig.issue('auditor', 'user:aude')}` }
    await fetch(`${rig.running.url}/v1/receipts/stream`, { headers, signal: abort.signal })
    scrapes.push(await rig.scrape())
    abort.abort()
  },
  // The sender of spans waits for this.
  () => vi.waitFor(() => expect(rig.collector.spans.length).toBeGreaterThan(0), { timeout: 15_000 }),
  () => {
    rig.running.gateway.kernel.ledger.poison('a test')
    return Promise.resolve()
  },
]

beforeAll(async () => {
  rig = await openDoorsRig()
  crm = await rig.crm()
  scrapes.push(await rig.scrape())
  for (const step of STEPS) {
    await step()
    scrapes.push(await rig.scrape())
  }
  await crm.close()
  await rig.stop().catch(() => undefined)
}, 60_000)
afterAll(async () => {
  await rig.close().catch(() => undefined)
  await closeAll()
})

const textOf = (scrape: Scrape | undefined, name: string): string =>
  JSON.stringify(scrape?.get(name)?.samples)
const last = (name: FamilyName): ReadFamily['samples'] => scrapes.at(-1)?.get(name)?.samples ?? []

describe('metrics', () => {
  test.each(Object.keys(FAMILIES) as FamilyName[])('%s is moved', (name) => {
    const values = new Set(scrapes.map((scrape) => textOf(scrape, name)))
    if (ELSEWHERE[name] === undefined) expect(values.size).toBeGreaterThan(1)
    else expect(values.size).toBe(1)
  })

  test.each(['http', 'browser', 'llm', 'mcp'])('the door %s counts its decisions and their times', (door) => {
    const count = (name: FamilyName): number =>
      last(name)
        .filter(({ name: own, labels }) => labels.door === door && !/_(?:bucket|sum)$/.test(own))
        .reduce((sum, { value }) => sum + value, 0)
    const decisions = count('tollgate_decisions_total')
    expect(decisions).toBeGreaterThan(0)
    expect(count('tollgate_decision_seconds')).toBe(decisions)
    expect(count('tollgate_durable_seconds')).toBe(decisions)
  })

  test('each upstream has its own times and errors', () => {
    const upstreams = new Set(last('tollgate_upstream_seconds').map(({ labels }) => labels.upstream))
    expect([...upstreams].sort()).toEqual(['mcp:crm', 'openai'])
    expect(last('tollgate_upstream_errors_total')).toMatchObject([
      { labels: { upstream: 'openai', kind: 'server-error' }, value: 1 },
    ])
  })

  test('every label has a value of its closed set, and nothing that an agent wrote', () => {
    for (const scrape of scrapes) {
      for (const [name, { samples }] of scrape) {
        const { labels } = FAMILIES[name as FamilyName]
        for (const sample of samples) {
          const { le: _, ...given } = sample.labels
          expect(Object.keys(given)).toEqual(Object.keys(labels))
          for (const [label, value] of Object.entries(given)) {
            const values = labels[label] ?? []
            if (!('from' in values)) expect(values).toContain(value)
            expect(value).not.toMatch(/invented|secret|agent:|read_note|s-/)
          }
        }
      }
    }
  })
})

describe('spans', () => {
  const spanOf = (door: string, tool: string): DoorsRig['collector']['spans'][number] | undefined =>
    rig.collector.spans.find(
      ({ attributes }) => attributes['tollgate.door'] === door && attributes['gen_ai.tool.name'] === tool,
    )

  test('arrive in the form of OTLP, at the path below the endpoint', () => {
    expect(rig.collector.mistakes).toEqual([])
    expect(new Set(rig.collector.requests.map(({ path }) => path))).toEqual(new Set(['/base/v1/traces']))
  })

  const CALLS = [
    ['http', 'read_note', 1, 's-http', undefined],
    ['browser', 'web/look', 2, 's-browser', undefined],
    ['llm', 'read_note', 3, 's-llm', undefined],
    ['mcp', 'crm/lookup', 4, 's-mcp', 'COMPLETED'],
  ] as const
  test.each(CALLS)('the door %s keeps the parent of a call', (door, tool, parent, session, effect) => {
    const span = spanOf(door, tool)
    expect(span).toMatchObject({
      traceId: TRACE,
      parentSpanId: parentOf(parent),
      name: `execute_tool ${tool}`,
      kind: 1,
      status: 0,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': tool,
        'gen_ai.conversation.id': session,
        'tollgate.door': door,
        'tollgate.verdict': 'ALLOW',
        'tollgate.reason_code': 'RULE_ALLOWED',
        'tollgate.gate': 'policy',
        'tollgate.principal': 'agent:a',
        'tollgate.receipt': expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      },
    })
    expect(span?.attributes['tollgate.effect']).toBe(effect)
    if (door === 'http') expect(span?.attributes['tollgate.receipt']).toBe(receipts.http)
    if (door === 'llm') expect(span?.attributes['gen_ai.tool.call.id']).toBe('call_1')
  })

  test('a denied call is an error with its reason', () => {
    expect(spanOf('mcp', 'crm/post')).toMatchObject({
      status: 2,
      attributes: { 'tollgate.verdict': 'DENY', 'error.type': 'NO_RULE_MATCHED' },
    })
  })

  test('every decision has exactly one, and none has an argument or a result', () => {
    const decisions = last('tollgate_decisions_total').reduce((sum, { value }) => sum + value, 0)
    expect(rig.collector.spans).toHaveLength(decisions)
    // The session is a name that the agent chose, and is in the receipt too.
    expect(rig.collector.text.replaceAll(`s-${SECRET}`, '')).not.toContain(SECRET)
    expect(rig.collector.text).not.toContain('4711')
  })
})

describe('the decision log', () => {
  const lines = (): readonly Record<string, unknown>[] =>
    rig
      .decisions()
      .trimEnd()
      .split('\n')
      // Sound: a line that is no object fails below.
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  const total = (name: FamilyName, field: string, value: string): number =>
    last(name)
      .filter(({ labels }) => labels[field] === value)
      .reduce((sum, each) => sum + each.value, 0)

  test('has a line for each decision of every door, as the metrics count them', () => {
    const decisions = lines().filter(({ type }) => type === 'decision')
    for (const verdict of ['ALLOW', 'DENY', 'ESCALATE']) {
      const counted = total('tollgate_decisions_total', 'verdict', verdict)
      expect(decisions.filter((line) => line.verdict === verdict)).toHaveLength(counted)
      expect(counted).toBeGreaterThan(0)
    }
    expect(new Set(decisions.map(({ door }) => door))).toEqual(new Set(['http', 'browser', 'llm', 'mcp']))
  })

  test('names the decision of an effect', () => {
    const effects = lines().filter(({ type }) => type === 'effect')
    expect(effects).toHaveLength(total('tollgate_effects_total', 'status', 'COMPLETED'))
    expect(effects).toContainEqual(
      expect.objectContaining({ decision: receipts.http, reported_by: 'caller' }),
    )
  })

  test('has no argument and no result', () => {
    expect(rig.decisions()).toContain('invented-')
    expect(rig.decisions().replaceAll(`s-${SECRET}`, '')).not.toContain(SECRET)
    expect(rig.decisions()).not.toContain('4711')
  })
})

describe('the alerts and the dashboard', () => {
  test.each(monitoringQueries())('ask only for metrics and labels that exist: %s', (_, query) => {
    const used = usedIn(query)
    expect(used.size).toBeGreaterThan(0)
    for (const [name, labels] of used) {
      const family = name.replace(/_(?:bucket|sum|count)$/, '')
      // Sound: a name that is no family fails below.
      const known = FAMILIES[family as FamilyName] as (typeof FAMILIES)[FamilyName] | undefined
      expect(known, name).toBeDefined()
      const samples = scrapes.flatMap((scrape) => scrape.get(family)?.samples ?? [])
      const seen = new Set(
        samples.filter((each) => each.name === name).flatMap(({ labels: own }) => Object.keys(own)),
      )
      if (ELSEWHERE[family as FamilyName] === undefined)
        expect(samples.map((each) => each.name)).toContain(name)
      for (const [label, value] of labels) {
        if (label === 'instance') continue
        expect([...seen, ...Object.keys(known?.labels ?? {})], `${name}: ${label}`).toContain(label)
        const values = known?.labels[label]
        if (value !== undefined && Array.isArray(values)) expect(values).toContain(value)
      }
    }
  })

  test('alert for each thing that denies every call', () => {
    const names = monitoringQueries().map(([name]) => name)
    for (const name of ['TollgateDown', 'TollgateLedgerPoisoned', 'TollgateFrozen'])
      expect(names).toContain(name)
  })

  test.each(alertNames())('%s has a row for the person on call', (name) => {
    expect(readDocument('docs/operating.md')).toContain(`| \`${name}\``)
  })
})

describe('what the doors cannot move at will', () => {
  const read = async (api: ApiRig): Promise<Scrape> =>
    readExposition((await api.ask('metrics', 'GET', '/metrics')).text)
  const valueIn = (scrape: Scrape, name: FamilyName, labels: object = {}): number | undefined =>
    scrape.get(name)?.samples.find((sample) => JSON.stringify(sample.labels) === JSON.stringify(labels))
      ?.value

  test('entries that wait for a slow store', async () => {
    let release = (): void => undefined
    let held = Promise.resolve()
    const api = await createApiRig({
      between: (store) => ({
        ...store,
        async write(batch) {
          await held
          return store.write(batch)
        },
      }),
    })
    const calm = await read(api)
    held = new Promise((resolve) => (release = resolve))
    const calls = [1, 2, 3].map(() => api.ask('agent', 'POST', '/v1/evaluate', { tool: 'fs/read_file' }))
    await expect
      .poll(async () => valueIn(await read(api), 'tollgate_ledger_writing_batches'))
      .toBeGreaterThan(0)
    await expect
      .poll(async () => {
        const scrape = await read(api)
        const stages = ['queued', 'writing'].map((stage) =>
          valueIn(scrape, 'tollgate_ledger_waiting_entries', { stage }),
        )
        return (stages[0] ?? 0) + (stages[1] ?? 0)
      })
      .toBe(3)
    release()
    await Promise.all(calls)
    const after = await read(api)
    for (const scrape of [calm, after]) {
      expect(valueIn(scrape, 'tollgate_ledger_writing_batches')).toBe(0)
      expect(valueIn(scrape, 'tollgate_ledger_waiting_entries', { stage: 'queued' })).toBe(0)
      expect(valueIn(scrape, 'tollgate_ledger_waiting_entries', { stage: 'writing' })).toBe(0)
    }
  })

  test('the age of the oldest request, of the newest entry and of the checkpoint', async () => {
    const api = await createApiRig()
    expect(valueIn(await read(api), 'tollgate_approvals_oldest_seconds')).toBe(0)
    const mail = { tool: 'mail/send', arguments: { to: 'a@example.com' }, session_id: 's1' }
    await api.ask('agent', 'POST', '/v1/evaluate', mail)
    api.host.time += 90_000
    const scrape = await read(api)
    expect(valueIn(scrape, 'tollgate_approvals_waiting')).toBe(1)
    expect(valueIn(scrape, 'tollgate_approvals_oldest_seconds')).toBe(90)
    expect(valueIn(scrape, 'tollgate_ledger_commit_age_seconds')).toBe(90)
  })

  test('a principal that has used up its storage', async () => {
    const api = await createApiRig({ kernel: { storage: 4000 } })
    const ask = async (): Promise<unknown> =>
      (await api.ask('agent', 'POST', '/v1/evaluate', { tool: 'fs/read_file' })).json.reason_code
    for (let i = 0; i < 20 && (await ask()) !== 'STORAGE_QUOTA_EXCEEDED'; i++);
    expect(valueIn(await read(api), 'tollgate_storage_used_up')).toBe(1)
  })

  test('too many connections', async () => {
    const served = await createServedRig({ connections: 2 })
    const sockets = await Promise.all([1, 2, 3, 4].map(() => served.connect()))
    const dropped = async (): Promise<number | undefined> =>
      valueIn(await read(served), 'tollgate_connections_dropped_total')
    await expect.poll(dropped).toBe(2)
    await expect.poll(async () => valueIn(await read(served), 'tollgate_connections_open')).toBe(2)
    for (const socket of sockets) socket.destroy()
    await served.raw('no HTTP\r\n\r\n')
    await served.raw(request(['GET /healthz HTTP/1.1', 'Host: other.example', 'Connection: close']))
    await served.raw(
      request(['GET /healthz HTTP/1.1', 'Host: localhost', 'Origin: https://a.example', 'Connection: close']),
    )
    const scrape = await read(served)
    for (const because of ['malformed', 'host', 'origin'])
      expect(valueIn(scrape, 'tollgate_http_refused_total', { because })).toBe(1)
  })
})
