// Finds all steps that object to a call. The decision names only the first one.

import { NO_HASH, type LadderStep } from '@tollgate/evidence'
import { LADDER } from '@tollgate/kernel'
import type { Trial } from '@tollgate/kernel/workbench'

/** A step that objects to a call. */
export interface Objector {
  readonly rung: LadderStep
  /** The rule that denies or escalates, if any. */
  readonly rule?: string | undefined
}

/** All objecting steps, in the order of the ladder. */
export function objectorsOf({ intent, snapshot }: Pick<Trial, 'intent' | 'snapshot'>): readonly Objector[] {
  if (intent.unreadable !== undefined) return [{ rung: 'capture' }]
  // Without a policy no other step is asked.
  if (snapshot.policy.hash === NO_HASH) return [{ rung: 'policy' }]
  return LADDER.flatMap((rung) => objection(rung.name, () => rung.check(intent, snapshot)))
}

/** A step that throws objects. */
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
