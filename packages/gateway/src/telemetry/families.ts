// The table of all metrics. Every label has a closed set of values, or values that only the operator chooses, so callers cannot
// create new time series.

import { DOORS, LADDER_STEPS, REASONS, VERDICTS } from '@tollgate/evidence'

/** The ways in which a request to an upstream can end without a usable answer. */
const UPSTREAM_FAULTS = [
  'unreachable',
  'lost',
  'timeout',
  'garbled',
  'cancelled',
  'rate-limited',
  'client-error',
  'server-error',
  'rpc-error',
] as const
export type UpstreamFaultKind = (typeof UPSTREAM_FAULTS)[number]

/** Why the gateway refused a request before it reached a door or a route. */
const REFUSALS = ['busy', 'malformed', 'headers', 'host', 'origin'] as const
export type HttpRefusal = (typeof REFUSALS)[number]

/** The things that a freeze can cover. */
export const FREEZE_SCOPES = ['all', 'principal', 'tool', 'session'] as const

/** The values of a label: a closed list, or the words that describe where they come from. */
export type LabelValues = readonly string[] | { readonly from: string }

export interface MetricFamily {
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** One sentence. */
  readonly help: string
  readonly labels: Readonly<Record<string, LabelValues>>
}

export type CounterName =
  | 'tollgate_decisions_total'
  | 'tollgate_effects_total'
  | 'tollgate_upstream_errors_total'
  | 'tollgate_http_requests_total'
  | 'tollgate_http_refused_total'
  | 'tollgate_connections_dropped_total'
  | 'tollgate_spans_total'
  | 'tollgate_decision_log_lines_total'
export type HistogramName =
  | 'tollgate_decision_seconds'
  | 'tollgate_durable_seconds'
  | 'tollgate_upstream_seconds'
export type GaugeName =
  | 'tollgate_build_info'
  | 'tollgate_effects_open'
  | 'tollgate_connections_open'
  | 'tollgate_streams_open'
  | 'tollgate_approvals_waiting'
  | 'tollgate_approvals_oldest_seconds'
  | 'tollgate_freezes'
  | 'tollgate_storage_used_up'
  | 'tollgate_ledger_entries'
  | 'tollgate_ledger_waiting_entries'
  | 'tollgate_ledger_writing_batches'
  | 'tollgate_ledger_commit_age_seconds'
  | 'tollgate_ledger_poisoned'
  | 'tollgate_checkpoint_age_seconds'
  | 'tollgate_checkpoint_behind_entries'
  | 'process_start_time_seconds'
  | 'process_resident_memory_bytes'
  | 'nodejs_heap_size_used_bytes'
export type FamilyName = CounterName | HistogramName | GaugeName

type FamiliesOf<Name extends string, Type extends MetricFamily['type']> = Readonly<
  Record<Name, MetricFamily & { readonly type: Type }>
>
type Families = FamiliesOf<CounterName, 'counter'> &
  FamiliesOf<HistogramName, 'histogram'> &
  FamiliesOf<GaugeName, 'gauge'>

const ROUTE = { from: 'operation ids of the HTTP API, `llm`, `mcp` and `none`' }
const UPSTREAM = {
  from: '`openai`, `azure`, `anthropic`, `gemini`, `mcp:` and the configured name, and `mcp:own` for servers of the wrapper',
}
const PLAIN: MetricFamily['labels'] = {}

