// What the client takes from its host: a way to fetch, a clock that never goes back, one that says the time of day, a timer,
// a little chance. Tests hand in their own.

/** Sends a request. The global `fetch` is one. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** What the client takes from its host. */
export interface Host {
  readonly fetch: Fetch
  /** Milliseconds of a clock that never goes back; its zero does not matter. */
  readonly now: () => number
  /** The time of day, in milliseconds since 1970. It may be set back and forth. */
  readonly time: () => number
  /** Runs something once after some milliseconds, unless the answer is called before. */
  readonly after: (milliseconds: number, run: () => void) => () => void
}

/** The host that the client runs in, a browser or Node. */
export const ownHost: Host = {
  fetch: (url, init) => globalThis.fetch(url, init),
  now: () => performance.now(),
  time: () => Date.now(),
  after(milliseconds, run) {
    const timer = globalThis.setTimeout(run, milliseconds)
    return () => globalThis.clearTimeout(timer)
  },
}

/** A moment, on both clocks of a host. */
export interface Moment {
  readonly now: number
  readonly time: number
}

/** This moment. */
export function momentOf(host: Host): Moment {
  return { now: host.now(), time: host.time() }
}

/** How long ago a moment was, by the clock that says more: one stands still while a machine sleeps, the other is set back. */
export function waited(host: Host, moment: Moment): number {
  return Math.max(host.now() - moment.now, host.time() - moment.time)
}

/** A number from 0 to 1 that neighbours do not share, so that clients do not all try again at the same moment. */
export function chance(): number {
  const [word = 0] = crypto.getRandomValues(new Uint32Array(1))
  return word / 2 ** 32
}

/** Waits, unless it is aborted. @throws the signal's reason. */
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

/** Why a signal was aborted, as something that can be thrown. */
export function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason })
}
