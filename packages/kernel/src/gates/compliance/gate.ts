import { appliedRules } from './compliance.ts'
import type { ComplianceRule } from './settings.ts'
import { deny, escalate, type Gate } from '../gate.ts'

/** Objects if a compliance rule that applies denies or escalates. The strictest rule decides. */
export const compliance: Gate = {
  name: 'compliance',
  standing: ({ gates }) => (gates.compliance ? 'active' : 'not configured'),
  check(intent, snapshot) {
    const rules = appliedRules(intent, snapshot)
    const [strictest] = rules
    switch (strictest?.then) {
      case 'deny':
        return deny('COMPLIANCE_VIOLATION', detailOf(strictest))
      case 'ask':
        return escalate('COMPLIANCE_APPROVAL_REQUIRED', detailOf(strictest), idsOf(rules))
      case 'allow':
      case undefined:
        return undefined
    }
  },
}

function detailOf({ id, because }: ComplianceRule): string {
  return because === undefined ? `\`${id}\`` : `\`${id}\`: ${because}`
}

function idsOf(rules: readonly ComplianceRule[]): string {
  return rules.flatMap(({ id, then }) => (then === 'ask' ? [id] : [])).join(' ')
}
