// The kernel against a second, naive evaluator: in every generated case both must say the same.

import type { ReasonCode } from '@tollgate/evidence'
import { expect, it } from 'vitest'
import { compare, seedFromOutside, type Run } from './model-run.ts'

async function check(cases: number, seed: number): Promise<Run> {
  const run = await compare(cases, seed)
  expect(run.difference).toBeUndefined()
  expect(run.cases).toBeGreaterThanOrEqual(cases)
  return run
}

// How often each reason must come up at least, for the comparison to say anything about it.
const OFTEN: readonly ReasonCode[] = [
  'RULE_ALLOWED',
  'APPROVAL_REQUIRED',
  'EGRESS_APPROVAL_REQUIRED',
  'NO_RULE_MATCHED',
  'POLICY_VIOLATION',
  'SESSION_RISK_MEMORY_DENY',
  'TEMPORAL_INTERVENTION',
  'DATA_EGRESS_BLOCKED',
  'SCHEMA_VIOLATION',
  'CONTEXT_MISMATCH',
  'GATE_FAILED',
  'NO_POLICY_DEFINED',
  'DENY_TOOL_NOT_FOUND',
  'QUOTA_EXCEEDED',
  'APPROVAL_INVALID',
  'APPROVAL_GRANTED',
  'IDENTITY_MISSING',
  'IDENTITY_ISOLATION_VIOLATION',
]
const SOMETIMES: readonly ReasonCode[] = [
  'APPROVAL_REFUSED',
  'APPROVAL_TIMEOUT',
  'POLICY_EVALUATION_ERROR',
  'SYSTEM_FROZEN',
  'AGENT_KILLED',
  'TOOL_FROZEN',
  'SESSION_FROZEN',
  'TOOL_NOT_PINNED',
  'TOOL_DEFINITION_CHANGED',
  'TASK_SCOPE_EXCEEDED',
  'TAINT_APPROVAL_REQUIRED',
  'COMPLIANCE_VIOLATION',
  'STATE_MISMATCH',
  'AMBIGUOUS_INPUT',
  'COGNITIVE_FIREWALL_INVALID_URL',
  'COGNITIVE_FIREWALL_DOMAIN_DENY',
  'COGNITIVE_FIREWALL_SENTINEL_DENY',
  'COGNITIVE_FIREWALL_PLANNER_REF_REQUIRED',
]

it('decides 20,000 calls as the model does, for every reason there is', async () => {
  const { reasons } = await check(20_000, seedFromOutside() ?? 1)
  const rarer = (codes: readonly ReasonCode[], least: number): readonly ReasonCode[] =>
    codes.filter((code) => (reasons.get(code) ?? 0) < least)
  expect(rarer(OFTEN, 100)).toEqual([])
  expect(rarer(SOMETIMES, 10)).toEqual([])
})

it('decides 5,000 calls that nobody has seen before as the model does', async () => {
  await check(5000, seedFromOutside() ?? Date.now() % 2 ** 32)
})
