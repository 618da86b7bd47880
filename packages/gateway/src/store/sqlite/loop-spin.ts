// Keeps the event loop of a thread awake for a short time. Waking a sleeping thread often takes as long as the work it waits
// for, so the two threads that exchange single receipts spin briefly before they sleep.

/** Keeps the event loop of this thread turning. Other work continues meanwhile. */
interface LoopSpin {
  /** Spins until `end`, for at most this many milliseconds. */
  keep(ms: number): void
  end(): void
}

export function createLoopSpin(): LoopSpin {
  let until = 0
  let kept = false

  function turn(): void {
    kept = performance.now() < until
    if (kept) setImmediate(turn)
  }

  return {
    keep(ms) {
      until = performance.now() + ms
      if (!kept) setImmediate(turn)
      kept = true
    },
    end() {
      until = 0
    },
  }
}
