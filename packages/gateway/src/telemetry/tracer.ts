// Sends spans to an OpenTelemetry collector if the operator has named one. Spans wait in a bounded queue and are sent in batches,
// so they never delay a call. Spans that find no place, or that the collector refuses, are dropped and counted.

import type { Log } from '../log.ts'
import { traceRequest } from './otlp.ts'
import { isTraceparent } from './traceparent.ts'

/** One timed operation. Attributes never contain an argument value, a token or a secret. */
export interface Span {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly start: number
  readonly end: number
  /** The `traceparent` of the request, if present. */
  readonly parent: string | undefined
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly failed?: boolean
}

export interface Tracer {
  record(span: Span): void
  /** Sends the remaining spans and stops. */
  stop(): Promise<void>
}

interface TracerOptions {
  /** Base URL of the collector, such as `http://127.0.0.1:4318`. */
  readonly endpoint: string
  /** Further headers, such as a credential. Never shown. */
  readonly headers?: Readonly<Record<string, string>>
  readonly version: string
  readonly log: Log
  /** Counts spans. */
  readonly count: (outcome: 'sent' | 'dropped', spans: number) => void
  /** Milliseconds between two batches. Default: one second. */
  readonly every?: number
}

const MAX_WAITING = 4096
const MAX_AT_ONCE = 512
/** Milliseconds until a collector must answer, and while the gateway stops. */
const ANSWER = 10_000
const LAST_ANSWER = 2000
const MAX_ANSWER = 65_536
/** After these statuses a collector wants the same batch again. */
const TRY_AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504])

/** Starts to send spans to a collector. */
export function startTracer(options: TracerOptions): Tracer {
  const { log, count, every = 1000 } = options
  const waiting: Span[] = []
  let sending: Promise<void> | undefined
  let stopping = false

  function flush(): Promise<void> {
    sending ??= sendAll().finally(() => (sending = undefined))
    return sending
  }

  /** Sends batch after batch. A batch that can be sent again later stays in the queue. */
  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_AT_ONCE)
      const { problem, rejected, again } = await sendBatch(options, batch, stopping ? LAST_ANSWER : ANSWER)
      if (problem !== undefined) {
        log('warn', 'traces could not be sent', { because: problem })
        if (again && !stopping) return
        // A gateway that stops does not wait for a busy collector.
        count('dropped', waiting.splice(0, again ? waiting.length : batch.length).length)
        continue
      }
      waiting.splice(0, batch.length)
      count('dropped', rejected)
      count('sent', batch.length - rejected)
    }
  }

  const timer = setInterval(() => void flush(), every)
  timer.unref()
  return {
    record(span) {
      if (waiting.length >= MAX_WAITING) count('dropped', 1)
      // An invalid parent can be long, and would use memory while it waits.
      else waiting.push(isTraceparent(span.parent) ? span : { ...span, parent: undefined })
    },
    async stop() {
      clearInterval(timer)
      stopping = true
      // A batch that is on its way may leave the rest in the queue.
      await sending
      await flush()
    },
  }
}

interface Sent {
  readonly problem?: string
  /** How many spans of the batch the collector did not take. */
  readonly rejected: number
  /** Whether the same batch may be taken later. */
  readonly again: boolean
}

async function sendBatch(
  { endpoint, headers = {}, version }: TracerOptions,
  spans: readonly Span[],
  within: number,
): Promise<Sent> {
  try {
    const answer = await fetch(`${endpoint.replace(/\/+$/, '')}/v1/traces`, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.timeout(within),
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(traceRequest(spans, version)),
    })
    if (answer.ok) return { rejected: rejectedBy(await answer.text(), spans.length), again: false }
    await answer.body?.cancel()
    const problem = `the collector answered ${answer.status}`
    return { problem, rejected: 0, again: TRY_AGAIN.has(answer.status) }
  } catch (cause) {
    const problem = cause instanceof Error ? cause.name : 'the collector could not be reached'
    return { problem, rejected: 0, again: true }
  }
}

/** How many spans the answer says were rejected. An answer that is no JSON rejects none. */
function rejectedBy(text: string, sent: number): number {
  if (text.length > MAX_ANSWER) return 0
  try {
    // Sound: every member is tested before use.
    const answer = JSON.parse(text) as { partialSuccess?: { rejectedSpans?: unknown } } | null
    const rejected = Number(answer?.partialSuccess?.rejectedSpans ?? 0)
    return Number.isInteger(rejected) && rejected > 0 ? Math.min(rejected, sent) : 0
  } catch {
    return 0
  }
}
