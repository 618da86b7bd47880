// Waits for the answers of people to calls, while the caller waits. The MCP door and the LLM door share it.

import { clearTimeout, setTimeout } from 'node:timers'
import type { Kernel } from '@tollgate/kernel'

/** How long one request may wait, and what ends its waits. */
export interface AnswerWait {
  /** Milliseconds that are left for all waits of the request. */
  left: number
  /** Aborted when the caller is gone, its session is frozen or the gateway stops. */
  readonly signal: AbortSignal
  /** Calls back after each change of the ledger. Returns a function that stops it. */
  readonly watch: (listener: () => void) => () => void
}

/** The longest wait of a request. */
export const MAX_WAIT = 900_000

const DURATION = /^(\d{1,4})(s|m)$/

/** Reads a time such as `90s` or `5m` in milliseconds; undefined if it is none. */
export function readWait(text: string): number | undefined {
  if (text === '0') return 0
  const [, digits, unit] = DURATION.exec(text) ?? []
  return digits === undefined ? undefined : Number(digits) * (unit === 'm' ? 60_000 : 1000)
}

/** Waits until none of these requests waits for an answer, `isOver` says so, or the wait ends. Never rejects. */
export async function untilAnswered(
  { approvals, host }: Pick<Kernel, 'approvals' | 'host'>,
  requests: ReadonlySet<string>,
  wait: AnswerWait,
  isOver: () => boolean = () => false,
): Promise<void> {
  const { signal, watch, left } = wait
  const begun = performance.now()
  const isOpen = (): boolean => approvals.list(host.now()).some(({ id }) => requests.has(id))
  await new Promise<void>((resolve) => {
    const end = (): void => {
      unwatch()
      clearTimeout(timer)
      signal.removeEventListener('abort', look)
      resolve()
    }
    const look = (): void => {
      if (signal.aborted || isOver() || !isOpen()) end()
    }
    const unwatch = watch(look)
    const timer = setTimeout(end, left)
    signal.addEventListener('abort', look)
    // It may have been answered before.
    look()
  })
  wait.left = Math.max(0, left - (performance.now() - begun))
}
