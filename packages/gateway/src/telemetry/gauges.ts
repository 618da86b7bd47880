// Reads the gauges at the moment of the question.

import { memoryUsage } from 'node:process'
import { parseCheckpoint } from '@tollgate/evidence'
import type { Kernel } from '@tollgate/kernel'
import type { LedgerView } from '../view.ts'
import { FREEZE_SCOPES, type GaugeName } from './families.ts'
import type { MetricSample } from './series.ts'

/** The sources of the gauges. */
export interface Measured {
  /** Undefined if the ledger is only read. Its gauges then have no samples. */
  readonly kernel: Kernel | undefined
  readonly view: Pick<LedgerView, 'size' | 'checkpoint' | 'payloads'>
  readonly version: string
}

interface Reading extends Measured {
  readonly since: string
  readonly open: { readonly connections: number; readonly streams: number }
}

type Gauges = Readonly<Record<GaugeName, readonly MetricSample[]>>

/** Reads all gauges. */
export async function readGauges({ kernel, view, version, since, open }: Reading): Promise<Gauges> {
  const now = kernel?.host.now() ?? Date.now()
  const size = await view.size()
  const covered = await coveredBy(view)
  const { rss, heapUsed } = memoryUsage()
  return {
    tollgate_build_info: [{ suffix: '', values: [version], value: 1 }],
    tollgate_connections_open: one(open.connections),
    tollgate_streams_open: one(open.streams),
    tollgate_ledger_entries: one(size),
    tollgate_checkpoint_age_seconds: one(covered && secondsBetween(covered.time, now)),
    tollgate_checkpoint_behind_entries: one(covered && Math.max(0, size - covered.size)),
    process_start_time_seconds: one(Date.parse(since) / 1000),
    process_resident_memory_bytes: one(rss),
    nodejs_heap_size_used_bytes: one(heapUsed),
    ...(kernel ? kernelGauges(kernel, now) : NO_KERNEL),
  }
}

type KernelGauge =
  | 'tollgate_effects_open'
  | 'tollgate_approvals_waiting'
  | 'tollgate_approvals_oldest_seconds'
  | 'tollgate_freezes'
  | 'tollgate_storage_used_up'
  | 'tollgate_ledger_waiting_entries'
  | 'tollgate_ledger_writing_batches'
  | 'tollgate_ledger_commit_age_seconds'
  | 'tollgate_ledger_poisoned'
type KernelGauges = Readonly<Record<KernelGauge, readonly MetricSample[]>>

const NO_KERNEL: KernelGauges = {
  tollgate_effects_open: [],
  tollgate_approvals_waiting: [],
  tollgate_approvals_oldest_seconds: [],
  tollgate_freezes: [],
  tollgate_storage_used_up: [],
  tollgate_ledger_waiting_entries: [],
  tollgate_ledger_writing_batches: [],
  tollgate_ledger_commit_age_seconds: [],
  tollgate_ledger_poisoned: [],
}

function kernelGauges({ ledger, approvals, openings, freezes, storage }: Kernel, now: number): KernelGauges {
  const { queued, writing, batches, durable } = ledger.backlog
  const waiting = approvals.list(now)
  const oldest = Math.min(now, ...waiting.map(({ until, lasts }) => until - lasts))
  return {
    tollgate_effects_open: one(openings.size),
    tollgate_approvals_waiting: one(waiting.length),
    tollgate_approvals_oldest_seconds: one(secondsBetween(oldest, now)),
    tollgate_freezes: FREEZE_SCOPES.map((scope) => ({
      suffix: '',
      values: [scope],
      value: freezes.count(scope),
    })),
    tollgate_storage_used_up: one(storage.denied(now)),
    tollgate_ledger_waiting_entries: [
      { suffix: '', values: ['queued'], value: queued },
      { suffix: '', values: ['writing'], value: writing },
    ],
    tollgate_ledger_writing_batches: one(batches),
    tollgate_ledger_commit_age_seconds: one(durable && secondsBetween(durable, now)),
    tollgate_ledger_poisoned: one(ledger.poisoned === undefined ? 0 : 1),
  }
}

/** The newest stored checkpoint: its size, and the time of its newest entry. Undefined before the first checkpoint. */
async function coveredBy(
  view: Measured['view'],
): Promise<{ readonly size: number; readonly time: number } | undefined> {
  const note = await view.checkpoint()
  if (note === undefined) return undefined
  const { size } = parseCheckpoint(note)
  const [newest] = await view.payloads(size - 1, 1)
  // Sound: every receipt has a time.
  const { time } = JSON.parse(newest?.text ?? '{}') as { time?: string }
  return time === undefined ? undefined : { size, time: Date.parse(time) }
}

function secondsBetween(from: number, to: number): number {
  return Math.max(0, to - from) / 1000
}

function one(value: number | undefined): readonly MetricSample[] {
  return value === undefined ? [] : [{ suffix: '', values: [], value }]
}
