import { isDelegateOnly, partiesIn, problemOf } from './delegations.ts'
import { deny, type Gate } from '../gate.ts'

/**
 * Objects to a call that its delegation does not grant, to an invalid delegation, and to a delegate-only principal without a
 * delegation. A named delegation is checked even if none is needed.
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
        ? deny('DELEGATION_INVALID', 'this principal may act only under a delegation')
        : undefined
    }
    // A freeze of a principal depends only on its tenant and name.
    const parties = partiesIn(policy, (each) => freezes.principal({ ...intent, principal: each }))
    const problem = problemOf(snapshot.chain ?? [], { principal, tool, effect, session, time }, parties)
    return problem && deny(problem.code, problem.detail)
  },
}
