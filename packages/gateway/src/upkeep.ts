// What a running gateway does by itself: closes calls that nobody reported on, forgets what is older than the operator wants
// to keep, and stops everything while the disk still has room to say so.

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

/** What upkeep needs of a store. */
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

/** What upkeep works on. */
export interface UpkeepOptions {
  readonly kernel: Kernel
  readonly store: UpkeepStore
  readonly config: Pick<Config, 'data' | 'retention' | 'keep'>
  readonly log: Log
  /** How many bytes are free where the data is; asked of the system if not given. */
  readonly free?: () => number
}

/** Upkeep under way. */
interface Upkeep {
  stop(): Promise<void>
}

const SECOND = 1000
const HOUR = 3_600_000
/** Room that is kept for freezes, answers and recovery. */
const RESERVE = 16 << 20
/** Below this, calls are not kept any more. */
const ROOM_TO_KEEP = 1 << 30
const AT_ONCE = 500

/** Begins upkeep. */
export function startUpkeep(options: UpkeepOptions): Upkeep {
  const tasks = [
    every(SECOND, () => closeAllExpired(options.kernel), options.log),
    every(60 * SECOND, () => endStorageDays(options.kernel), options.log),
    every(SECOND, () => watchPlace(options), options.log),
    every(5 * SECOND, () => guardDisk(options), options.log),
    every(HOUR, () => forgetOld(options), options.log),
    every(HOUR, () => forgetKept(options), options.log),
  ]
  // Also a gateway that never runs for an hour forgets.
  const first = setTimeout(() => void forgetKept(options).catch(() => undefined), 10 * SECOND).unref()
  return {
    async stop() {
      clearTimeout(first)
      for (const stop of tasks) await stop()
    },
  }
}

/** Does something again and again, never twice at a time. What fails is said, and tried again. */
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

/** Gives the ledger up as soon as its files are gone or replaced, also while no call comes. */
async function watchPlace({ kernel, store }: Pick<UpkeepOptions, 'kernel' | 'store'>): Promise<void> {
  if (kernel.ledger.poisoned !== undefined) return
  await store.present().catch((cause: unknown) => kernel.ledger.poison(cause))
}

/** Freezes everything before the disk is full: a ledger that can say so is better than one that breaks off. */
export async function guardDisk({
  kernel,
  config,
  log,
  free = () => freeIn(config.data),
}: UpkeepOptions): Promise<void> {
  const room = free()
  keepWhileRoom(kernel, config, room >= ROOM_TO_KEEP, log)
  if (room >= RESERVE || kernel.freezes.all() || kernel.ledger.poisoned !== undefined) return
  const because = `Less than ${RESERVE >> 20} MiB are left on the disk of the ledger.`
  log(
    'error',
    'everything is frozen: the disk of the ledger is nearly full; make room, then `tollgate unfreeze all`',
  )
  await setFreeze(kernel, { scope: 'all', frozen: true, by: 'tollgate:disk', because })
}

/** Calls are kept only while there is plenty of room: they must not be what fills the disk. */
function keepWhileRoom(
  { keeping }: Kernel,
  { keep }: UpkeepOptions['config'],
  room: boolean,
  log: Log,
): void {
  const wanted = room && keep.calls !== undefined
  if (keeping.on === wanted) return
  keeping.on = wanted
  log(
    'warn',
    wanted ? 'calls are kept again' : 'calls are no longer kept: less than 1 GiB is left on the disk',
  )
}

function freeIn(data: string): number {
  const { bavail, bsize } = statfsSync(data)
  return bavail * bsize
}

/** Closes sessions that were idle for longer than they are kept, and removes salts and open ends as old as that. */
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

/** A principal's own session is the memory of all its processes that name none: it lasts a week, however short others are kept. */
function isOfPrincipal(name: string): boolean {
  const [, , principal, session] = name.split('\n')
  return principal === session
}

// Observe mode lasts a day at most: a week is enough to learn from it.
const OBSERVED_FOR = WEEK

/** Removes calls that were kept for as long as the operator wants. */
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

/** All of them, page by page, so that calls get their turn in between. Goes on behind what could not be removed. */
async function* idlePages(store: UpkeepStore, prefix: string, before: number): AsyncGenerator<IdleRecords> {
  let after = prefix
  while (true) {
    const records = await store.idle(prefix, before, AT_ONCE, after)
    const last = records.at(-1)
    // A store that shows the same again would be asked for ever.
    if (!last || last.name <= after) return
    yield records
    after = last.name
  }
}

/** How many decisions a session has had, by its record; a damaged one is left for `fsck`. */
function sessionOf({ name, text }: { readonly name: string; readonly text: string }): readonly IdleSession[] {
  const found = /"seq":([0-9]{1,15})/.exec(text.split('\n')[0] ?? '')
  return found ? [{ name, seq: Number(found[1]) }] : []
}
