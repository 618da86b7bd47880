// How long a server that ended is left alone: a server that cannot live must not be started without end.

import { now } from './calls.ts'
import type { Times } from './channel.ts'

/** When a server may be started again. */
interface BackOff {
  /** Milliseconds until the next start. */
  wait(): number
  /** It has been started. */
  isUp(): void
  /** It has ended, or could not be started. */
  isDown(): void
}

/** At once the first time, and then later each time, until it has been well for a while. */
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
