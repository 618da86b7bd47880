// Figures for Prometheus. Labels are words of closed tables: nothing that a caller chooses can become one.

import { memoryUsage } from 'node:process'
import type { ReasonCode, Verdict } from '@tollgate/evidence'
import { TEXT } from './schema.ts'
import type { ApiOptions, ApiQuestion, Reply, ApiRoute } from './route.ts'

/** Counts what happens. */
export interface Metrics {
  /** When counting began: when the gateway was started. */
  readonly since: string
  /** A decision and how long it took, in seconds. */
  decided(verdict: Verdict, reason: ReasonCode, seconds: number): void
  effect(status: 'COMPLETED' | 'FAILED'): void
  /** A request that was answered; `route` is the id of a route, or `none`. */
  answered(route: string, status: number): void
  /** Streams that are open change by this many. */
  streams(change: 1 | -1): void
  text(options: ApiOptions): Promise<string>
}

const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]

/** Counters at zero. */
export function createMetrics(): Metrics {
  const decisions = new Map<string, number>()
  const effects = new Map<string, number>()
  const requests = new Map<string, number>()
  const buckets = new Array<number>(BOUNDS.length + 1).fill(0)
  let seconds = 0
  let streams = 0
  const add = (counts: Map<string, number>, labels: string): void =>
    void counts.set(labels, (counts.get(labels) ?? 0) + 1)

  return {
    since: new Date().toISOString(),
    decided(verdict, reason, took) {
      add(decisions, `verdict="${verdict}",reason_code="${reason}"`)
      const at = BOUNDS.findIndex((bound) => took <= bound)
      const bucket = at < 0 ? BOUNDS.length : at
      buckets[bucket] = (buckets[bucket] ?? 0) + 1
      seconds += took
    },
    effect: (status) => add(effects, `status="${status}"`),
    answered: (route, status) => add(requests, `route="${route}",status="${Math.floor(status / 100)}xx"`),
    streams: (change) => void (streams += change),
    async text(options) {
      return [
        counter('tollgate_decisions_total', 'Calls that were judged over HTTP.', decisions),
        counter('tollgate_effects_total', 'Effects that callers reported.', effects),
        counter('tollgate_http_requests_total', 'Requests that were answered.', requests),
        histogram(
          'tollgate_evaluate_seconds',
          'Time from reading a call to its durable receipt.',
          buckets,
          seconds,
        ),
        gauge('tollgate_streams_open', 'Streams of receipts that are open.', streams),
        ...(await gauges(options)),
        '',
      ].join('\n')
    },
  }
}

async function gauges({ view, kernel }: ApiOptions): Promise<string[]> {
  const { rss, heapUsed } = memoryUsage()
  const always = [
    gauge('tollgate_ledger_entries', 'Entries of the ledger.', await view.size()),
    gauge('process_resident_memory_bytes', 'Memory of the process.', rss),
    gauge('nodejs_heap_size_used_bytes', 'Memory in use by objects.', heapUsed),
  ]
  if (!kernel) return always
  const { ledger, approvals, openings, host, storage } = kernel
  const poisoned = ledger.poisoned === undefined ? 0 : 1
  return [
    ...always,
    gauge('tollgate_ledger_poisoned', 'Whether the ledger can no longer record.', poisoned),
    gauge(
      'tollgate_approvals_waiting',
      'Requests that wait for a person.',
      approvals.list(host.now()).length,
    ),
    gauge('tollgate_effects_open', 'Allowed calls whose effect is not known yet.', openings.size),
    gauge(
      'tollgate_storage_used_up',
      'Principals that are denied until the day ends because they have stored too much.',
      storage.denied(host.now()),
    ),
  ]
}

function gauge(name: string, help: string, value: number): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${value}`
}

function counter(name: string, help: string, counts: ReadonlyMap<string, number>): string {
  const lines = [...counts].sort().map(([labels, count]) => `${name}{${labels}} ${count}`)
  return [`# HELP ${name} ${help}`, `# TYPE ${name} counter`, ...lines].join('\n')
}

function histogram(name: string, help: string, buckets: readonly number[], sum: number): string {
  let total = 0
  const lines = buckets.map((count, i) => {
    total += count
    return `${name}_bucket{le="${BOUNDS[i] ?? '+Inf'}"} ${total}`
  })
  const ends = [`${name}_sum ${sum}`, `${name}_count ${total}`]
  return [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...lines, ...ends].join('\n')
}

const TYPE = 'text/plain; version=0.0.4; charset=utf-8'

async function show({ options, metrics }: ApiQuestion): Promise<Reply> {
  return { status: 200, headers: { 'content-type': TYPE }, body: await metrics.text(options) }
}

/** The figures. */
export const metricsRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/metrics',
    id: 'showMetrics',
    about: 'Figures in the text format of Prometheus.',
    roles: ['operator', 'admin', 'auditor'],
    answers: { 200: { about: 'The figures.', type: TYPE, schema: TEXT } },
    answer: show,
  },
]
