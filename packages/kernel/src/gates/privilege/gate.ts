import { TIERS, type Tier } from '@tollgate/evidence/core'
import type { Snapshot } from '../../road/snapshot.ts'
import { deny, escalate, type Gate, type Objection } from '../gate.ts'

/**
 * Objects if the principal's tier is too low for the effect class. Escalates if the policy allows elevation to the needed tier. Does
 * not object to a tool that the policy does not declare, because its class is a guess: the policy step denies it and says so.
 */
export const privilege: Gate = {
  name: 'privilege',
  standing: ({ gates }) => (gates.privilege ? 'active' : 'not configured'),
  check: (_, snapshot) => (snapshot.tool?.declared ? objectionOf(snapshot) : undefined),
}

/** Whether the tier of the principal is high enough for the effect class. */
export function isPrivileged(snapshot: Snapshot): boolean {
  return objectionOf(snapshot) === undefined
}

function objectionOf(snapshot: Snapshot): Objection | undefined {
  const { privilege: settings } = snapshot.policy.gates
  if (!settings) return undefined
  const needed = settings.needs[snapshot.effect]
  const tier = snapshot.tier()
  if (reaches(tier, needed)) return undefined
  const detail = `\`${snapshot.effect}\` needs the tier \`${needed}\`, the principal has \`${tier}\``
  const { elevation } = settings
  return elevation && reaches(elevation.upTo, needed)
    ? escalate('ELEVATION_REQUIRED', detail, needed)
    : deny('INSUFFICIENT_PRIVILEGE', detail)
}

function reaches(tier: Tier, needed: Tier): boolean {
  return TIERS.indexOf(tier) >= TIERS.indexOf(needed)
}
