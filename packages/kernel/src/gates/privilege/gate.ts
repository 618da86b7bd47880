import { TIERS, type Tier } from '@tollgate/evidence/core'
import { deny, escalate, type Gate } from '../gate.ts'

/** Objects if the principal's tier is too low for the effect class. Escalates if the policy allows elevation to the needed tier. */
export const privilege: Gate = {
  name: 'privilege',
  standing: ({ gates }) => (gates.privilege ? 'active' : 'not configured'),
  check(_, snapshot) {
    const { privilege: settings } = snapshot.policy.gates
    if (!settings) return undefined
    const needed = settings.needs[snapshot.effect]
    if (reaches(snapshot.tier(), needed)) return undefined
    const detail = `\`${snapshot.effect}\` needs the tier \`${needed}\``
    const { elevation } = settings
    return elevation && reaches(elevation.upTo, needed)
      ? escalate('ELEVATION_REQUIRED', detail, needed)
      : deny('INSUFFICIENT_PRIVILEGE', detail)
  },
}

function reaches(tier: Tier, needed: Tier): boolean {
  return TIERS.indexOf(tier) >= TIERS.indexOf(needed)
}
