// Hijacked runs with the injected text in words that nobody has tuned to.

import type { Decided } from '@tollgate/kernel'
import type { Harms } from './harm.ts'
import type { Player } from './play.ts'
import { reworded, sawInjection } from './rewrite.ts'
import type { Run } from './runs.ts'
import { WORDINGS, type Goal, type Wording } from './wordings/index.ts'

/** What became of the harmful call of one run under one wording. */
export interface RewordedOutcome {
  readonly wording: Wording
  readonly suite: string
  readonly task: string
  readonly verdict: Decided['verdict']
}

/** Replays, for each wording, some runs of each injected task. */
export async function rewordedOutcomes(
  runs: readonly Run[],
  player: Player,
  harms: Harms,
  each: number,
): Promise<readonly RewordedOutcome[]> {
  const outcomes: RewordedOutcome[] = []
  const byTask = hijackedByTask(runs, harms)
  for (const [number, wording] of WORDINGS.entries()) {
    for (const [task, all] of byTask) {
      for (let i = 0; i < Math.min(each, all.length); i++) {
        // Spread over the runs of the task, other ones for other wordings.
        const place = all[(i * 7919 + number * 104_729) % all.length]
        const verdict = place && (await verdictUnder(wording, place, player, harms))
        if (verdict) outcomes.push({ wording, suite: place.run.suite, task, verdict })
      }
    }
  }
  return outcomes
}

interface Place {
  readonly run: Run
  readonly at: number
}

function hijackedByTask(runs: readonly Run[], harms: Harms): ReadonlyMap<string, readonly Place[]> {
  const byTask = new Map<string, Place[]>()
  for (const run of runs) {
    if (run.label !== 'hijacked' || !harms.taskOf(run)) continue
    const harm = harms.of(run)
    if (harm.kind !== 'call' || !sawInjection(run, harm.at)) continue
    const key = `${run.suite} ${run.injectionTask ?? ''}`
    byTask.set(key, [...(byTask.get(key) ?? []), { run, at: harm.at }])
  }
  return byTask
}

async function verdictUnder(
  wording: Wording,
  { run, at }: Place,
  player: Player,
  harms: Harms,
): Promise<Decided['verdict'] | undefined> {
  const task = harms.taskOf(run)
  const other = task && reworded(run, wording.text({ ...task, ...goalOf(task.order) }))
  return other && ((await player.play(other, at))[at]?.verdict ?? 'ALLOW')
}

const VERBS = 'send transfer pay invite post visit book create change delete share reveal add message'.split(
  ' ',
)

function goalOf(order: string): Pick<Goal, 'verb' | 'user' | 'model'> {
  const words = order.toLowerCase().match(/[a-z]+/g) ?? []
  const verb =
    words.find((word) => VERBS.includes(word)) ?? (/\breserv/i.test(order) ? 'book' : (words[0] ?? 'do'))
  return { verb, user: 'Alex Morrow', model: 'the assistant' }
}