/** All metrics, in the order of the answer. */
export const FAMILIES: Families = {
  tollgate_build_info: {
    type: 'gauge',
    help: 'Always 1. The label is the version of the gateway.',
    labels: { version: { from: 'the version' } },
  },
  tollgate_decisions_total: {
    type: 'counter',
    help: 'Decided calls. The gate is the step that decided.',
    labels: { door: DOORS, verdict: VERDICTS, reason_code: Object.keys(REASONS), gate: LADDER_STEPS },
  },
  tollgate_decision_seconds: {
    type: 'histogram',
    help: 'Time from the arrival of a call at its door to its verdict.',
    labels: { door: DOORS },
  },
  tollgate_durable_seconds: {
    type: 'histogram',
    help: 'Time from the verdict of a call to its durable receipt.',
    labels: { door: DOORS },
  },
  tollgate_effects_total: {
    type: 'counter',
    help: 'Recorded effects of allowed calls.',
    labels: { status: ['COMPLETED', 'FAILED', 'UNKNOWN', 'CANCELLED'], reported_by: ['gateway', 'caller'] },
  },
  tollgate_effects_open: { type: 'gauge', help: 'Allowed calls without an effect.', labels: PLAIN },
  tollgate_upstream_seconds: {
    type: 'histogram',
    help: 'Time until a model server began to answer, or until an MCP server answered.',
    labels: { upstream: UPSTREAM },
  },
  tollgate_upstream_errors_total: {
    type: 'counter',
    help: 'Requests to an upstream without a usable answer.',
    labels: { upstream: UPSTREAM, kind: UPSTREAM_FAULTS },
  },
  tollgate_http_requests_total: {
    type: 'counter',
    help: 'Answered HTTP requests.',
    labels: { route: ROUTE, status: ['1xx', '2xx', '3xx', '4xx', '5xx'] },
  },
  tollgate_http_refused_total: {
    type: 'counter',
    help: 'HTTP requests that were refused before a door or a route read them.',
    labels: { because: REFUSALS },
  },
  tollgate_connections_open: { type: 'gauge', help: 'Open connections.', labels: PLAIN },
  tollgate_connections_dropped_total: {
    type: 'counter',
    help: 'Connections that were dropped because there were too many.',
    labels: PLAIN,
  },
  tollgate_streams_open: { type: 'gauge', help: 'Open receipt streams.', labels: PLAIN },
  tollgate_approvals_waiting: {
    type: 'gauge',
    help: 'Approval requests that wait for an answer.',
    labels: PLAIN,
  },
  tollgate_approvals_oldest_seconds: {
    type: 'gauge',
    help: 'Age of the oldest approval request that waits for an answer; 0 if none waits.',
    labels: PLAIN,
  },
  tollgate_freezes: {
    type: 'gauge',
    help: 'Freezes in force.',
    labels: { scope: FREEZE_SCOPES },
  },
  tollgate_storage_used_up: {
    type: 'gauge',
    help: 'Principals that are denied until the end of the day because they exceeded the storage limit.',
    labels: PLAIN,
  },
  tollgate_ledger_entries: { type: 'gauge', help: 'Entries in the ledger.', labels: PLAIN },
  tollgate_ledger_waiting_entries: {
    type: 'gauge',
    help: 'Entries that are not durable yet: queued, or being written.',
    labels: { stage: ['queued', 'writing'] },
  },
  tollgate_ledger_writing_batches: {
    type: 'gauge',
    help: 'Batches that the writer is writing, at most 2.',
    labels: PLAIN,
  },
  tollgate_ledger_commit_age_seconds: {
    type: 'gauge',
    help: 'Time since the newest entry became durable.',
    labels: PLAIN,
  },
  tollgate_ledger_poisoned: {
    type: 'gauge',
    help: '1 if the ledger is poisoned, else 0. A poisoned ledger denies every call.',
    labels: PLAIN,
  },
  tollgate_checkpoint_age_seconds: {
    type: 'gauge',
    help: 'Age of the newest entry that the newest stored checkpoint covers.',
    labels: PLAIN,
  },
  tollgate_checkpoint_behind_entries: {
    type: 'gauge',
    help: 'Entries that the newest stored checkpoint does not cover.',
    labels: PLAIN,
  },
  tollgate_spans_total: {
    type: 'counter',
    help: 'Spans for the trace collector: sent, or dropped because it did not take them.',
    labels: { outcome: ['sent', 'dropped'] },
  },
  tollgate_decision_log_lines_total: {
    type: 'counter',
    help: 'Lines of the decision log: written, or dropped because they could not be written in time.',
    labels: { outcome: ['written', 'dropped'] },
  },
  process_start_time_seconds: {
    type: 'gauge',
    help: 'Start time of the gateway, in seconds since 1970.',
    labels: PLAIN,
  },
  process_resident_memory_bytes: { type: 'gauge', help: 'Resident memory of the process.', labels: PLAIN },
  nodejs_heap_size_used_bytes: { type: 'gauge', help: 'Used heap memory.', labels: PLAIN },
}
