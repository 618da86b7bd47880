// Delays the restart of a server that ended, so that a failing server is not restarted in a loop.

import { now } from './calls.ts'
import type { Times } from './channel.ts'

interface BackOff {
  /** Milliseconds until the next start. */
  wait(): number
  /** The server was started. */
  isUp(): void
  /** The server ended, or could not be started. */
  isDown(): void
}

/** Allows the first restart at once and doubles the delay each time, until the server has run well for a while. */
export function createBackOff({ backOff, longestBackOff, well }: Times): BackOff {
  let failures = 0
  let upSince: number | undefined
  let notBefore = 0
  return {
    wait: () => notBefore - now(),
    isUp: () => (upSince = now()),
    isDown() {
      if (upSince !== undefined && now() - upSince >= well) failures = 0
      upSince = undefined
      const pause = failures === 0 ? 0 : Math.min(backOff * 2 ** (failures - 1), longestBackOff)
      failures = Math.min(failures + 1, 30)
      notBefore = now() + pause
    },
  }
}
