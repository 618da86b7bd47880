// One signal for the abort of the caller and for a timeout.

import { reasonOf, type Host } from './host.ts'

/** A signal that the caller or a timer aborts. */
export interface Limit {
  readonly signal: AbortSignal
  /** Restarts the timer. At its end the signal is aborted with this error. */
  allow(milliseconds: number, fault: () => Error): void
  /** Resolves with the work, or rejects with the reason of the signal if that comes first. */
  within<T>(work: Promise<T>): Promise<T>
  /** Stops the timer, detaches from the caller's signal and aborts running work. */
  end(): void
}

/** Makes a limit. @throws the reason of the caller's signal if it is already aborted. */
export function createLimit(host: Host, outer: AbortSignal | undefined): Limit {
  if (outer?.aborted) throw reasonOf(outer)
  const controller = new AbortController()
  const { signal } = controller
  const aborted = (): void => controller.abort(reasonOf(outer))
  let stop = (): void => undefined
  outer?.addEventListener('abort', aborted, { once: true })
  return {
    signal,
    allow(milliseconds, fault) {
      stop()
      stop = host.after(milliseconds, () => controller.abort(fault()))
    },
    within: (work) =>
      new Promise((resolve, reject) => {
        const give = (): void => reject(reasonOf(signal))
        if (signal.aborted) give()
        signal.addEventListener('abort', give, { once: true })
        work.then(resolve, reject).finally(() => signal.removeEventListener('abort', give))
      }),
    end() {
      stop()
      outer?.removeEventListener('abort', aborted)
      controller.abort()
    },
  }
}
