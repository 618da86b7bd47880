import { acts, leaves } from '../flow.ts'
import { shownPath } from '../walk.ts'
import { deny, escalate, type Gate } from './gate.ts'

/**
 * Objects to labelled data that would leave, and to a side effect whose values were first named by untrusted text.
 */
export const taint: Gate = {
  name: 'taint',
  standing: ({ gates }) => (gates.taint ? 'active' : 'not configured'),
  check(_, snapshot) {
    const settings = snapshot.policy.gates.taint
    if (!settings) return undefined
    const { labels, worst, at } = snapshot.flow()
    const leaving = leaves(snapshot)
    const forbidden = leaving ? labels.find((label) => settings.deny.includes(label)) : undefined
    if (forbidden !== undefined) return deny('TAINTED_DATA_EGRESS_DENY', `the label \`${forbidden}\``)
    const { untrusted, flagged } = settings.provenance
    const origin = worst === 'said' || !acts(snapshot) ? 'allow' : worst === 'flagged' ? flagged : untrusted
    if (origin === 'deny') return deny('UNTRUSTED_VALUE_DENY', `the argument \`${shownPath(at ?? '')}\``)
    const asked = leaving ? labels.filter((label) => settings.ask.includes(label)) : []
    const about = [...asked, ...(origin === 'ask' ? [worst] : [])].join(' ')
    if (about === '') return undefined
    const detail = asked.length > 0 ? `the label \`${asked[0]}\`` : `the argument \`${shownPath(at ?? '')}\``
    return escalate('TAINT_APPROVAL_REQUIRED', detail, about)
  },
}
