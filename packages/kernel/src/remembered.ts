// Sessions whose ids a gateway has made, one for each process: they have the memory of their principal, so that a client gains nothing
// by being started again.

import { isMadeSession, memoryOf } from '@tollgate/evidence/core'
import { NOBODY, type Intent } from './call.ts'
import { ONE, type RiskSettings } from './risk.ts'

/** The session whose memory a call has: another one than its own if a gateway has made its id. */
export function rememberedAs({ principal, session }: Pick<Intent, 'principal' | 'session'>): string {
  return memoryOf(principal ?? NOBODY, session)
}

/** A session that is new because its process is must not be safer for it: there, what its principal did counts in full. */
export function carriedIn(session: string, settings: RiskSettings): RiskSettings {
  return isMadeSession(session) ? { ...settings, carry: ONE } : settings
}
