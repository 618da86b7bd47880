// The steps of the ladder that a call went through, as a picture.

import { LADDER_STEPS, type Decision } from '@tollgate/evidence'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { loadPolicy, type ShownPolicy } from '../policy.ts'

type Standing = 'passed' | 'asked' | 'denied' | 'decided' | 'not reached' | 'not configured'

/** The ladder of a decision. */
export function Gates({ decision }: { readonly decision: Decision }): JSX.Element {
  const [policy, setPolicy] = useState<ShownPolicy>()
  useEffect(() => {
    loadPolicy().then(setPolicy, () => undefined)
  }, [])
  // The steps that another policy configured are unknown.
  const rungs = policy?.hash === decision.policy_hash ? policy.rungs : []
  return (
    <section class="block" aria-label="Gates">
      <h2>Gates</h2>
      <ol class="gates">
        {LADDER_STEPS.map((step) => {
          const idle = rungs.some(({ rung, standing }) => rung === step && standing === 'not configured')
          const standing = idle ? 'not configured' : standingOf(step, decision)
          return (
            <li key={step} class={`gate ${standing.replace(' ', '-')}`}>
              <span class="gate-name">{step}</span>
              <span class="gate-standing">{standing}</span>
            </li>
          )
        })}
      </ol>
    </section>
  )
}

function standingOf(step: (typeof LADDER_STEPS)[number], { rung, verdict, asks = [] }: Decision): Standing {
  const [at, end] = [LADDER_STEPS.indexOf(step), LADDER_STEPS.indexOf(rung)]
  if (verdict === 'DENY') return at < end ? 'passed' : at === end ? 'denied' : 'not reached'
  if (step === rung && verdict === 'ALLOW') return 'decided'
  if (verdict === 'ESCALATE' && (step === rung || asks.some((each) => each.split(' ')[0] === step)))
    return 'asked'
  return 'passed'
}
