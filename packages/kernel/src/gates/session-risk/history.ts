// What is watched over all sessions of whoever answers for a call: how often people were asked lately, what they refused, what was
// paid to whom, what was written down because it stood somewhere, and when risk last denied something. Bounded, and whole numbers only.

import { sha256Hex } from '@tollgate/evidence/core'

/** What was paid to a target that the user had not named. */
interface Paid {
  /** A keyed hash of the target. */
  readonly to: string
  readonly count: number
  /** In thousandths. */
  readonly sum: number
  readonly at: number
}

/** A sink that got something after labelled data was read, in sessions whose user's words are not known. */
interface Sent {
  /** A hash of the sink. */
  readonly to: string
  /** How often; -1 once a person has agreed to it. */
  readonly count: number
  readonly at: number
}

/** A no that people have said to a tool. */
interface Refusal {
  /** A hash of the tool's name. */
  readonly tool: string
  /** A hash of the last call that was refused. */
  readonly call: string
  readonly count: number
  readonly at: number
}

/** What is watched. */
export interface RiskHistory {
  /** When risk last denied something; 0 for never. */
  readonly latch: number
  /** When it last did something that a person should see, in any session; 0 for never, or once a person has agreed. */
  readonly grave: number
  /** Answers of people: how many lately, in thousandths, by two clocks; as of `at`. */
  readonly answers: { readonly quick: number; readonly slow: number; readonly at: number }
  readonly refused: readonly Refusal[]
  /** The key of the hashes; empty as long as there is none. */
  readonly key: string
  readonly paid: readonly Paid[]
  /** Keyed hashes of what was to be written down because it stood somewhere: being read back makes nobody's word of it. */
  readonly stored: readonly string[]
  readonly sent: readonly Sent[]
  /** When a session whose user's words are not known last had data with a label; 0 for never. */
  readonly labelled: number
}

/** Nothing was seen yet. */
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
/** How long facts about a principal are held against it. */
export const LASTING: number = 7 * DAY
const LATCHED = 3 * DAY
const MOST_PAID = 24
const MOST_REFUSED = 8
const MOST_STORED = 32
const MOST_SENT = 24
// The third time a person is asked.
const OFTEN = 2
// An answer every four minutes is the pace of a person who reads; three a day can be surprises.
const QUICK_PACE = 4 * MINUTE
const SLOW_PACE = 8 * HOUR
const TOO_QUICK = 4500
const RATHER_QUICK = 2000
const TOO_MANY = 4000
const SOON = 15 * MINUTE

/** The canonical text. */
export function historyText(watch: RiskHistory): string {
  const { latch, grave, answers, refused, key, paid, stored, sent, labelled } = watch
  const said = refused.map(
    ({ tool, call, count, at }) => `{"at":${at},"call":"${call}","count":${count},"tool":"${tool}"}`,
  )
  const sums = paid.map(({ to, count, sum, at }) => `{"at":${at},"count":${count},"sum":${sum},"to":"${to}"}`)
  const { quick, slow, at } = answers
  // Most have none.
  const drops = sent.map(({ to, count, at }) => `{"at":${at},"count":${count},"to":"${to}"}`)
  const dripped = sent.length === 0 ? '' : `"sent":[${drops.join(',')}],`
  const read = labelled === 0 ? '' : `"labelled":${labelled},`
  return `{"answers":{"at":${at},"quick":${quick},"slow":${slow}},"grave":${grave},"key":"${key}",${read}"latch":${latch},"paid":[${sums.join(',')}],"refused":[${said.join(',')}],${dripped}"stored":${JSON.stringify(stored)}}`
}

/** A person has answered. */
export function answered(watch: RiskHistory, time: number): RiskHistory {
  const { quick, slow } = answersAt(watch, time)
  return { ...watch, answers: { quick: quick + 1000, slow: slow + 1000, at: time } }
}

/** A person has agreed to a call. */
export function agreed(watch: RiskHistory, time: number): RiskHistory {
  return { ...answered(watch, time), grave: 0 }
}

