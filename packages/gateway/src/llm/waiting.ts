// Judges calls that a reply proposes again, after people have answered, while the client waits for the reply.

import type { Kernel } from '@tollgate/kernel'
import { MAX_WAIT, readWait, untilAnswered } from '../answer-wait.ts'
import { ambiguous, type Ruling } from './dialect.ts'
import type { RequestContext } from './request-context.ts'

// The HTTP client of Node gives up on a reply without a first byte after five minutes.
const MAX_WHOLE_WAIT = 270_000

const HEADER = 'tollgate-wait'

/** The wait of a request in milliseconds: by its header, otherwise as configured. @throws Refused for an unreadable header. */
export function waitOf(header: string | undefined, configured: number, stream: boolean): number {
  const wanted = header === undefined ? configured : read(header.trim())
  return Math.min(wanted, stream ? MAX_WAIT : MAX_WHOLE_WAIT)
}

function read(text: string): number {
  const wait = readWait(text)
  if (wait !== undefined) return wait
  throw ambiguous(`the header \`${HEADER}\` must be a time such as \`90s\` or \`5m\`, or 0`)
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
