// The end of patience: one signal for the caller's own abort and for time that has run out.

import { reasonOf, type Host } from './host.ts'

/** A signal that the caller's abort and a timer lead to. */
export interface Limit {
  readonly signal: AbortSignal
  /** Starts the time anew; when it is up, the signal is aborted with this fault. */
  allow(milliseconds: number, fault: () => Error): void
  /** The work, or the reason of the signal if that comes first, also if the work does not listen to it. */
  within<T>(work: Promise<T>): Promise<T>
  /** Lets go of the timer and of the caller's signal; what still runs is aborted. */
  end(): void
}

/** @throws the reason of the caller's signal, if it is aborted already. */
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
