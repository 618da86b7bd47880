import { afterEach, describe, expect, it } from 'vitest'
import { collectGarbage } from '../../src/cli/setup/memory.ts'
import { silent } from '../../src/log.ts'
import { startTracer, type Span, type Tracer } from '../../src/telemetry/tracer.ts'
import { startCollector, type Collector, type ScriptedAnswer } from './collector.ts'

const PARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
const SPAN: Span = {
  name: 'execute_tool notes/read',
  start: 1_700_000_000_000.5,
  end: 1_700_000_000_001,
  parent: PARENT,
  attributes: { 'tollgate.verdict': 'DENY', count: 200, share: 0.5, late: true },
}

let collector: Collector
let counted: Record<'sent' | 'dropped', number>

afterEach(() => collector.close())

async function open(
  answers: readonly ScriptedAnswer[] = [],
  headers: Readonly<Record<string, string>> = {},
): Promise<Tracer> {
  collector = await startCollector(...answers)
  counted = { sent: 0, dropped: 0 }
  return startTracer({
    endpoint: `${collector.url}/otlp/`,
    headers,
    version: '1.2.3',
    log: silent,
    count: (outcome, spans) => void (counted[outcome] += spans),
    every: 10,
  })
}

/** Resolves when the collector has got so many requests. */
const asked = (requests: number): Promise<void> =>
  expect.poll(() => collector.requests.length).toBeGreaterThanOrEqual(requests)

describe('traces', () => {
  it('reach the collector as OTLP, within the trace of the request', async () => {
    const tracer = await open([], { authorization: 'Bearer of-the-collector' })
    tracer.record(SPAN)
    await tracer.stop()
    expect(collector.mistakes).toEqual([])
    expect(collector.requests).toMatchObject([
      { path: '/otlp/v1/traces', headers: { authorization: 'Bearer of-the-collector' } },
    ])
    expect(collector.spans).toEqual([
      {
        traceId: 'a'.repeat(32),
        spanId: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
        parentSpanId: 'b'.repeat(16),
        flags: 0x301,
        name: 'execute_tool notes/read',
        kind: 1,
        start: 1_700_000_000_000_500_000n,
        end: 1_700_000_000_001_000_000n,
        attributes: SPAN.attributes,
        status: 0,
      },
    ])
    expect(counted).toEqual({ sent: 1, dropped: 0 })
  })

  it.each([
    '',
    'garbage',
    `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`,
    `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  ])('start a new trace if the header is invalid: `%s`', async (parent) => {
    const tracer = await open()
    tracer.record({ ...SPAN, parent })
    await tracer.stop()
    expect(collector.mistakes).toEqual([])
    expect(collector.spans[0]?.traceId).not.toBe('a'.repeat(32))
    expect(collector.spans[0]?.parentSpanId).toBeUndefined()
  })

  it.each([429, 503])('are sent again after %i', async (status) => {
    const tracer = await open([{ status }, { status }])
    tracer.record(SPAN)
    await asked(3)
    await tracer.stop()
    expect(collector.spans).toHaveLength(1)
    expect(counted).toEqual({ sent: 1, dropped: 0 })
  })

  it('are dropped and counted if the collector refuses them, or a part of them', async () => {
    const tracer = await open([
      { status: 400 },
      { status: 200, body: '{"partialSuccess":{"rejectedSpans":"2"}}' },
      { status: 200, body: 'no JSON' },
    ])
    for (let i = 0; i < 3 * 512; i++) tracer.record(SPAN)
    await tracer.stop()
    expect(counted).toEqual({ sent: 2 * 512 - 2, dropped: 512 + 2 })
  })

  it('never accumulate, and stopping does not wait for a collector that is busy', async () => {
    const tracer = await open(Array.from({ length: 9 }, () => ({ status: 503 })))
    for (let i = 0; i < 5000; i++) tracer.record(SPAN)
    await tracer.stop()
    expect(counted.sent).toBe(0)
    expect(counted.dropped).toBe(5000)
  })

  it('do not store an invalid `traceparent` header', async () => {
    const tracer = await open()
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 4000; i++) tracer.record({ ...SPAN, parent: Buffer.alloc(8000, 'x').toString() })
    collectGarbage()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(8 << 20)
    await tracer.stop()
  })
})
