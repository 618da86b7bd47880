// The memory of a running gateway: how much garbage may collect while it works, and giving that back when it has nothing to do. The
// engine alone lets its heap grow to four times what is in use, and keeps it for as long as no call comes.

import { performance } from 'node:perf_hooks'
import { clearInterval, setInterval } from 'node:timers'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Milliseconds that the loop of this thread has worked and waited, since it began. */
export interface Worked {
  readonly active: number
  readonly idle: number
}

// The heap is collected when it is twice what was in use. Less costs calls their time; more is memory for nothing.
const GROWTH = '--heap-growing-percent=100'
const LOOKED_AFTER = 5000
// Upkeep alone works less than that, a load that anybody feels more.
const AT_REST = 0.02
// So much work leaves garbage that is worth a pause. Nobody waits for it: there was no work just before.
const WORTH_COLLECTING = 1000

/** Bounds the memory of this process from now on. Returns what ends it. */
export function boundMemory(): () => void {
  setFlagsFromString(GROWTH)
  const isDue = restAfterWork(() => performance.eventLoopUtilization())
  const timer = setInterval(() => {
    if (isDue()) collectGarbage()
  }, LOOKED_AFTER)
  timer.unref()
  return () => clearInterval(timer)
}

/** Tells, each time it is asked, whether work has ended since a collection was due last: once for each time of work. */
export function restAfterWork(worked: () => Worked): () => boolean {
  let last = worked()
  let collected = last.active
  return () => {
    const now = worked()
    const [active, idle] = [now.active - last.active, now.idle - last.idle]
    last = now
    if (active > AT_REST * (active + idle) || now.active - collected < WORTH_COLLECTING) return false
    collected = now.active
    return true
  }
}

/** Collects all garbage of this thread now, which waits for it: some ten milliseconds for what a gateway has in use. */
export function collectGarbage(): void {
  // The engine has no other way in. The flag counts for contexts that are made while it is on, and ours is gone right after.
  setFlagsFromString('--expose-gc')
  try {
    runInNewContext('gc()')
  } finally {
    setFlagsFromString('--no-expose-gc')
  }
}
