import { appliedRules } from './compliance.ts'
import type { ComplianceRule } from './settings.ts'
import { deny, escalate, type Gate } from '../gate.ts'

/** Objects if a rule about the class of the data and where it goes does. The strongest rule that applies counts. */
export const compliance: Gate = {
  name: 'compliance',
  standing: ({ gates }) => (gates.compliance ? 'active' : 'not configured'),
  check(intent, snapshot) {
    const rules = appliedRules(intent, snapshot)
    const [strongest] = rules
    switch (strongest?.then) {
      case 'deny':
        return deny('COMPLIANCE_VIOLATION', detailOf(strongest))
      case 'ask':
        return escalate('COMPLIANCE_APPROVAL_REQUIRED', detailOf(strongest), idsOf(rules))
      case 'allow':
      case undefined:
        return undefined
    }
  },
}

function detailOf({ id, because }: ComplianceRule): string {
  return because === undefined ? `\`${id}\`` : `\`${id}\`: ${because}`
}

/** The rules that ask. */
function idsOf(rules: readonly ComplianceRule[]): string {
  return rules.flatMap(({ id, then }) => (then === 'ask' ? [id] : [])).join(' ')
}
