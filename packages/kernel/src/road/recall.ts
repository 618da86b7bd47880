// Gives a call its turn, with every record in memory that its judgement rests on.

import type { Intent } from './capture.ts'
import type { RegisteredDelegation } from '../gates/delegation/delegations.ts'
import { policyOf, type Kernel } from '../kernel.ts'
import type { Turn } from '../ledger/ledger.ts'
import { readsOf, recordNames, type RecordNames } from '../ledger/records.ts'
import { DETECTORS } from '../gates/index.ts'

/**
 * Runs something in a turn of its own. A policy or a delegation that has come meanwhile may rest on other records than those that
 * were read before; then it is tried again with these.
 */
export async function withRecords<T extends object>(
  kernel: Kernel,
  intent: Intent,
  run: (turn: Turn, names: RecordNames) => T,
): Promise<T> {
  for (;;) {
    const policy = policyOf(kernel, intent.tenant)
    const { root, names } = basisOf(kernel, intent)
    const done = await kernel.ledger.append<T | undefined>({
      reads: readsOf(names, intent, root),
      run: (turn) => {
        const now = ownChain(kernel, intent)
        if (policyOf(kernel, intent.tenant) !== policy || (now && DETECTORS.delegation.root(now)) !== root)
          return undefined
        return run(turn, namesAt(now, names, turn.time))
      },
    })
    if (done) return done
  }
}

/** The records that the judgement of a call rests on. */
interface Basis {
  /** Who it was delegated by in the beginning. */
  readonly root: string | undefined
  readonly names: RecordNames
}

/** What a call's judgement would rest on under the policy and the delegations that are in force. */
export function basisOf(kernel: Kernel, intent: Intent): Basis {
  const chain = ownChain(kernel, intent)
  const root = chain && DETECTORS.delegation.root(chain)
  return { root, names: recordNames(intent, policyOf(kernel, intent.tenant), root) }
}

/** Under a delegation that has ended nobody acts for its delegator any more, who must not answer for it. */
export function namesAt(chain: Chain | undefined, names: RecordNames, time: number): RecordNames {
  const ended = chain?.some(({ revoked, until }) => revoked || until < time)
  return ended === true ? { ...names, lineage: undefined } : names
}

type Chain = readonly RegisteredDelegation[]

/** The delegation that the call names and all it hangs from; undefined if it is not this principal's. */
export function ownChain(
  { delegations }: Kernel,
  { tenant, principal, delegation }: Intent,
): Chain | undefined {
  const chain =
    delegation === undefined ? undefined : DETECTORS.delegation.chain(delegations, tenant, delegation)
  // Whoever names somebody else's delegation must not weigh on its delegator.
  return chain?.[0]?.statement.delegate === principal ? chain : undefined
}
