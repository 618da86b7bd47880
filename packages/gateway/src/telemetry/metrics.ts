// Counts what the gateway does, and writes it for Prometheus.

import { familyText } from './exposition.ts'
import {
  FAMILIES,
  type CounterName,
  type MetricFamily,
  type FamilyName,
  type GaugeName,
  type HistogramName,
  type HttpRefusal,
  type UpstreamFaultKind,
} from './families.ts'
import { readGauges, type Measured } from './gauges.ts'
import type { CallMeter } from './meter.ts'
import { Counter, Histogram, type MetricSample } from './series.ts'

/** The counters of one gateway. */
export interface Metrics extends Pick<CallMeter, 'decided' | 'effect'> {
  /** The start time of the gateway. */
  readonly since: string
  /** Counts an answered request; `route` is a route id, `llm`, `mcp` or `none`. */
  answered(route: string, status: number): void
  /** Counts a request that no door and no route read. */
  refused(because: HttpRefusal): void
  /** Changes the number of open connections. */
  connections(change: 1 | -1): void
  /** Counts a connection that was dropped because there were too many. */
  dropped(): void
  /** Changes the number of open streams. */
  streams(change: 1 | -1): void
  /** Counts a request to an upstream with its duration in milliseconds. */
  upstream(name: string, took: number, fault: UpstreamFaultKind | undefined): void
  /** Counts spans. */
  spans(outcome: 'sent' | 'dropped', count: number): void
  /** Counts lines of the decision log. */
  logged(outcome: 'written' | 'dropped', lines: number): void
  text(measured: Measured): Promise<string>
}

/** Creates metrics with all counters at zero. */
export function createMetrics(): Metrics {
  const since = new Date().toISOString()
  const counters = new Map<FamilyName, Counter>()
  const histograms = new Map<FamilyName, Histogram>()
  for (const name of namesOf('counter')) counters.set(name, new Counter())
  for (const name of namesOf('histogram')) histograms.set(name, new Histogram())
  const count = (name: CounterName, ...values: readonly string[]): void => counters.get(name)?.add(...values)
  const time = (name: HistogramName, milliseconds: number, label: string): void =>
    histograms.get(name)?.add(milliseconds / 1000, label)
  const open = { connections: 0, streams: 0 }

  return {
    since,
    decided({ door, decided, arrived, judged, recorded }) {
      const { verdict, reason, rung, receipt } = decided
      count('tollgate_decisions_total', door, verdict, reason, rung)
      time('tollgate_decision_seconds', judged - arrived, door)
      if (receipt !== undefined) time('tollgate_durable_seconds', recorded - judged, door)
    },
    effect: (status, reportedBy) => count('tollgate_effects_total', status, reportedBy),
    answered: (route, status) =>
      count('tollgate_http_requests_total', route, `${Math.floor(status / 100)}xx`),
    refused: (because) => count('tollgate_http_refused_total', because),
    connections: (change) => void (open.connections += change),
    dropped: () => count('tollgate_connections_dropped_total'),
    streams: (change) => void (open.streams += change),
    upstream(name, took, fault) {
      time('tollgate_upstream_seconds', took, name)
      if (fault !== undefined) count('tollgate_upstream_errors_total', name, fault)
    },
    spans: (outcome, number) => counters.get('tollgate_spans_total')?.addMany(number, outcome),
    logged: (outcome, lines) => counters.get('tollgate_decision_log_lines_total')?.addMany(lines, outcome),
    async text(measured) {
      const gauges = await readGauges({ ...measured, since, open })
      const samples = (name: FamilyName): readonly MetricSample[] => {
        const { length } = Object.keys(FAMILIES[name].labels)
        return (
          counters.get(name)?.samples(length) ??
          histograms.get(name)?.samples() ??
          // Sound: every family is a counter, a histogram or a gauge.
          gauges[name as GaugeName]
        )
      }
      // Counters and histograms are read in one go, so that a sum agrees with its count.
      return names()
        .map((name) => familyText(name, FAMILIES[name], samples(name)))
        .join('')
    },
  }
}

function names(): readonly FamilyName[] {
  // Sound: the keys of a constant.
  return Object.keys(FAMILIES) as FamilyName[]
}

function namesOf(type: MetricFamily['type']): readonly FamilyName[] {
  return names().filter((name) => FAMILIES[name].type === type)
}
