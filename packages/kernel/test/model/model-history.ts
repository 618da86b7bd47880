// The risk history of a principal, in the model. Shares only types with the kernel.

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export interface ModelHistory {
  readonly latch: number
  readonly grave: number
  /** Answers in thousandths as of `at`, with a quick and a slow decay. */
  readonly quick: number
  readonly slow: number
  readonly at: number
  readonly refused: readonly { tool: string; args: string; count: number; at: number }[]
  readonly paid: readonly { to: string; sum: number; at: number }[]
  /** The values that calls copied from tool output. */
  readonly stored: readonly string[]
  /** The number of sends to each sink after labelled data was read; `forgiven` after an approval. */
  readonly sent: readonly { to: string; count: number | 'forgiven'; at: number }[]
  /** The last time, to the hour, that a session without a user message had labelled data. */
  readonly labelledAt: number
}
export const NO_HISTORY: ModelHistory = {
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

function answered(history: ModelHistory, time: number): ModelHistory {
  const elapsed = time - history.at
  const [quick, slow] = [left(history.quick, elapsed, 4 * MINUTE), left(history.slow, elapsed, 8 * HOUR)]
  return { ...history, quick: quick + 1000, slow: slow + 1000, at: time }
}

function refused(history: ModelHistory, tool: string, args: string, time: number): ModelHistory {
  const known = history.refused.find((each) => each.tool === tool)
  if (known?.args === args && time - known.at <= HOUR) return history
  const next = { tool, args, count: Math.min(9, (known?.count ?? 0) + 1), at: time }
  const all = [...history.refused.filter((each) => each.tool !== tool), next]
  return { ...answered(history, time), refused: all.slice(-8) }
}

/** The facts of a decision that change the history. */
export interface DecisionFacts {
  readonly reason: string
  readonly passed: boolean
  readonly approved: boolean
  /** The call alone needs an approval. */
  readonly grave: boolean
  readonly tool: string
  readonly args: string
  readonly time: number
  /** Payees that the user had not named, and the amount in thousandths. */
  readonly paidTo: readonly string[]
  readonly cost: number
  /** The values that it copies from tool output. */
  readonly copied: readonly string[]
  /** The sinks that may receive labelled data. */
  readonly drips: readonly string[]
  /** The approval also covered the session risk. */
  readonly vouched: boolean
  /** The session has labelled data, or gets some from this call. */
  readonly labelled: boolean
}

/** Whether a sink received data twice within a week. */
export function isOften({ sent }: ModelHistory, to: string, time: number): boolean {
  const fresh = sent.filter(({ at }) => time - at <= 7 * DAY)
  const known = fresh.find((each) => each.to === to)
  return known ? known.count !== 'forgiven' && known.count >= 2 : fresh.length === 24
}

/** Whether a person approved a sink within a week. */
export function isForgiven({ sent }: ModelHistory, to: string, time: number): boolean {
  return sent.some((each) => each.to === to && each.count === 'forgiven' && time - each.at <= 7 * DAY)
}

function sentOn(
  before: ModelHistory,
  { passed, vouched, labelled, drips, time }: DecisionFacts,
): ModelHistory {
  if (!passed) return before
  const isNews = labelled && time - before.labelledAt > HOUR
  const history = isNews ? { ...before, labelledAt: time } : before
  let { sent } = history
  for (const to of drips) {
    const known = sent.find((each) => each.to === to && time - each.at <= 7 * DAY)?.count ?? 0
    if (known === 'forgiven' && !vouched) continue
    const count = vouched || known === 'forgiven' ? 'forgiven' : Math.min(9, known + 1)
    sent = [...sent.filter((each) => each.to !== to), { to, count, at: time } as const].slice(-24)
  }
  return sent === history.sent ? history : { ...history, sent }
}

export function nextHistory(history: ModelHistory, now: DecisionFacts): ModelHistory {
  const { passed, time, paidTo, cost, copied } = now
  const next = sentOn(historyOfVerdict(history, now), now)
  if (copied.length > 0) {
    const fresh = [...new Set(copied)].filter((each) => !next.stored.includes(each))
    return fresh.length === 0 ? next : { ...next, stored: [...next.stored, ...fresh].slice(-32) }
  }
  if (!passed || cost === 0 || paidTo.length === 0) return next
  let { paid } = next
  for (const to of paidTo) {
    const before = paidBefore(next, to, time) ?? 0
    paid = [...paid.filter((each) => each.to !== to), { to, sum: before + cost, at: time }].slice(-24)
  }
  return { ...next, paid }
}

function historyOfVerdict(
  history: ModelHistory,
  { reason, passed, approved, grave, tool, args, time }: DecisionFacts,
): ModelHistory {
  if (reason === 'APPROVAL_REFUSED') return refused(history, tool, args, time)
  if (reason === 'SESSION_RISK_MEMORY_DENY') return { ...history, latch: time }
  if (!passed) return grave ? { ...history, grave: time } : history
  return approved ? { ...answered(history, time), grave: 0 } : history
}

/** The payments to a payee in the last week. */
export function paidBefore({ paid }: ModelHistory, to: string, time: number): number | undefined {
  return paid.find((each) => each.to === to && time - each.at <= 7 * DAY)?.sum
}

export function isLatched({ latch }: ModelHistory, time: number): boolean {
  return latch > 0 && time - latch <= 3 * DAY
}

/** Whether people received too many requests to get another one. */
export function isApprovalFatigue(
  history: ModelHistory,
  tool: string,
  strange: boolean,
  time: number,
): boolean {
  const elapsed = time - history.at
  const [quick, slow] = [left(history.quick, elapsed, 4 * MINUTE), left(history.slow, elapsed, 8 * HOUR)]
  if (quick >= 4500 || (strange && slow >= 4000)) return true
  if (isLatched(history, time) && (strange || quick >= 2000)) return true
  const no = history.refused.find((each) => each.tool === tool)
  if (!no) return false
  return strange ? time - no.at <= 3 * DAY : no.count >= 2 && time - no.at <= 15 * MINUTE
}
