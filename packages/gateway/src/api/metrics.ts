// Counts metrics for Prometheus. Labels come from closed tables: callers cannot create new ones.

import { memoryUsage } from 'node:process'
import type { ReasonCode, Verdict } from '@tollgate/evidence'
import { TEXT } from './schema.ts'
import type { ApiOptions, ApiQuestion, Reply, ApiRoute } from './route.ts'

export interface Metrics {
  /** The start time of the gateway. */
  readonly since: string
  /** Counts a decision and its duration. */
  decided(verdict: Verdict, reason: ReasonCode, seconds: number): void
  effect(status: 'COMPLETED' | 'FAILED'): void
  /** Counts an answered request; `route` is a route id or `none`. */
  answered(route: string, status: number): void
  /** Changes the number of open streams. */
  streams(change: 1 | -1): void
  text(options: ApiOptions): Promise<string>
}

const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1]

/** Creates metrics with all counters at zero. */
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
        counter('tollgate_decisions_total', 'Calls decided over HTTP.', decisions),
        counter('tollgate_effects_total', 'Effects reported by callers.', effects),
        counter('tollgate_http_requests_total', 'HTTP requests answered.', requests),
        histogram(
          'tollgate_evaluate_seconds',
          'Time from reading a call to its durable receipt, in seconds.',
          buckets,
          seconds,
        ),
        gauge('tollgate_streams_open', 'Open receipt streams.', streams),
        ...(await gauges(options)),
        '',
      ].join('\n')
    },
  }
}

async function gauges({ view, kernel }: ApiOptions): Promise<string[]> {
  const { rss, heapUsed } = memoryUsage()
  const always = [
    gauge('tollgate_ledger_entries', 'Entries in the ledger.', await view.size()),
    gauge('process_resident_memory_bytes', 'Resident memory of the process.', rss),
    gauge('nodejs_heap_size_used_bytes', 'Used heap memory.', heapUsed),
  ]
  if (!kernel) return always
  const { ledger, approvals, openings, host, storage } = kernel
  const poisoned = ledger.poisoned === undefined ? 0 : 1
  return [
    ...always,
    gauge('tollgate_ledger_poisoned', '1 if the ledger is poisoned, else 0.', poisoned),
    gauge(
      'tollgate_approvals_waiting',
      'Approval requests that wait for an answer.',
      approvals.list(host.now()).length,
    ),
    gauge('tollgate_effects_open', 'Allowed calls without a reported effect.', openings.size),
    gauge(
      'tollgate_storage_used_up',
      'Principals that are denied until the end of the day because they exceeded the storage limit.',
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

export const metricsRoutes: readonly ApiRoute[] = [
  {
    method: 'GET',
    path: '/metrics',
    id: 'showMetrics',
    about: 'Returns metrics in the Prometheus text format.',
    roles: ['operator', 'admin', 'auditor'],
    answers: { 200: { about: 'The metrics.', type: TYPE, schema: TEXT } },
    answer: show,
  },
]
