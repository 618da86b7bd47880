// Bounds the memory of a running gateway: limits heap growth, and collects garbage after work has ended. By default, the engine
// lets the heap grow to four times its use and keeps it while the gateway is idle.

import { performance } from 'node:perf_hooks'
import { clearInterval, setInterval } from 'node:timers'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Milliseconds that the event loop of this thread was active and idle since its start. */
export interface Worked {
  readonly active: number
  readonly idle: number
}

// Collect when the heap has doubled. A smaller value slows calls down; a larger one wastes memory.
const GROWTH = '--heap-growing-percent=100'
const CHECK_INTERVAL_MS = 5000
// Background work alone is below this share; noticeable load is above it.
const AT_REST = 0.02
// After this many milliseconds of work, a collection is worth its pause.
const WORTH_COLLECTING = 1000

/** Bounds the memory of this process from now on. Returns a function that stops it. */
export function boundMemory(): () => void {
  setFlagsFromString(GROWTH)
  const isDue = restAfterWork(() => performance.eventLoopUtilization())
  const timer = setInterval(() => {
    if (isDue()) collectGarbage()
  }, CHECK_INTERVAL_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** Returns a function that is true once after each period of work, when the thread is idle again. */
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

/** Collects all garbage of this thread and blocks it meanwhile, usually for about 10 milliseconds. */
export function collectGarbage(): void {
  // The engine has no other API. The flag only affects contexts that are created while it is set.
  setFlagsFromString('--expose-gc')
  try {
    runInNewContext('gc()')
  } finally {
    setFlagsFromString('--no-expose-gc')
  }
}
