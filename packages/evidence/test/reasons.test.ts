import { describe, expect, it } from 'vitest'
import { REASONS, reasonOf, VERDICTS } from '../src/reasons.ts'

const rows = Object.entries(REASONS)

describe('the table of reasons', () => {
  it.each(rows)('%s has one verdict, a sentence and a remedy', (code, reason) => {
    expect(code).toMatch(/^[A-Z]+(?:_[A-Z]+)*$/)
    expect(code.length).toBeLessThanOrEqual(64)
    const { operator, ...rest } = reason
    expect(Object.keys(rest).sort()).toEqual(['remedy', 'sentence', 'verdict'])
    if (operator !== undefined) expect(operator).toMatch(/^`tollgate [^\n]{8,}[^.]\.$/)
    expect(VERDICTS).toContain(reason.verdict)
    expect(reason.sentence).toMatch(/^[A-Z][^\n]{8,}[^.]\.$/)
    expect(reason.remedy).toMatch(/^[A-Z][^\n]{8,}[^.]\.$/)
    expect(reason.remedy).not.toContain('`tollgate')
  })

  it('has a code for each verdict', () => {
    expect([...new Set(rows.map(([, { verdict }]) => verdict))].sort()).toEqual([...VERDICTS].sort())
  })

  it('has a different sentence for each code', () => {
    expect(new Set(rows.map(([, { sentence }]) => sentence)).size).toBe(rows.length)
  })

  it('has every code of the design', () => {
    const codes = `
      DENY_TOOL_NOT_FOUND SESSION_RISK_MEMORY_DENY SCHEMA_VIOLATION NO_POLICY_DEFINED POLICY_VIOLATION SYSTEM_FROZEN
      AGENT_KILLED CONTEXT_MISMATCH IDENTITY_ISOLATION_VIOLATION DATA_EGRESS_BLOCKED TAINTED_DATA_EGRESS_DENY
      PROMPT_INJECTION_DETECTED UNICODE_OBFUSCATION_DETECTED DELEGATION_INVALID DELEGATION_SCOPE_VIOLATION
      INSUFFICIENT_PRIVILEGE BUDGET_EXCEEDED TEMPORAL_INTERVENTION APPROVAL_REQUIRED APPROVAL_TIMEOUT
      COGNITIVE_FIREWALL_DOMAIN_DENY COGNITIVE_FIREWALL_INVALID_URL COGNITIVE_FIREWALL_SENTINEL_DENY
      COGNITIVE_FIREWALL_PLANNER_REF_REQUIRED TOOL_NOT_PINNED AMBIGUOUS_INPUT GATE_FAILED`
    for (const code of codes.trim().split(/\s+/)) expect(reasonOf(code), code).toBeDefined()
  })

  it('gives DENY for every code whose name says so', () => {
    // A person can approve a call outside the scope.
    for (const [code, { verdict }] of rows.filter(([code]) => code !== 'TASK_SCOPE_EXCEEDED'))
      if (/DENY|DENIED|VIOLATION|FROZEN|EXCEEDED$/.test(code)) expect(verdict, code).toBe('DENY')
  })

  it('knows no other code', () => {
    for (const code of [
      '',
      'rule_allowed',
      'RULE_ALLOWED ',
      'constructor',
      '__proto__',
      'toString',
      'hasOwnProperty',
    ])
      expect(reasonOf(code)).toBeUndefined()
    for (const [code, reason] of rows) expect(reasonOf(code)).toBe(reason)
  })
})
