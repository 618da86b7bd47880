import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { collectGarbage } from '../../src/cli/setup/memory.ts'
import { silent } from '../../src/log.ts'
import { startTracer, type Span } from '../../src/trace.ts'

const SPAN: Span = {
  name: 'POST /v1/evaluate',
  start: 1_700_000_000_000.5,
  end: 1_700_000_000_001,
  parent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  attributes: { 'tollgate.verdict': 'DENY', 'http.response.status_code': 200 },
}

/** Sends spans to a collector that answers with `code`. Returns what it received. */
async function collect(
  code: number,
  spans: readonly Span[],
): Promise<{ paths: string[]; bodies: Exported[]; dropped: number }> {
  const paths: string[] = []
  const bodies: Exported[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      paths.push(`${request.method ?? ''} ${request.url ?? ''}`)
      bodies.push(JSON.parse(body) as Exported)
      response.writeHead(code).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const tracer = startTracer({
    endpoint: `http://127.0.0.1:${port}`,
    version: '1.2.3',
    log: silent,
    every: 60_000,
  })
  for (const span of spans) tracer.record(span)
  await tracer.stop()
  await new Promise((resolve) => server.close(resolve))
  return { paths, bodies, dropped: tracer.dropped }
}

interface Exported {
  readonly resourceSpans: { scopeSpans: { spans: Record<string, unknown>[] }[] }[]
}

const spansIn = (bodies: readonly Exported[]): Record<string, unknown>[] =>
  bodies.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  )

describe('traces', () => {
  it('reach the collector as OTLP, within the trace of the request', async () => {
    const { paths, bodies } = await collect(200, [SPAN])
    expect(paths).toEqual(['POST /v1/traces'])
    expect(spansIn(bodies)).toEqual([
      {
        traceId: 'a'.repeat(32),
        spanId: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
        parentSpanId: 'b'.repeat(16),
        name: 'POST /v1/evaluate',
        kind: 2,
        startTimeUnixNano: '1700000000000500000',
        endTimeUnixNano: '1700000000001000000',
        attributes: [
          { key: 'tollgate.verdict', value: { stringValue: 'DENY' } },
          { key: 'http.response.status_code', value: { intValue: '200' } },
        ],
        status: {},
      },
    ])
  })

  it.each([
    '',
    'garbage',
    `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`,
    `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  ])('start a new trace if the header is invalid: `%s`', async (parent) => {
    const [span] = spansIn((await collect(200, [{ ...SPAN, parent }])).bodies)
    expect(span?.traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(span?.traceId).not.toBe('a'.repeat(32))
    expect(span).not.toHaveProperty('parentSpanId')
  })

  it('are dropped and counted if the collector refuses them, and never accumulate', async () => {
    expect((await collect(500, [SPAN, SPAN])).dropped).toBe(2)
    const { bodies, dropped } = await collect(
      200,
      Array.from({ length: 5000 }, () => SPAN),
    )
    expect(spansIn(bodies)).toHaveLength(4096)
    expect(dropped).toBe(5000 - 4096)
  })

  it('do not store an invalid `traceparent` header', async () => {
    const tracer = startTracer({
      endpoint: 'http://127.0.0.1:9',
      version: '1.2.3',
      log: silent,
      every: 60_000,
    })
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 4000; i++) tracer.record({ ...SPAN, parent: Buffer.alloc(8000, 'x').toString() })
    collectGarbage()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(8 << 20)
    await tracer.stop()
  })
})
