import { isDelegateOnly, partiesIn, problemOf } from './delegations.ts'
import { deny, type Gate } from '../gate.ts'

/**
 * Objects to a call beyond what its delegation grants, under one that does not hold, and to a principal that acts only for
 * others when it acts under none. A delegation that is named is checked, also where it would not be needed.
 */
export const delegation: Gate = {
  name: 'delegation',
  standing: ({ principals }) =>
    principals.some(({ key, delegateOnly }) => key !== undefined || delegateOnly)
      ? 'active'
      : 'not configured',
  check(intent, snapshot) {
    const { principal, tool, session } = intent
    const { policy, freezes, effect, time } = snapshot
    if (intent.delegation === undefined) {
      return principal !== undefined && isDelegateOnly(policy, principal)
        ? deny('DELEGATION_INVALID', 'this principal acts only under a delegation')
        : undefined
    }
    // Who is frozen is known by tenant and name alone.
    const parties = partiesIn(policy, (each) => freezes.principal({ ...intent, principal: each }))
    const problem = problemOf(snapshot.chain ?? [], { principal, tool, effect, session, time }, parties)
    return problem && deny(problem.code, problem.detail)
  },
}