/** A person has said no to a call of a tool. That it is sent again and refused by the same answer is nothing new. */
export function refused(watch: RiskHistory, name: string, args: string, time: number): RiskHistory {
  const [tool, call] = [shortHash(name), args.slice(0, SHORT)]
  const known = watch.refused.find((each) => each.tool === tool)
  if (known?.call === call && time - known.at <= HOUR) return watch
  const others = watch.refused.filter((each) => each !== known)
  const next = { tool, call, count: Math.min(9, (known?.count ?? 0) + 1), at: time }
  return { ...answered(watch, time), refused: [...others, next].slice(-MOST_REFUSED) }
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

/** Something was done that a person should see. */
export function seenGrave(watch: RiskHistory, time: number): RiskHistory {
  return { ...watch, grave: time }
}

/** Whether there was such a thing lately, and nobody has agreed to anything since. */
export function isWary({ grave }: RiskHistory, time: number): boolean {
  return grave > 0 && time - grave <= HOUR
}

/** Risk has denied something. */
export function latched(watch: RiskHistory, time: number): RiskHistory {
  return { ...watch, latch: time }
}

/** Whether a denial by risk is still remembered. */
export function isLatched({ latch }: RiskHistory, time: number): boolean {
  return latch > 0 && time - latch <= LATCHED
}

/** Money went to targets that the user had not named. */
export function paidTo(
  watch: RiskHistory,
  targets: readonly string[],
  cost: number,
  time: number,
): RiskHistory {
  let paid = watch.paid
  for (const to of targets) {
    const known = paidBefore(watch, to, time)
    const next = { to, count: (known?.count ?? 0) + 1, sum: capped((known?.sum ?? 0) + cost), at: time }
    paid = [...paid.filter((each) => each.to !== to), next].slice(-MOST_PAID)
  }
  return paid === watch.paid ? watch : { ...watch, paid }
}

/** What stood somewhere was to be written down. */
export function storedAway(watch: RiskHistory, copied: readonly string[]): RiskHistory {
  const fresh = [...new Set(copied)].filter((each) => !watch.stored.includes(each))
  return fresh.length === 0 ? watch : { ...watch, stored: [...watch.stored, ...fresh].slice(-MOST_STORED) }
}

/**
 * Something went to sinks after labelled data was read; `agreed` if a person was asked about that and has said yes. A yes holds for
 * a week from then on, however often it is used.
 */
export function sentTo(
  watch: RiskHistory,
  sinks: readonly string[],
  agreed: boolean,
  time: number,
): RiskHistory {
  let sent = watch.sent
  for (const to of sinks.map(shortHash)) {
    const known = sentBefore(watch, to, time)?.count ?? 0
    if (known < 0 && !agreed) continue
    const count = agreed ? -1 : Math.min(9, known + 1)
    sent = [...sent.filter((each) => each.to !== to), { to, count, at: time }].slice(-MOST_SENT)
  }
  return sent === watch.sent ? watch : { ...watch, sent }
}

/** A session has data with a label. By the hour is exact enough, and most calls then change nothing. */
export function labelledAt(watch: RiskHistory, time: number): RiskHistory {
  return time - watch.labelled <= HOUR ? watch : { ...watch, labelled: time }
}

/** Whether a session lately had such data, whichever it was. */
export function wasLabelled({ labelled }: RiskHistory, time: number): boolean {
  return labelled > 0 && time - labelled <= LASTING
}

function sentBefore({ sent }: RiskHistory, to: string, time: number): Sent | undefined {
  return sent.find((each) => each.to === to && time - each.at <= LASTING)
}

/** Whether a sink has got something so often that a person should see the next; one more sink than can be counted is seen at once. */
export function isSentOften(watch: RiskHistory, sink: string, time: number): boolean {
  if (watch.sent.length === 0) return false
  const known = sentBefore(watch, shortHash(sink), time)
  if (known) return known.count >= OFTEN
  return watch.sent.filter(({ at }) => time - at <= LASTING).length >= MOST_SENT
}

function capped(sum: number): number {
  return Math.min(sum, Number.MAX_SAFE_INTEGER)
}

/** What was lately paid to a target. */
export function paidBefore({ paid }: RiskHistory, to: string, time: number): Paid | undefined {
  return paid.find((each) => each.to === to && time - each.at <= LASTING)
}

/**
 * Why nobody is to be asked about one more call: people have answered too often in a short time, have said no to this tool twice
 * just now, or once lately and the call is about something
 * that nobody but the agent knows of. Once risk has denied something, it takes less.
 */
export function isApprovalFatigue(
  watch: RiskHistory,
  tool: string,
  isStrange: boolean,
  time: number,
): boolean {
  const { quick, slow } = answersAt(watch, time)
  if (quick >= TOO_QUICK || (isStrange && slow >= TOO_MANY)) return true
  if (isLatched(watch, time) && (isStrange || quick >= RATHER_QUICK)) return true
  if (watch.refused.length === 0) return false
  const name = shortHash(tool)
  const refusal = watch.refused.find((each) => each.tool === name)
  if (!refusal) return false
  const elapsed = time - refusal.at
  return isStrange ? elapsed <= LATCHED : refusal.count >= 2 && elapsed <= SOON
}
