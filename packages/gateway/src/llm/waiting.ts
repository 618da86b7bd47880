// Waits for the answers of people to calls that a reply proposes, while the client waits for the reply.

import { clearTimeout, setTimeout } from 'node:timers'
import type { Kernel } from '@tollgate/kernel'
import { ambiguous, type Ruling } from './dialect.ts'
import type { RequestContext } from './request-context.ts'

/** How long one request may wait, and what ends its waits. */
export interface AnswerWait {
  /** Milliseconds that are left for all waits of the request. */
  left: number
  /** Aborted when the client is gone, its session is frozen or the gateway stops. */
  readonly signal: AbortSignal
  /** Calls back after each change of the ledger. Returns a function that stops it. */
  readonly watch: (listener: () => void) => () => void
}

/** The longest wait of a request. */
const MAX_WAIT = 900_000
// The HTTP client of Node gives up on a reply without a first byte after five minutes.
const MAX_WHOLE_WAIT = 270_000

const HEADER = 'tollgate-wait'
const DURATION = /^(\d{1,4})(s|m)$/

/** The wait of a request in milliseconds: by its header, otherwise as configured. @throws Refused for an unreadable header. */
export function waitOf(header: string | undefined, configured: number, stream: boolean): number {
  const wanted = header === undefined ? configured : read(header.trim())
  return Math.min(wanted, stream ? MAX_WAIT : MAX_WHOLE_WAIT)
}

function read(text: string): number {
  if (text === '0') return 0
  const [, digits, unit] = DURATION.exec(text) ?? []
  if (digits === undefined)
    throw ambiguous(`the header \`${HEADER}\` must be a time such as \`90s\` or \`5m\`, or 0`)
  return Number(digits) * (unit === 'm' ? 60_000 : 1000)
}

// An approved call may need another approval, if its circumstances have changed.
const MAX_ROUNDS = 4

/**
 * The rulings on the calls of a reply, after people have answered. A call whose request was answered is judged again, when none waits
 * any more. So is an ALLOW that has expired meanwhile, because it must not be released. `again` has one function for each ruling.
 */
export async function afterAnswers(
  { kernel, wait }: Pick<RequestContext, 'kernel' | 'wait'>,
  first: readonly Ruling[],
  again: readonly (() => Promise<Ruling>)[],
): Promise<readonly Ruling[]> {
  let rulings = first
  for (let round = 0; wait && round < MAX_ROUNDS && wait.left > 0 && !wait.signal.aborted; round++) {
    const asked = new Set(rulings.flatMap((ruling) => (ruling.allowed ? [] : (ruling.approval ?? []))))
    if (asked.size === 0) break
    await untilAnswered(kernel, asked, wait)
    // If the client has left, its denied calls stay denied, and its approvals unused.
    const { aborted } = wait.signal
    rulings = await Promise.all(
      rulings.map(async (ruling, at) => {
        const isDue = isOutdated(kernel, ruling) && (ruling.allowed || !aborted)
        return isDue ? ((await again[at]?.()) ?? ruling) : ruling
      }),
    )
  }
  return rulings
}

function isOutdated({ approvals, openings, host }: Kernel, ruling: Ruling): boolean {
  if (ruling.allowed) return (openings.get(ruling.receipt ?? '')?.expires ?? 0) <= host.now()
  const request = ruling.approval === undefined ? undefined : approvals.find({ id: ruling.approval })
  return request !== undefined && request.answer !== null
}

/** Waits until none of these requests waits for an answer, or until the wait ends. Never rejects. */
async function untilAnswered(kernel: Kernel, requests: ReadonlySet<string>, wait: AnswerWait): Promise<void> {
  const { signal, watch, left } = wait
  const begun = performance.now()
  const isOpen = (): boolean => kernel.approvals.list(kernel.host.now()).some(({ id }) => requests.has(id))
  await new Promise<void>((resolve) => {
    const end = (): void => {
      unwatch()
      clearTimeout(timer)
      signal.removeEventListener('abort', look)
      resolve()
    }
    const look = (): void => {
      if (signal.aborted || !isOpen()) end()
    }
    const unwatch = watch(look)
    const timer = setTimeout(end, left)
    signal.addEventListener('abort', look)
    // It may have been answered before.
    look()
  })
  wait.left = Math.max(0, left - (performance.now() - begun))
}
