import { always, deny, type Gate } from './gate.ts'

/** Objects to a call without a known principal, and to a call that claims another principal than its credential's. */
export const identity: Gate = {
  name: 'identity',
  standing: always,
  check({ principal, claimed }) {
    if (principal === undefined) return deny('IDENTITY_MISSING')
    return claimed === undefined || claimed === principal ? undefined : deny('IDENTITY_ISOLATION_VIOLATION')
  },
}
