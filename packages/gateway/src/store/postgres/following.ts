// Follows what other gateways write, and tells those who wait for it.

import type { PostgresWriter } from './writer.ts'

/** How often a gateway asks whether others have written, in case a notification was lost. */
const POLL_MS = 250

export interface Following {
  /** Looks now. */
  look(): void
  /** Says that this gateway has written. */
  tell(): void
  /** Calls the listener with the number of entries after every commit. Returns a function that removes it. */
  watch(listener: (size: number) => void): () => void
  /** Calls the listener after every commit of another gateway. Returns a function that removes it. */
  watchOthers(listener: () => void): () => void
  stop(): void
}

export function startFollowing(writer: PostgresWriter): Following {
  const listeners = new Set<(size: number) => void>()
  const others = new Set<() => void>()
  // In a microtask: an error of a listener must not look like a failed write.
  const tell = (): void => {
    for (const listener of listeners) queueMicrotask(() => listener(writer.size))
  }
  let looking = false
  const follow = async (): Promise<void> => {
    if (looking) return
    looking = true
    try {
      if (!(await writer.follow())) return
      tell()
      for (const listener of others) listener()
    } catch {
      // The writer is unusable: the next write says why, and so does the upkeep.
    } finally {
      looking = false
    }
  }
  const timer = setInterval(() => void follow(), POLL_MS)
  timer.unref()
  return {
    look: () => void follow(),
    tell,
    watch(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    watchOthers(listener) {
      others.add(listener)
      return () => void others.delete(listener)
    },
    stop: () => clearInterval(timer),
  }
}
