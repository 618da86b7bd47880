import { always, deny, escalate, type Gate } from '../gate.ts'

/** Objects to any destination that is not allowed. A missing or empty list allows none. */
export const egress: Gate = {
  name: 'egress',
  standing: always,
  check(_, snapshot) {
    switch (snapshot.egress()) {
      case 'inside':
        return undefined
      case 'ask':
        return escalate('EGRESS_APPROVAL_REQUIRED')
      case 'outside':
        return deny('DATA_EGRESS_BLOCKED')
    }
  },
}
