// Sends spans to an OpenTelemetry collector (OTLP over HTTP) if the operator has enabled it. Spans are sent in batches and
// never delay a call: spans that cannot be sent are dropped and counted.

import { randomBytes } from 'node:crypto'
import type { Log } from './log.ts'

/** One timed operation. Attributes never contain an argument value, a token or a secret. */
export interface Span {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly start: number
  readonly end: number
  /** The `traceparent` header of the request, if present. */
  readonly parent: string | undefined
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly failed?: boolean
}

export interface Tracer {
  record(span: Span): void
  /** The number of dropped spans. */
  readonly dropped: number
  /** Sends the remaining spans and stops. */
  stop(): Promise<void>
}

interface TracerOptions {
  /** Base URL of the collector, such as `http://127.0.0.1:4318`. */
  readonly endpoint: string
  readonly version: string
  readonly log: Log
  readonly send?: typeof fetch
  /** Milliseconds between two batches. Default: 5 seconds. */
  readonly every?: number
}

const MAX_WAITING = 4096
const MAX_AT_ONCE = 512
const ANSWER_WITHIN = 10_000
// W3C Trace Context: version, trace, parent, flags. Ids of only zeros are invalid.
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}$/

/** Starts to send spans to a collector. */
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
      const batch = waiting.splice(0, MAX_AT_ONCE)
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
      if (waiting.length < MAX_WAITING) waiting.push({ ...span, parent: parentOf(span) })
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

/**
 * The `traceparent` if it is well-formed. Others are dropped early, because a header can be long and would use memory while
 * it waits.
 */
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
    // STATUS_CODE_ERROR, or unset.
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
