// Runs a call's turn with every record in memory that its judgement depends on.

import type { Intent } from './capture.ts'
import type { RegisteredDelegation } from '../gates/delegation/delegations.ts'
import { policyOf, type Kernel } from '../kernel.ts'
import type { Turn } from '../ledger/ledger.ts'
import { readsOf, recordNames, type RecordNames } from '../ledger/records.ts'
import { DETECTORS } from '../gates/index.ts'

/** Runs a function in a turn. If a new policy or delegation needs other records, it loads them and tries again. */
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

/** The records that the judgement of a call depends on. */
interface Basis {
  /** The root delegator. */
  readonly root: string | undefined
  readonly names: RecordNames
}

/** Returns the records that a call depends on under the current policy and delegations. */
export function basisOf(kernel: Kernel, intent: Intent): Basis {
  const chain = ownChain(kernel, intent)
  const root = chain && DETECTORS.delegation.root(chain)
  return { root, names: recordNames(intent, policyOf(kernel, intent.tenant), root) }
}

/** After a delegation has ended, its delegator is no longer charged. */
export function namesAt(chain: Chain | undefined, names: RecordNames, time: number): RecordNames {
  const ended = chain?.some(({ revoked, until }) => revoked || until < time)
  return ended === true ? { ...names, lineage: undefined } : names
}

type Chain = readonly RegisteredDelegation[]

/** Returns the delegation that the call names and its parents; undefined if it does not belong to this principal. */
export function ownChain(
  { delegations }: Kernel,
  { tenant, principal, delegation }: Intent,
): Chain | undefined {
  const chain =
    delegation === undefined ? undefined : DETECTORS.delegation.chain(delegations, tenant, delegation)
  // Naming a delegation of another principal must not charge its delegator.
  return chain?.[0]?.statement.delegate === principal ? chain : undefined
}
