// Not falling asleep: a thread that sleeps takes a while to wake, often as long as the work it waits for. So the two that hand
// each other one receipt at a time keep their loops turning for a moment, and sleep only when nothing comes.

/** Keeps the loop of this thread turning. Everything else it has to do goes on meanwhile. */
interface LoopSpin {
  /** Until `end`, but for so many milliseconds at most. */
  keep(ms: number): void
  end(): void
}

/** A spin that is not being kept. */
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
