import { POINT } from '../../units.ts'
import { deny, type Gate } from '../gate.ts'

/** Objects if the trust score of the principal is too low for the effect class. */
export const trust: Gate = {
  name: 'trust',
  standing: ({ gates }) => (gates.trust ? 'active' : 'not configured'),
  check(_, snapshot) {
    const needed = snapshot.policy.gates.trust?.needs[snapshot.effect]
    if (needed === undefined) return undefined
    const score = snapshot.trust()
    if (score >= needed * POINT) return undefined
    const has = Math.floor(score / POINT)
    return deny('TRUST_INSUFFICIENT', `trust is ${has} of 1000, \`${snapshot.effect}\` needs ${needed}`)
  },
}
