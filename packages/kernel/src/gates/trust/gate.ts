import type { Snapshot } from '../../road/snapshot.ts'
import { POINT } from '../../units.ts'
import { deny, type Gate, type Objection } from '../gate.ts'

/**
 * Objects if the trust score of the principal is too low for the effect class. Does not object to a tool that the policy does not
 * declare, because its class is a guess: the policy step denies it and says so.
 */
export const trust: Gate = {
  name: 'trust',
  standing: ({ gates }) => (gates.trust ? 'active' : 'not configured'),
  check: (_, snapshot) => (snapshot.tool?.declared ? objectionOf(snapshot) : undefined),
}

/** Whether the trust score of the principal is high enough for the effect class. */
export function isTrusted(snapshot: Snapshot): boolean {
  return objectionOf(snapshot) === undefined
}

function objectionOf(snapshot: Snapshot): Objection | undefined {
  const needed = snapshot.policy.gates.trust?.needs[snapshot.effect]
  if (needed === undefined) return undefined
  const score = snapshot.trust()
  if (score >= needed * POINT) return undefined
  const has = Math.floor(score / POINT)
  return deny('TRUST_INSUFFICIENT', `trust is ${has} of 1000, \`${snapshot.effect}\` needs ${needed}`)
}
