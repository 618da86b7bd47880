// Background tasks of a running gateway: closes expired calls, removes old private records and freezes everything before the
// disk is full.

import { statfsSync } from 'node:fs'
import {
  closeAllExpired,
  closeSessions,
  endStorageDays,
  KEPT,
  type IdleSession,
  type Kernel,
} from '@tollgate/kernel'
import { setFreeze } from '@tollgate/kernel/admin'
import type { Config } from './config/config.ts'
import type { Log } from './log.ts'

/** The functions of a store that upkeep uses. */
export interface UpkeepStore {
  idle(
    prefix: string,
    time: number,
    limit: number,
    after?: string,
  ): Promise<readonly { readonly name: string; readonly text: string }[]>
  namesBefore(prefix: string, time: number): Promise<readonly string[]>
  present(): Promise<void>
}

export interface UpkeepOptions {
  readonly kernel: Kernel
  readonly store: UpkeepStore
  readonly config: Pick<Config, 'data' | 'retention' | 'keep'>
  readonly log: Log
  /** Returns the free bytes on the disk of the data directory. Default: asks the system. */
  readonly free?: () => number
}

interface Upkeep {
  stop(): Promise<void>
}

const SECOND = 1000
const HOUR = 3_600_000
/** Disk space that is reserved for freezes, approvals and recovery. */
const RESERVE = 16 << 20
/** With less free space than this, calls are not kept. */
const MIN_FREE_TO_KEEP = 1 << 30
const AT_ONCE = 500

/** Starts the background tasks. */
export function startUpkeep(options: UpkeepOptions): Upkeep {
  const tasks = [
    every(SECOND, () => closeAllExpired(options.kernel), options.log),
    every(60 * SECOND, () => endStorageDays(options.kernel), options.log),
    every(SECOND, () => watchPlace(options), options.log),
    every(5 * SECOND, () => guardDisk(options), options.log),
    every(HOUR, () => forgetOld(options), options.log),
    every(HOUR, () => forgetKept(options), options.log),
  ]
  // So that a gateway that never runs for an hour also removes old calls.
  const first = setTimeout(() => void forgetKept(options).catch(() => undefined), 10 * SECOND).unref()
  return {
    async stop() {
      clearTimeout(first)
      for (const stop of tasks) await stop()
    },
  }
}

/** Runs a task periodically, never twice at the same time. Failures are logged and the task is tried again. */
function every(milliseconds: number, run: () => Promise<unknown>, log: Log): () => Promise<void> {
  let running: Promise<unknown> = Promise.resolve()
  let busy = false
  const timer = setInterval(() => {
    if (busy) return
    busy = true
    running = run()
      .catch((cause: unknown) => log('warn', 'upkeep failed', { because: String(cause) }))
      .finally(() => (busy = false))
  }, milliseconds)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await running
  }
}

/** Poisons the ledger as soon as its files are gone or replaced, even without calls. */
async function watchPlace({ kernel, store }: Pick<UpkeepOptions, 'kernel' | 'store'>): Promise<void> {
  if (kernel.ledger.poisoned !== undefined) return
  await store.present().catch((cause: unknown) => kernel.ledger.poison(cause))
}

/** Freezes everything before the disk is full, because a full disk would poison the ledger. */
export async function guardDisk({
  kernel,
  config,
  log,
  free = () => freeIn(config.data),
}: UpkeepOptions): Promise<void> {
  const freeBytes = free()
  keepWhileSpace(kernel, config, freeBytes >= MIN_FREE_TO_KEEP, log)
  if (freeBytes >= RESERVE || kernel.freezes.all() || kernel.ledger.poisoned !== undefined) return
  const because = `Less than ${RESERVE >> 20} MiB are free on the disk of the ledger.`
  log(
    'error',
    'everything is frozen: the disk of the ledger is nearly full; free some space, then run `tollgate unfreeze all`',
  )
  await setFreeze(kernel, { scope: 'all', frozen: true, by: 'tollgate:disk', because })
}

