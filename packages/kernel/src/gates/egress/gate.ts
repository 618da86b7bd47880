import type { Snapshot } from '../../road/snapshot.ts'
import { always, deny, escalate, type Gate } from '../gate.ts'
import { egressStatus } from './destinations.ts'

/** Objects to any destination that is not allowed. A missing or empty list allows none. The detail names the hostnames. */
export const egress: Gate = {
  name: 'egress',
  standing: always,
  check(_, snapshot) {
    switch (snapshot.egress()) {
      case 'inside':
        return undefined
      case 'ask':
        return escalate('EGRESS_APPROVAL_REQUIRED', `${hostsText(snapshot, 'ask')}: needs an approval`)
      case 'outside':
        return deny('DATA_EGRESS_BLOCKED', `${hostsText(snapshot, 'outside')}: not allowed`)
    }
  },
}

const MAX_NAMED = 3

/** The hostnames with this status, without anything else of their URLs. */
function hostsText(snapshot: Snapshot, status: 'ask' | 'outside'): string {
  const found = snapshot.destinations().filter((each) => egressStatus([each], snapshot) === status)
  const names = [...new Set(found.map(({ host }) => (isFull(host) ? `\`${host}\`` : NOT_FULL)))]
  const more = names.length - MAX_NAMED
  return `${names.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

const NOT_FULL = 'a destination without a full hostname'

/** Whether a host is a domain name or an address. A single word may be any word of the arguments. */
function isFull(host: string): boolean {
  return host.includes('.') || host.includes(':') || host === 'localhost'
}
