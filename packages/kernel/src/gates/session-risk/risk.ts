// The arithmetic of session risk. Integers only, so that every machine computes the same score.
//
// There are two measures. The moving average decays with every turn, so harmless filler calls can lower it. The sum decays only with
// time or with an approval, so filler calls and many small steps do not help an attacker.

import { ONE } from '../../units.ts'

/** The risk of one turn on each axis, from 0 to `ONE`. */
export interface Axes {
  readonly exfiltration: number
  readonly privilege: number
  readonly compliance: number
}

/** The name of a risk axis. */
export type Axis = keyof Axes

/** The settings `gates.session-risk` of a policy. Fractions are in units of `ONE`. */
export interface RiskSettings {
  /** From this score on, calls that add risk are escalated. */
  readonly ask: number
  /** From this score on, calls are denied. */
  readonly threshold: number
  /** The number of turns in the moving average. */
  readonly window: number
  /** The risk that the average ignores in every turn. */
  readonly baseline: number
  /** Milliseconds in which the sum halves. */
  readonly halfLife: number
  /** The part of the principal's sum over all its sessions that counts in each session. */
  readonly carry: number
}

/** The settings of a policy without `gates.session-risk`. */
export const DEFAULT_RISK: RiskSettings = {
  ask: 280_000,
  threshold: 380_000,
  window: 8,
  baseline: 150_000,
  halfLife: 3_600_000,
  carry: 500_000,
}

/** A sum that decays with time. `at` is when it last grew: turns that add nothing do not change it. */
export interface Leak {
  readonly sum: number
  readonly at: number
  /** The number of turns that added to it since it was last zero. */
  readonly turns: number
  /** The highest axis of the turn that added to it last. Records of older versions lack it. */
  readonly axis?: Axis
}

/** The risk memory of a session. */
export interface RiskMemory {
  readonly turns: number
  /** The moving average of the risk above the baseline. */
  readonly average: number
  /** The moving average of each axis. */
  readonly centroid: readonly [exfiltration: number, privilege: number, compliance: number]
  readonly leak: Leak
}

export const EMPTY_LEAK: Leak = { sum: 0, at: 0, turns: 0 }
export const NO_MEMORY: RiskMemory = { turns: 0, average: 0, centroid: [0, 0, 0], leak: EMPTY_LEAK }

/** Signals up to this value add nothing to the sum. Ordinary work stays below it. */
export const QUIET = 80_000
// A turn adds a fifth of its signal, so no single turn can exceed the default threshold.
const DIVISOR = 5

/** The signal of a turn, from 0 to `ONE`: its highest axis plus half of the others. */
export function signalOf({ exfiltration, privilege, compliance }: Axes): number {
  const worst = Math.max(exfiltration, privilege, compliance)
  return Math.min(ONE, worst + Math.floor((exfiltration + privilege + compliance - worst) / 2))
}

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
  const added = Math.floor(Math.max(0, signalOf(axes) - QUIET) / DIVISOR)
  if (added === 0) return leak
  const left = leaked(leak, time, halfLife)
  const turns = left === 0 ? 1 : leak.turns + 1
  return { sum: Math.min(ONE, left + added), at: time, turns, axis: worstOf(axes) }
}

/** The sum without the contribution of `part`. */
export function without(leak: Leak, part: Leak, time: number, halfLife: number): Leak {
  const sum = Math.max(0, leaked(leak, time, halfLife) - leaked(part, time, halfLife))
  return sum === 0 ? EMPTY_LEAK : { ...leak, sum, at: time, turns: Math.max(1, leak.turns - part.turns) }
}

/** The sum after an approval: halved. */
export function eased(leak: Leak, time: number, halfLife: number): Leak {
  return { ...leak, sum: Math.floor(leaked(leak, time, halfLife) / 2), at: time }
}

/** The sum at a time. It halves every half-life and decays linearly in between. */
export function leaked({ sum, at }: Leak, time: number, halfLife: number): number {
  const elapsed = Math.max(0, time - at)
  const halvings = Math.floor(elapsed / halfLife)
  if (halvings > 20) return 0
  const whole = Math.floor(sum / 2 ** halvings)
  return Math.floor((whole * (2 * halfLife - (elapsed % halfLife))) / (2 * halfLife))
}

/** The risk of a session. */
export interface Assessment {
  /** From 0 to `ONE`: the maximum of the average, the sum and the risk carried over by the principal. */
  readonly score: number
  /** The number of turns in the average. */
  readonly window: number
  /** Whether at least two turns have raised the score to the threshold. */
  readonly tooRisky: boolean
  /** The source of the score: this session, or other sessions of the principal. */
  readonly by: 'session' | 'principal'
  /** The axis that raised the score last; undefined if none did or if it is unknown. */
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

/** A fraction as receipts write it: four decimal places, truncated. */
export function decimal(units: number): string {
  const places = Math.floor(units / 100)
  return `${Math.floor(places / 10_000)}.${String(places % 10_000).padStart(4, '0')}`
}
