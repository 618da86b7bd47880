// The risk history of a principal across its sessions: recent approvals and denials by people, payments, stored values, sends, and
// the last denial for risk. Bounded in size; integers only.

import { sha256Hex } from '@tollgate/evidence/core'

/** Payments to a target that the user had not named. */
interface Paid {
  /** A keyed hash of the target. */
  readonly to: string
  readonly count: number
  /** In thousandths. */
  readonly sum: number
  readonly at: number
}

/** A sink that received data after labelled data was read, in sessions without a known user message. */
interface Sent {
  /** A hash of the sink. */
  readonly to: string
  /** The number of sends; -1 after an approval. */
  readonly count: number
  readonly at: number
}

/** Denials by people for one tool. */
interface Refusal {
  /** A hash of the tool's name. */
  readonly tool: string
  /** A hash of the last call that a person denied. */
  readonly call: string
  readonly count: number
  readonly at: number
}

/** The risk history of a principal. */
export interface RiskHistory {
  /** The time of the last denial for risk; 0 for never. */
  readonly latch: number
  /** The time of the last call that needed an approval, in any session; 0 for never, or after an approval. */
  readonly grave: number
  /** Recent answers of people, in thousandths, as of `at`. `quick` and `slow` decay at different rates. */
  readonly answers: { readonly quick: number; readonly slow: number; readonly at: number }
  readonly refused: readonly Refusal[]
  /** The key of the hashes; empty until one is needed. */
  readonly key: string
  readonly paid: readonly Paid[]
  /** Keyed hashes of values that calls copied from tool output. Reading them back does not make them trusted. */
  readonly stored: readonly string[]
  readonly sent: readonly Sent[]
  /** The last time that a session without a known user message had labelled data; 0 for never. */
  readonly labelled: number
}

