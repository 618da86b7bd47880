// What the client takes from its host: a way to fetch, a clock that never goes back, a timer, a little chance. Tests hand
// in their own.

/** Sends a request. The global `fetch` is one. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** What the client takes from its host. */
export interface Host {
  readonly fetch: Fetch
  /** Milliseconds of a clock that never goes back; its zero does not matter. */
  readonly now: () => number
  /** Runs something once after some milliseconds, unless the answer is called before. */
  readonly after: (milliseconds: number, run: () => void) => () => void
}

/** The host that the client runs in, a browser or Node. */
export const ownHost: Host = {
  fetch: (url, init) => globalThis.fetch(url, init),
  now: () => performance.now(),
  after(milliseconds, run) {
    const timer = globalThis.setTimeout(run, milliseconds)
    return () => globalThis.clearTimeout(timer)
  },
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
