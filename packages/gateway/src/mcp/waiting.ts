// Waits for promises, with limits of time.

interface Resolvers<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  readonly reject: (fault: Error) => void
}

export function withResolvers<T>(): Resolvers<T> {
  let resolve!: (value: T) => void
  let reject!: (fault: Error) => void
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

/** Milliseconds of a monotonic clock. */
export function now(): number {
  return performance.now()
}

// Node's timers fire at once beyond this.
const MAX_TIMER = 0x7fffffff

/** Calls back at a time of `now()`; never for infinity. */
export function startTimer(deadline: number, onTime: () => void): NodeJS.Timeout | undefined {
  const wait = deadline - now()
  return wait > MAX_TIMER ? undefined : setTimeout(onTime, Math.max(0, wait))
}

/** The value of a promise; undefined if it takes longer than so many milliseconds. */
export async function orLate<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  const { promise: late, resolve } = withResolvers<undefined>()
  const timer = startTimer(now() + milliseconds, () => resolve(undefined))
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
