// What is watched over all sessions of a principal, in the model. Shares nothing but types with the kernel.

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export interface ModelWatch {
  readonly latch: number
  readonly grave: number
  /** Answers in thousandths, by a quick and by a slow clock, as of a time. */
  readonly quick: number
  readonly slow: number
  readonly at: number
  readonly refused: readonly { tool: string; args: string; count: number; at: number }[]
  readonly paid: readonly { to: string; sum: number; at: number }[]
  /** What was to be written down because it stood somewhere. */
  readonly stored: readonly string[]
  /** How often each sink got something after labelled data was read; forgiven once a person has agreed. */
  readonly sent: readonly { to: string; count: number | 'forgiven'; at: number }[]
  /** When data with a label was there, by the hour, in a session without words. */
  readonly labelledAt: number
}
export const NO_HISTORY: ModelWatch = {
  latch: 0,
  grave: 0,
  quick: 0,
  slow: 0,
  at: 0,
  refused: [],
  paid: [],
  stored: [],
  sent: [],
  labelledAt: 0,
}

const left = (level: number, elapsed: number, pace: number): number =>
  Math.max(0, level - Number((BigInt(elapsed) * 1000n) / BigInt(pace)))

function answered(watch: ModelWatch, time: number): ModelWatch {
  const elapsed = time - watch.at
  const [quick, slow] = [left(watch.quick, elapsed, 4 * MINUTE), left(watch.slow, elapsed, 8 * HOUR)]
  return { ...watch, quick: quick + 1000, slow: slow + 1000, at: time }
}

function refused(watch: ModelWatch, tool: string, args: string, time: number): ModelWatch {
  const known = watch.refused.find((each) => each.tool === tool)
  if (known?.args === args && time - known.at <= HOUR) return watch
  const next = { tool, args, count: Math.min(9, (known?.count ?? 0) + 1), at: time }
  const all = [...watch.refused.filter((each) => each.tool !== tool), next]
  return { ...answered(watch, time), refused: all.slice(-8) }
}

/** A decision that is watched. */
export interface Watched {
  readonly reason: string
  readonly passed: boolean
  readonly approved: boolean
  /** It is something that a person should see. */
  readonly grave: boolean
  readonly tool: string
  readonly args: string
  readonly time: number
  /** Whom money went to that the user had not named, and how much in thousandths. */
  readonly paidTo: readonly string[]
  readonly cost: number
  /** What it writes down that stood somewhere. */
  readonly copied: readonly string[]
  /** Where labelled data may go with it. */
  readonly drips: readonly string[]
  /** The approval was asked for because of the session's risk, too. */
  readonly vouched: boolean
  /** It was there, or comes with this call. */
  readonly labelled: boolean
}

/** Whether a sink has got something twice within a week. */
export function isOften({ sent }: ModelWatch, to: string, time: number): boolean {
  const fresh = sent.filter(({ at }) => time - at <= 7 * DAY)
  const known = fresh.find((each) => each.to === to)
  return known ? known.count !== 'forgiven' && known.count >= 2 : fresh.length === 24
}

/** Whether a person has agreed to a sink within a week. */
export function isForgiven({ sent }: ModelWatch, to: string, time: number): boolean {
  return sent.some((each) => each.to === to && each.count === 'forgiven' && time - each.at <= 7 * DAY)
}

function sentOn(before: ModelWatch, { passed, vouched, labelled, drips, time }: Watched): ModelWatch {
  if (!passed) return before
  const isNews = labelled && time - before.labelledAt > HOUR
  const watch = isNews ? { ...before, labelledAt: time } : before
  let { sent } = watch
  for (const to of drips) {
    const known = sent.find((each) => each.to === to && time - each.at <= 7 * DAY)?.count ?? 0
    if (known === 'forgiven' && !vouched) continue
    const count = vouched || known === 'forgiven' ? 'forgiven' : Math.min(9, known + 1)
    sent = [...sent.filter((each) => each.to !== to), { to, count, at: time } as const].slice(-24)
  }
  return sent === watch.sent ? watch : { ...watch, sent }
}

export function watched(watch: ModelWatch, now: Watched): ModelWatch {
  const { passed, time, paidTo, cost, copied } = now
  const heard = sentOn(heardOf(watch, now), now)
  if (copied.length > 0) {
    const fresh = [...new Set(copied)].filter((each) => !heard.stored.includes(each))
    return fresh.length === 0 ? heard : { ...heard, stored: [...heard.stored, ...fresh].slice(-32) }
  }
  if (!passed || cost === 0 || paidTo.length === 0) return heard
  let { paid } = heard
  for (const to of paidTo) {
    const before = paidBefore(heard, to, time) ?? 0
    paid = [...paid.filter((each) => each.to !== to), { to, sum: before + cost, at: time }].slice(-24)
  }
  return { ...heard, paid }
}

function heardOf(
  watch: ModelWatch,
  { reason, passed, approved, grave, tool, args, time }: Watched,
): ModelWatch {
  if (reason === 'APPROVAL_REFUSED') return refused(watch, tool, args, time)
  if (reason === 'SESSION_RISK_MEMORY_DENY') return { ...watch, latch: time }
  if (!passed) return grave ? { ...watch, grave: time } : watch
  return approved ? { ...answered(watch, time), grave: 0 } : watch
}

/** What was paid to somebody in the last week. */
export function paidBefore({ paid }: ModelWatch, to: string, time: number): number | undefined {
  return paid.find((each) => each.to === to && time - each.at <= 7 * DAY)?.sum
}

export function isLatched({ latch }: ModelWatch, time: number): boolean {
  return latch > 0 && time - latch <= 3 * DAY
}

/** Whether people have been asked too much to be asked once more. */
export function isApprovalFatigue(watch: ModelWatch, tool: string, strange: boolean, time: number): boolean {
  const elapsed = time - watch.at
  const [quick, slow] = [left(watch.quick, elapsed, 4 * MINUTE), left(watch.slow, elapsed, 8 * HOUR)]
  if (quick >= 4500 || (strange && slow >= 4000)) return true
  if (isLatched(watch, time) && (strange || quick >= 2000)) return true
  const no = watch.refused.find((each) => each.tool === tool)
  if (!no) return false
  return strange ? time - no.at <= 3 * DAY : no.count >= 2 && time - no.at <= 15 * MINUTE
}