/** The history of a new principal. */
export const NO_HISTORY: RiskHistory = {
  latch: 0,
  grave: 0,
  answers: { quick: 0, slow: 0, at: 0 },
  refused: [],
  key: '',
  paid: [],
  stored: [],
  sent: [],
  labelled: 0,
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** How long facts about a principal count. */
export const RETENTION: number = 7 * DAY
const LATCH_DURATION = 3 * DAY
const MAX_PAID = 24
const MAX_REFUSED = 8
const MAX_STORED = 32
const MAX_SENT = 24
// The third send needs an approval.
const MAX_UNSEEN_SENDS = 2
// A person who reads each request answers about every four minutes. About three unexpected requests a day are normal.
const QUICK_PACE = 4 * MINUTE
const SLOW_PACE = 8 * HOUR
const TOO_QUICK = 4500
const RATHER_QUICK = 2000
const TOO_MANY = 4000
const REPEAT_WINDOW = 15 * MINUTE

/** The canonical text of a history. */
export function historyText(history: RiskHistory): string {
  const { latch, grave, answers, refused, key, paid, stored, sent, labelled } = history
  const said = refused.map(
    ({ tool, call, count, at }) => `{"at":${at},"call":"${call}","count":${count},"tool":"${tool}"}`,
  )
  const sums = paid.map(({ to, count, sum, at }) => `{"at":${at},"count":${count},"sum":${sum},"to":"${to}"}`)
  const { quick, slow, at } = answers
  // Empty members are left out.
  const drops = sent.map(({ to, count, at }) => `{"at":${at},"count":${count},"to":"${to}"}`)
  const dripped = sent.length === 0 ? '' : `"sent":[${drops.join(',')}],`
  const read = labelled === 0 ? '' : `"labelled":${labelled},`
  return `{"answers":{"at":${at},"quick":${quick},"slow":${slow}},"grave":${grave},"key":"${key}",${read}"latch":${latch},"paid":[${sums.join(',')}],"refused":[${said.join(',')}],${dripped}"stored":${JSON.stringify(stored)}}`
}

/** The history after a person answered a request. */
export function answered(history: RiskHistory, time: number): RiskHistory {
  const { quick, slow } = answersAt(history, time)
  return { ...history, answers: { quick: quick + 1000, slow: slow + 1000, at: time } }
}

/** The history after a person approved a call. */
export function agreed(history: RiskHistory, time: number): RiskHistory {
  return { ...answered(history, time), grave: 0 }
}

/** The history after a person denied a call. A repetition of the same call that the same answer denies does not count again. */
export function refused(history: RiskHistory, name: string, args: string, time: number): RiskHistory {
  const [tool, call] = [shortHash(name), args.slice(0, SHORT)]
  const known = history.refused.find((each) => each.tool === tool)
  if (known?.call === call && time - known.at <= HOUR) return history
  const others = history.refused.filter((each) => each !== known)
  const next = { tool, call, count: Math.min(9, (known?.count ?? 0) + 1), at: time }
  return { ...answered(history, time), refused: [...others, next].slice(-MAX_REFUSED) }
}

function answersAt(
  { answers: { quick, slow, at } }: RiskHistory,
  time: number,
): { quick: number; slow: number } {
  const elapsed = Math.max(0, time - at)
  return {
    quick: Math.max(0, quick - Math.floor((elapsed * 1000) / QUICK_PACE)),
    slow: Math.max(0, slow - Math.floor((elapsed * 1000) / SLOW_PACE)),
  }
}

const SHORT = 12

function shortHash(name: string): string {
  return sha256Hex(name.toWellFormed()).slice(0, SHORT)
}

/** The history after a call that needed an approval. */
export function seenGrave(history: RiskHistory, time: number): RiskHistory {
  return { ...history, grave: time }
}

/** Whether a call needed an approval in the last hour, and no approval was granted since. */
export function isWary({ grave }: RiskHistory, time: number): boolean {
  return grave > 0 && time - grave <= HOUR
}

/** The history after a denial for risk. */
export function latched(history: RiskHistory, time: number): RiskHistory {
  return { ...history, latch: time }
}

/** Whether the last denial for risk is recent enough to count. */
export function isLatched({ latch }: RiskHistory, time: number): boolean {
  return latch > 0 && time - latch <= LATCH_DURATION
}

/** The history after a payment to targets that the user had not named. */
export function paidTo(
  history: RiskHistory,
  targets: readonly string[],
  cost: number,
  time: number,
): RiskHistory {
  let paid = history.paid
  for (const to of targets) {
    const known = paidBefore(history, to, time)
    const next = { to, count: (known?.count ?? 0) + 1, sum: capped((known?.sum ?? 0) + cost), at: time }
    paid = [...paid.filter((each) => each.to !== to), next].slice(-MAX_PAID)
  }
  return paid === history.paid ? history : { ...history, paid }
}

/** The history after a call copied values from tool output. */
export function withStored(history: RiskHistory, copied: readonly string[]): RiskHistory {
  const fresh = [...new Set(copied)].filter((each) => !history.stored.includes(each))
  return fresh.length === 0
    ? history
    : { ...history, stored: [...history.stored, ...fresh].slice(-MAX_STORED) }
}

/**
 * The history after data went to sinks once labelled data was read. `agreed` means that a person approved exactly this. Such an
 * approval covers these sinks for a week.
 */
export function sentTo(
  history: RiskHistory,
  sinks: readonly string[],
  agreed: boolean,
  time: number,
): RiskHistory {
  let sent = history.sent
  for (const to of sinks.map(shortHash)) {
    const known = sentBefore(history, to, time)?.count ?? 0
    if (known < 0 && !agreed) continue
    const count = agreed ? -1 : Math.min(9, known + 1)
    sent = [...sent.filter((each) => each.to !== to), { to, count, at: time }].slice(-MAX_SENT)
  }
  return sent === history.sent ? history : { ...history, sent }
}

/** The history after a session got labelled data. It changes at most once an hour, so that most calls do not change it. */
export function labelledAt(history: RiskHistory, time: number): RiskHistory {
  return time - history.labelled <= HOUR ? history : { ...history, labelled: time }
}

/** Whether any session recently had labelled data. */
export function wasLabelled({ labelled }: RiskHistory, time: number): boolean {
  return labelled > 0 && time - labelled <= RETENTION
}

function sentBefore({ sent }: RiskHistory, to: string, time: number): Sent | undefined {
  return sent.find((each) => each.to === to && time - each.at <= RETENTION)
}

/** Whether the next send to a sink needs an approval. A new sink needs one at once if the list of sinks is full. */
export function isSentOften(history: RiskHistory, sink: string, time: number): boolean {
  if (history.sent.length === 0) return false
  const known = sentBefore(history, shortHash(sink), time)
  if (known) return known.count >= MAX_UNSEEN_SENDS
  return history.sent.filter(({ at }) => time - at <= RETENTION).length >= MAX_SENT
}

function capped(sum: number): number {
  return Math.min(sum, Number.MAX_SAFE_INTEGER)
}

/** The recent payments to a target. */
export function paidBefore({ paid }: RiskHistory, to: string, time: number): Paid | undefined {
  return paid.find((each) => each.to === to && time - each.at <= RETENTION)
}

/**
 * Whether people should not get another request: they answered too often in a short time, denied this tool twice in the last minutes,
 * or denied it once in the last days and the target is strange. A recent denial for risk lowers the limits.
 */
export function isApprovalFatigue(
  history: RiskHistory,
  tool: string,
  isStrange: boolean,
  time: number,
): boolean {
  const { quick, slow } = answersAt(history, time)
  if (quick >= TOO_QUICK || (isStrange && slow >= TOO_MANY)) return true
  if (isLatched(history, time) && (isStrange || quick >= RATHER_QUICK)) return true
  if (history.refused.length === 0) return false
  const name = shortHash(tool)
  const refusal = history.refused.find((each) => each.tool === name)
  if (!refusal) return false
  const elapsed = time - refusal.at
  return isStrange ? elapsed <= LATCH_DURATION : refusal.count >= 2 && elapsed <= REPEAT_WINDOW
}
