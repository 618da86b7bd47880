// The measurements: rows on the plain sessions, evasions on a part of the attacks, and the time of session risk.

import { snapshotOf, type Intent, type Snapshot, type World as Moment } from '@tollgate/kernel'
import { quantile } from '../measure.ts'
import { drive, ladderOf, ROWS, type Row } from './drive.ts'
import { evade, randomly, type Evasion } from './evasions.ts'
import { judgeRun, type Outcome } from './judge.ts'
import { randomOf } from './random.ts'
import type { Kind, Session } from './session.ts'
import { worldByRole } from './worlds/index.ts'

/** Says how far it is. */
export type Say = (line: string) => void

/** A session and what came of it in each row. */
export interface Measured {
  readonly session: Session
  readonly outcomes: Readonly<Record<Row, Outcome>>
}

/** Every session in every row. */
export async function measureRows(sessions: readonly Session[], say: Say): Promise<readonly Measured[]> {
  const measured: Measured[] = []
  for (const [i, session] of sessions.entries()) {
    if (i % 200 === 0) say(`rows: ${i} of ${sessions.length} sessions`)
    const [stateless, risk, both] = [
      await run(session, ROWS[0]),
      await run(session, ROWS[1]),
      await run(session, ROWS[2]),
    ]
    measured.push({ session, outcomes: { stateless, 'session-risk': risk, both } })
  }
  return measured
}

async function run(session: Session, row: Row = 'both'): Promise<Outcome> {
  return judgeRun(session, await drive(session, row))
}

/** An attack that was changed, and what came of it. */
export interface Evaded {
  readonly session: Session
  readonly outcome: Outcome
  /** How many calls more than the plain attack. */
  readonly extra: number
}

/** How much is spent on evasions. */
export interface Effort {
  /** Attacks of each family. */
  readonly sample: number
  /** Attacks of each family that are searched on, and tries for each. */
  readonly searched: number
  readonly queries: number
}

/** One evasion on some attacks of each family. */
export async function measureEvasion(
  sessions: readonly Session[],
  name: Evasion,
  effort: Effort,
  say: Say,
): Promise<readonly Evaded[]> {
  const some = eachFamily(sessions, name === 'search' ? effort.searched : effort.sample)
  const evaded: Evaded[] = []
  for (const [i, session] of some.entries()) {
    if (i % 20 === 0) say(`${name}: ${i} of ${some.length} attacks`)
    evaded.push(name === 'search' ? await search(session, effort.queries) : await once(session, name))
  }
  return evaded
}

async function once(session: Session, name: Exclude<Evasion, 'search'>): Promise<Evaded> {
  const random = randomOf(`${name}\n${session.id}`)
  return judged(session, evade(session, name, random, worldByRole(session.role)))
}

async function judged(plain: Session, changed: Session): Promise<Evaded> {
  return { session: changed, outcome: await run(changed), extra: changed.turns.length - plain.turns.length }
}

/** Tries until the harm is done without a stop, or the tries are used up; the best try counts. */
async function search(session: Session, queries: number): Promise<Evaded> {
  const random = randomOf(`search\n${session.id}`)
  let best = await judged(session, session)
  for (let i = 0; i < queries && worth(best) < BEST; i++) {
    const tried = await judged(session, randomly(session, random, worldByRole(session.role)))
    if (worth(tried) > worth(best)) best = tried
  }
  return best
}

const BEST = 3

/** What an attacker makes of an outcome: harm first, then not to be seen. */
function worth({ outcome }: Evaded): number {
  return (outcome.prevented ? 0 : 2) + (outcome.stoppedAt < 0 ? 1 : 0)
}

/** The first so many attacks of each family, each template in turn. */
function eachFamily(sessions: readonly Session[], count: number): readonly Session[] {
  const seen = new Map<Kind, number>()
  return sessions.filter(({ label, family }) => {
    if (label !== 'attack') return false
    const before = seen.get(family) ?? 0
    seen.set(family, before + 1)
    return before < count
  })
}

/** Microseconds of session risk for a turn. */
export interface Timing {
  readonly turns: number
  readonly p50: number
  readonly p99: number
}

/**
 * Session risk alone on the turns of sessions: the state of each is taken from a real run, what other rungs work out is worked
 * out before, and only the assessment is timed.
 */
export async function measureTime(sessions: readonly Session[], most: number = 12_000): Promise<Timing> {
  const moments = await momentsOf(sessions, most)
  const times = new Float64Array(moments.length)
  for (let round = 0; round < 4; round++) {
    for (const [i, [intent, moment]] of moments.entries()) {
      const snapshot = snapshotOf(intent, moment)
      snapshot.egress()
      snapshot.labels()
      const began = process.hrtime.bigint()
      snapshot.assessment()
      times[i] = Number(process.hrtime.bigint() - began) / 1e3
    }
  }
  return { turns: times.length, p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}

async function momentsOf(
  sessions: readonly Session[],
  most: number,
): Promise<readonly (readonly [Intent, Moment])[]> {
  const moments: (readonly [Intent, Moment])[] = []
  const ladder = ladderOf('both').map((rung) => {
    if (rung.name !== 'session-risk') return rung
    const check = (intent: Intent, snapshot: Snapshot): ReturnType<typeof rung.check> => {
      if (moments.length < most) moments.push([intent, snapshot])
      return rung.check(intent, snapshot)
    }
    return { ...rung, check }
  })
  for (const session of sessions) {
    if (moments.length >= most) break
    await drive(session, 'both', ladder)
  }
  return moments
}