/** Keeps calls only while there is plenty of disk space, so that kept calls never fill the disk. */
function keepWhileSpace(
  { keeping }: Kernel,
  { keep }: UpkeepOptions['config'],
  hasSpace: boolean,
  log: Log,
): void {
  const wanted = hasSpace && keep.calls !== undefined
  if (keeping.on === wanted) return
  keeping.on = wanted
  log(
    'warn',
    wanted ? 'calls are kept again' : 'calls are no longer kept: less than 1 GiB is free on the disk',
  )
}

function freeIn(data: string): number {
  const { bavail, bsize } = statfsSync(data)
  return bavail * bsize
}

/** Closes sessions that were idle for longer than the retention time. Removes salts and other private records of that age. */
export async function forgetOld({ kernel, store, config, log }: UpkeepOptions): Promise<void> {
  const { sessions: kept } = config.retention
  if (kept === undefined) return
  const before = kernel.host.now() - kept
  let [closed, removed] = [0, 0]
  const oldest = Math.min(before, kernel.host.now() - WEEK)
  const close = async (time: number, isDue: (name: string) => boolean): Promise<void> => {
    for await (const records of idlePages(store, 'session\n', time)) {
      const due = records.filter(({ name }) => isDue(name))
      if (due.length > 0) closed += await closeSessions(kernel, due.flatMap(sessionOf))
    }
  }
  await close(before, (name) => !isOfPrincipal(name))
  await close(oldest, isOfPrincipal)
  for (const prefix of ['salt\n', 'late\n', 'ref\n'])
    removed += await removeIdle(prefix, before, { kernel, store })
  if (closed + removed > 0)
    log('info', 'old private records were removed', { sessions: closed, others: removed })
}

const WEEK = 7 * 24 * HOUR

/** The default session of a principal is shared by all its processes that name no session. It is kept for at least a week. */
function isOfPrincipal(name: string): boolean {
  const [, , principal, session] = name.split('\n')
  return principal === session
}

// Observe mode ends after a day at most, so a week is enough to learn from it.
const OBSERVED_FOR = WEEK

/** Removes kept calls that are older than the configured time. */
export async function forgetKept({ kernel, store, config, log }: UpkeepOptions): Promise<void> {
  const before = kernel.host.now() - (config.keep.calls ?? OBSERVED_FOR)
  let removed = 0
  for (;;) {
    const names = await store.namesBefore(KEPT, before)
    if (names.length === 0) break
    await kernel.ledger.append({ run: (turn) => names.forEach((name) => turn.put(name, undefined)) })
    removed += names.length
  }
  if (removed > 0) log('info', 'kept calls were removed', { calls: removed })
}

async function removeIdle(
  prefix: string,
  before: number,
  { kernel, store }: Pick<UpkeepOptions, 'kernel' | 'store'>,
): Promise<number> {
  let removed = 0
  for await (const records of idlePages(store, prefix, before)) {
    await kernel.ledger.append({ run: (turn) => records.forEach(({ name }) => turn.put(name, undefined)) })
    removed += records.length
  }
  return removed
}

type IdleRecords = Awaited<ReturnType<UpkeepStore['idle']>>

/** Reads idle records page by page, so that calls can run in between. Records that could not be removed are skipped. */
async function* idlePages(store: UpkeepStore, prefix: string, before: number): AsyncGenerator<IdleRecords> {
  let after = prefix
  while (true) {
    const records = await store.idle(prefix, before, AT_ONCE, after)
    const last = records.at(-1)
    // Stops if a store returns the same page again.
    if (!last || last.name <= after) return
    yield records
    after = last.name
  }
}

/** The session of a record with its number of decisions. A damaged record is left for `fsck`. */
function sessionOf({ name, text }: { readonly name: string; readonly text: string }): readonly IdleSession[] {
  const found = /"seq":([0-9]{1,15})/.exec(text.split('\n')[0] ?? '')
  return found ? [{ name, seq: Number(found[1]) }] : []
}
