// Judges a call by a policy alone: without history, freezes, pins or approvals.

import { capture, type Intent, type ToolCall } from '../../road/capture.ts'
import { createCatalogue, knownAs } from '../../admin/catalogue.ts'
import { createFreezes } from '../../admin/freezes.ts'
import { decide, type Judgement } from '../../road/guardian.ts'
import { underCanonicalName } from '../../road/naming.ts'
import type { Policy } from '../../policy/parse/parse.ts'
import { remembersData, sharesLimits } from '../../policy/uses.ts'
import { NEW_PRINCIPAL, NEW_SESSION, NEW_TENANT } from '../../ledger/session.ts'
import { snapshotOf, type Snapshot } from '../../road/snapshot.ts'
import { NO_PROVENANCE } from '../../gates/taint/provenance.ts'
import { NEW_TRUST } from '../../gates/trust/trust.ts'

/** A tried call with its judgement. */
export interface Trial {
  readonly intent: Intent
  readonly snapshot: Snapshot
  readonly judgement: Judgement
}

/**
 * Tries a call at a time in milliseconds. The same call, policy and time give the same result. `observed` says whether the
 * observation of the page counts as posted by the Sentinel or as claimed by the agent.
 */
export function tryCall(
  policy: Policy,
  call: ToolCall,
  time: number,
  observed: Snapshot['observed'] = 'agent',
): Trial {
  const catalogue = createCatalogue()
  const intent = underCanonicalName(catalogue, policy, capture(call))
  const snapshot = snapshotOf(intent, {
    time,
    policy,
    freezes: createFreezes(),
    tool: knownAs(catalogue.find(intent.tool, policy), intent),
    session: NEW_SESSION,
    principal: NEW_PRINCIPAL,
    tenant: sharesLimits(policy) ? NEW_TENANT : undefined,
    lineage: undefined,
    chain: undefined,
    data: remembersData(policy) ? { value: NO_PROVENANCE, broken: false } : undefined,
    key: () => TRIAL_KEY,
    trusted: policy.gates.trust ? NEW_TRUST : undefined,
    observation: intent.browser?.observation,
    observed,
    asked: false,
    observing: false,
  })
  return { intent, snapshot, judgement: decide(intent, snapshot) }
}

// Nothing outlives a trial, so the key need not be secret.
const TRIAL_KEY = '0'.repeat(64)
