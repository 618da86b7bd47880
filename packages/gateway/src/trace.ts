// Traces, where an operator has asked for them: spans go to a collector by OTLP over HTTP, in batches, beside the road. What
// cannot be sent is dropped and counted; a slow collector slows nobody.

import { randomBytes } from 'node:crypto'
import type { Log } from './log.ts'

/** Something that took time. Attributes never hold an argument's value, a token or a secret. */
export interface Span {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly start: number
  readonly end: number
  /** The `traceparent` header that came with the request, if one did. */
  readonly parent: string | undefined
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly failed?: boolean
}

/** Takes spans, and sends them on. */
export interface Tracer {
  record(span: Span): void
  /** How many spans were dropped. */
  readonly dropped: number
  /** Sends what is left and ends. */
  stop(): Promise<void>
}

/** What a tracer is made of. */
interface TracerOptions {
  /** Base address of the collector, such as `http://127.0.0.1:4318`. */
  readonly endpoint: string
  readonly version: string
  readonly log: Log
  readonly send?: typeof fetch
  /** Milliseconds between two batches; five seconds if not given. */
  readonly every?: number
}

const MOST_WAITING = 4096
const MOST_AT_ONCE = 512
const ANSWER_WITHIN = 10_000
// W3C Trace Context: version, trace, parent, flags. All zeros are no ids.
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}$/

/** Begins to send spans to a collector. */
export function startTracer(options: TracerOptions): Tracer {
  const { log, every = 5000 } = options
  const waiting: Span[] = []
  let dropped = 0
  let sending: Promise<void> | undefined

  function flush(): Promise<void> {
    sending ??= sendAll().finally(() => (sending = undefined))
    return sending
  }

  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MOST_AT_ONCE)
      const problem = await sendBatch(options, batch)
      if (problem === undefined) continue
      dropped += batch.length
      log('warn', 'traces could not be sent', { because: problem, dropped })
      return
    }
  }

  const timer = setInterval(() => void flush(), every)
  timer.unref()
  return {
    record(span) {
      if (waiting.length < MOST_WAITING) waiting.push({ ...span, parent: parentOf(span) })
      else dropped++
    },
    get dropped() {
      return dropped
    },
    async stop() {
      clearInterval(timer)
      await flush()
    },
  }
}

/** The parent, if it is one: a caller's header can be as long as all headers may be, and would wait here for the collector. */
function parentOf({ parent }: Span): string | undefined {
  return parent !== undefined && TRACEPARENT.test(parent) ? parent : undefined
}

async function sendBatch(
  { endpoint, version, send = fetch }: TracerOptions,
  spans: readonly Span[],
): Promise<string | undefined> {
  try {
    const answer = await send(new URL('/v1/traces', endpoint), {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_WITHIN),
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(requestOf(spans, version)),
    })
    await answer.body?.cancel()
    return answer.ok ? undefined : `the collector answered ${answer.status}`
  } catch (cause) {
    return cause instanceof Error ? cause.name : 'the collector could not be reached'
  }
}

/** An OTLP `ExportTraceServiceRequest` as JSON. */
function requestOf(spans: readonly Span[], version: string): unknown {
  const resource = { attributes: attributesOf({ 'service.name': 'tollgate', 'service.version': version }) }
  const scope = { name: 'tollgate', version }
  return { resourceSpans: [{ resource, scopeSpans: [{ scope, spans: spans.map(spanOf) }] }] }
}

function spanOf({ name, start, end, parent, attributes, failed = false }: Span): unknown {
  const [, trace, above] = TRACEPARENT.exec(parent ?? '') ?? []
  return {
    traceId: trace ?? randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    ...(above !== undefined && { parentSpanId: above }),
    name,
    // SPAN_KIND_SERVER
    kind: 2,
    startTimeUnixNano: nanos(start),
    endTimeUnixNano: nanos(end),
    attributes: attributesOf(attributes),
    // STATUS_CODE_ERROR, or none.
    status: failed ? { code: 2 } : {},
  }
}

function nanos(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds * 1000)) * 1000n)
}

function attributesOf(attributes: Span['attributes']): unknown[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }))
}

function valueOf(value: string | number | boolean): unknown {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
