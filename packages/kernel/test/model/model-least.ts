// The minimum coverage of a comparison of the kernel with the model.

import type { ReasonCode } from '@tollgate/evidence'

// The minimum number of each reason in 20,000 calls. Failing stores and storage quotas are not compared here, see `storage.test.ts`.
// Elements of a page come only from a gateway that drives the browser: see the vectors. Facts of commands have tests of their own.
type Apart =
  | 'LEDGER_UNAVAILABLE'
  | 'STORAGE_QUOTA_EXCEEDED'
  | 'COGNITIVE_FIREWALL_TARGET_DENY'
  | 'COGNITIVE_FIREWALL_TARGET_UNRESOLVED'
  | 'CALL_NOT_UNDERSTOOD'
type Compared = Exclude<ReasonCode, Apart>
const LEAST: Readonly<Record<Compared, number>> = {
  RULE_ALLOWED: 100,
  APPROVAL_GRANTED: 80,
  ASKED_IN_CLIENT: 20,
  APPROVAL_REQUIRED: 100,
  OBSERVE_MODE_ALLOWED: 20,
  TOOL_NOT_PINNED: 30,
  EGRESS_APPROVAL_REQUIRED: 100,
  TAINT_APPROVAL_REQUIRED: 40,
  THREAT_APPROVAL_REQUIRED: 50,
  SESSION_RISK_APPROVAL_REQUIRED: 50,
  ELEVATION_REQUIRED: 50,
  TASK_SCOPE_EXCEEDED: 100,
  TEMPORAL_INTERVENTION: 25,
  COMPLIANCE_APPROVAL_REQUIRED: 50,
  COGNITIVE_FIREWALL_APPROVAL_REQUIRED: 5,
  AMBIGUOUS_INPUT: 10,
  SYSTEM_FROZEN: 10,
  AGENT_KILLED: 10,
  TOOL_FROZEN: 10,
  SESSION_FROZEN: 10,
  QUOTA_EXCEEDED: 50,
  DENY_TOOL_NOT_FOUND: 100,
  TOOL_NOT_DECLARED: 30,
  TOOL_DEFINITION_CHANGED: 10,
  SCHEMA_VIOLATION: 50,
  CONTEXT_MISMATCH: 100,
  IDENTITY_MISSING: 25,
  IDENTITY_ISOLATION_VIOLATION: 50,
  COGNITIVE_FIREWALL_INVALID_URL: 10,
  COGNITIVE_FIREWALL_DOMAIN_DENY: 10,
  COGNITIVE_FIREWALL_SENTINEL_DENY: 10,
  COGNITIVE_FIREWALL_PLANNER_REF_REQUIRED: 10,
  DATA_EGRESS_BLOCKED: 100,
  TAINTED_DATA_EGRESS_DENY: 40,
  UNTRUSTED_VALUE_DENY: 25,
  PROMPT_INJECTION_DETECTED: 50,
  UNICODE_OBFUSCATION_DETECTED: 25,
  COMMAND_ATTACK_DETECTED: 25,
  DELEGATION_INVALID: 100,
  DELEGATION_SCOPE_VIOLATION: 40,
  SESSION_RISK_MEMORY_DENY: 100,
  TRUST_INSUFFICIENT: 50,
  INSUFFICIENT_PRIVILEGE: 50,
  NO_POLICY_DEFINED: 50,
  NO_RULE_MATCHED: 100,
  POLICY_VIOLATION: 100,
  POLICY_EVALUATION_ERROR: 10,
  OUTSIDE_HOURS: 30,
  RATE_EXCEEDED: 100,
  BUDGET_EXCEEDED: 50,
  COMPLIANCE_VIOLATION: 50,
  APPROVAL_TIMEOUT: 5,
  APPROVAL_REFUSED: 10,
  APPROVAL_INVALID: 20,
  APPROVAL_TOO_LARGE: 10,
  GATE_FAILED: 10,
  STATE_MISMATCH: 40,
}
// The minimum number of other observations, so that their rules are compared.
const ALSO: Readonly<Record<string, number>> = {
  labels: 100,
  findings: 100,
  compliance: 50,
  trust: 100,
  elevation: 5,
  widened: 20,
  'question ALLOW': 20,
  'question ESCALATE': 20,
  'question DENY': 50,
  'scope true': 100,
  'scope false': 20,
  late: 5,
  'effect COMPLETED': 100,
  'effect FAILED': 10,
  'effect UNKNOWN': 10,
  'effect CANCELLED': 5,
  'delivery full': 100,
  'delivery redacted': 20,
  'delivery withheld': 20,
  'delegation true': 50,
  'delegation false': 50,
  'delegation planted': 20,
  'broken session': 5,
  'broken principal': 10,
  'broken tenant': 5,
  'broken lineage': 5,
  'broken remembered': 2,
  'about output': 5,
  'about ordered': 20,
  'about flagged': 5,
  'about spelled': 5,
  'agreed sink': 40,
}

/** The observations that were too rare in this number of calls. */
export function tooRare(seen: ReadonlyMap<string, number>, cases: number): readonly string[] {
  const least = [
    ...Object.entries(LEAST).map(([code, n]) => [`reason ${code}`, n] as const),
    ...Object.entries(ALSO),
  ]
  const share = cases / 20_000
  return least.flatMap(([name, n]) => {
    const count = seen.get(name) ?? 0
    return count < Math.floor(n * share) ? [`${name}: ${count}`] : []
  })
}
