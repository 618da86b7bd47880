// Which rungs object to a call, all of them: the verdict itself names only the first.

import { NO_HASH, type LadderStep } from '@tollgate/evidence'
import { LADDER } from '@tollgate/kernel'
import type { Trial } from '@tollgate/kernel/workbench'

/** Something that stands in the way of a call. */
export interface Objector {
  readonly rung: LadderStep
  /** The rule that denies or asks, if one does. */
  readonly rule?: string | undefined
}

/** Who objects, in the order of the ladder. */
export function objectorsOf({ intent, snapshot }: Pick<Trial, 'intent' | 'snapshot'>): readonly Objector[] {
  if (intent.unreadable !== undefined) return [{ rung: 'capture' }]
  // Without a policy nothing else is asked.
  if (snapshot.policy.hash === NO_HASH) return [{ rung: 'policy' }]
  return LADDER.flatMap((rung) => objection(rung.name, () => rung.check(intent, snapshot)))
}

/** A rung that throws objects. */
function objection(rung: LadderStep, ask: () => ReturnType<StepCheck> | undefined): readonly Objector[] {
  try {
    const word = ask()
    if (word === undefined || word.verdict === 'ALLOW') return []
    return [{ rung, rule: 'rule' in word ? word.rule.id : undefined }]
  } catch {
    return [{ rung }]
  }
}

type StepCheck = (typeof LADDER)[number]['check']
