// Session risk memory, the arithmetic: whole numbers only, so that every host gets the same score.
//
// Two memories run side by side. The moving average forgets by turns: it is the published form, and padding defeats it.
// The sum forgets only by time or by a person's approval, so neither padding nor dripping below the baseline helps.

import { ONE } from '../../units.ts'

/** What one turn looks like on each axis, each from 0 to `ONE`. */
export interface Axes {
  readonly exfiltration: number
  readonly privilege: number
  readonly compliance: number
}

/** What risk is measured by. */
export type Axis = keyof Axes

/** How risk is remembered; `gates.session-risk` in a policy. Fractions in units of `ONE`. */
export interface RiskSettings {
  /** Score from which a person is asked about calls that add to it. */
  readonly ask: number
  /** Score from which calls are denied. */
  readonly threshold: number
  /** Turns the moving average looks back over. */
  readonly window: number
  /** What the average takes off every turn. */
  readonly baseline: number
  /** Milliseconds in which the sum halves. */
  readonly halfLife: number
  /** How much of the principal's sum over all its sessions counts in each of them. */
  readonly carry: number
}

/** The settings where a policy says nothing. */
export const DEFAULT_RISK: RiskSettings = {
  ask: 280_000,
  threshold: 380_000,
  window: 8,
  baseline: 150_000,
  halfLife: 3_600_000,
  carry: 500_000,
}

/** A sum that leaks with time. `at` is when it last grew: turns that add nothing do not touch it. */
export interface Leak {
  readonly sum: number
  readonly at: number
  /** How many turns added to it since it was last empty. */
  readonly turns: number
  /** The worst axis of the turn that added to it last; what was kept by an older version does not have it. */
  readonly axis?: Axis
}

/** What is remembered of a session's turns. */
export interface RiskMemory {
  readonly turns: number
  /** The moving average of what exceeded the baseline. */
  readonly average: number
  /** The moving average of each axis. */
  readonly centroid: readonly [exfiltration: number, privilege: number, compliance: number]
  readonly leak: Leak
}

export const EMPTY_LEAK: Leak = { sum: 0, at: 0, turns: 0 }
export const NO_MEMORY: RiskMemory = { turns: 0, average: 0, centroid: [0, 0, 0], leak: EMPTY_LEAK }

/** Ordinary work stays below this and leaves no trace in the sum, however long it goes on. */
export const QUIET = 80_000
// A fifth: no single turn can cross the default threshold.
const GAIN = 5

/** The signal of a turn, 0 to `ONE`: its worst axis, and half of what the others show. */
export function signalOf({ exfiltration, privilege, compliance }: Axes): number {
  const worst = Math.max(exfiltration, privilege, compliance)
  return Math.min(ONE, worst + Math.floor((exfiltration + privilege + compliance - worst) / 2))
}

/** The axis that shows most. */
function worstOf({ exfiltration, privilege, compliance }: Axes): Axis {
  if (exfiltration >= privilege && exfiltration >= compliance) return 'exfiltration'
  return privilege >= compliance ? 'privilege' : 'compliance'
}

/** The memory after one more turn. */
export function remember(
  memory: RiskMemory,
  axes: Axes,
  time: number,
  { window, baseline, halfLife }: RiskSettings,
): RiskMemory {
  const signal = signalOf(axes)
  const follow = (old: number, now: number): number => old + Math.floor(((now - old) * 2) / (window + 1))
  const [exfiltration, privilege, compliance] = memory.centroid
  return {
    turns: memory.turns + 1,
    average: follow(memory.average, Math.max(0, signal - baseline)),
    centroid: [
      follow(exfiltration, axes.exfiltration),
      follow(privilege, axes.privilege),
      follow(compliance, axes.compliance),
    ],
    leak: grown(memory.leak, axes, time, halfLife),
  }
}

/** The sum after one more turn. */
export function grown(leak: Leak, axes: Axes, time: number, halfLife: number): Leak {
  const added = Math.floor(Math.max(0, signalOf(axes) - QUIET) / GAIN)
  if (added === 0) return leak
  const left = leaked(leak, time, halfLife)
  const turns = left === 0 ? 1 : leak.turns + 1
  return { sum: Math.min(ONE, left + added), at: time, turns, axis: worstOf(axes) }
}

/** The sum without what another one, a part of it, has added to it. */
export function without(leak: Leak, part: Leak, time: number, halfLife: number): Leak {
  const sum = Math.max(0, leaked(leak, time, halfLife) - leaked(part, time, halfLife))
  return sum === 0 ? EMPTY_LEAK : { ...leak, sum, at: time, turns: Math.max(1, leak.turns - part.turns) }
}

/** The sum after a person vouched for a turn: halved. */
export function eased(leak: Leak, time: number, halfLife: number): Leak {
  return { ...leak, sum: Math.floor(leaked(leak, time, halfLife) / 2), at: time }
}

/** What is left of a sum at a time: halved every half-life, in a straight line between. */
export function leaked({ sum, at }: Leak, time: number, halfLife: number): number {
  const elapsed = Math.max(0, time - at)
  const halvings = Math.floor(elapsed / halfLife)
  if (halvings > 20) return 0
  const whole = Math.floor(sum / 2 ** halvings)
  return Math.floor((whole * (2 * halfLife - (elapsed % halfLife))) / (2 * halfLife))
}

/** How risky a session has become. */
export interface Assessment {
  /** 0 to `ONE`: the larger of average, sum and what the principal carries over. */
  readonly score: number
  /** How many turns the average rests on. */
  readonly window: number
  /** Whether the score is over the threshold, and not by one turn alone. */
  readonly tooRisky: boolean
  /** What the score is by: the session itself, or what its principal carries over from others. */
  readonly by: 'session' | 'principal'
  /** The axis that raised it last; undefined if nothing did, or nobody knows. */
  readonly axis: Axis | undefined
}

/**
 * Judges a memory in which the turn in question is already counted; `carried` are the sums of the principal itself and, if
 * the call was delegated, of whom it works for.
 */
export function assess(
  memory: RiskMemory,
  carried: readonly Leak[],
  time: number,
  settings: RiskSettings,
): Assessment {
  const { threshold, window, halfLife, carry } = settings
  let score = Math.max(memory.average, leaked(memory.leak, time, halfLife))
  let tooRisky = score >= threshold && memory.leak.turns >= 2
  let by: Assessment['by'] = 'session'
  let { axis } = memory.leak
  for (const leak of carried) {
    const inherited = Math.floor((leaked(leak, time, halfLife) * carry) / ONE)
    if (inherited > score) [score, by, axis] = [inherited, 'principal', leak.axis]
    tooRisky ||= inherited >= threshold && leak.turns >= 2
  }
  return { score, window: Math.min(memory.turns, window), tooRisky, by, axis }
}

/** A fraction as receipts write it: four places, the rest cut off. */
export function decimal(units: number): string {
  const places = Math.floor(units / 100)
  return `${Math.floor(places / 10_000)}.${String(places % 10_000).padStart(4, '0')}`
}
