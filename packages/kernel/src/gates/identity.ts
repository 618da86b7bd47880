import { always, deny, type Gate } from './gate.ts'

/** Objects to a call whose credential belongs to nobody, or to somebody else than the call names. */
export const identity: Gate = {
  name: 'identity',
  standing: always,
  check({ principal, claimed }) {
    if (principal === undefined) return deny('IDENTITY_MISSING')
    return claimed === undefined || claimed === principal ? undefined : deny('IDENTITY_ISOLATION_VIOLATION')
  },
}
