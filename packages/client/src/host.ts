// The runtime functions that the client uses: fetch, clocks, a timer and random numbers. Tests replace them.

/** Sends a request. The global `fetch` is one. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** The runtime functions that the client uses. */
export interface Host {
  readonly fetch: Fetch
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** The time of day in milliseconds since 1970. It can jump. */
  readonly time: () => number
  /** Runs a function once after a delay. Returns a function that cancels it. */
  readonly after: (milliseconds: number, run: () => void) => () => void
}

/** The functions of the browser or of Node. */
export const ownHost: Host = {
  fetch: (url, init) => globalThis.fetch(url, init),
  now: () => performance.now(),
  time: () => Date.now(),
  after(milliseconds, run) {
    const timer = globalThis.setTimeout(run, milliseconds)
    return () => globalThis.clearTimeout(timer)
  },
}

/** A point in time on both clocks. */
export interface Moment {
  readonly now: number
  readonly time: number
}

/** The current time on both clocks. */
export function momentOf(host: Host): Moment {
  return { now: host.now(), time: host.time() }
}

/** The time since a moment: the larger of both clocks. One stops while the machine sleeps, the other can be set back. */
export function waited(host: Host, moment: Moment): number {
  return Math.max(host.now() - moment.now, host.time() - moment.time)
}

/** A random number from 0 to 1, so that clients do not all retry at the same moment. */
export function chance(): number {
  const [word = 0] = crypto.getRandomValues(new Uint32Array(1))
  return word / 2 ** 32
}

/** Waits. @throws the reason of the signal if it is aborted. */
export async function sleep(
  host: Host,
  milliseconds: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal?.aborted) throw reasonOf(signal)
  await new Promise<void>((resolve, reject) => {
    const aborted = (): void => {
      stop()
      reject(reasonOf(signal))
    }
    const stop = host.after(milliseconds, () => {
      signal?.removeEventListener('abort', aborted)
      resolve()
    })
    signal?.addEventListener('abort', aborted, { once: true })
  })
}

/** The reason of an aborted signal as an Error. */
export function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason })
}
