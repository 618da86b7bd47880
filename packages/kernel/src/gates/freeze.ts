import { freezeReason } from '../freezes.ts'
import { always, deny, type Gate } from './gate.ts'

/** Objects while the whole gateway, the principal, the tool or the session is frozen. */
export const freeze: Gate = {
  name: 'freeze',
  standing: always,
  check(intent, { freezes }) {
    const reason = freezeReason(freezes, intent)
    return reason && deny(reason)
  },
}
