// An agent runs as the same user as the operator. A command in a text that an agent reads is a command that it can run.

import { REASONS, type ReasonCode } from '@tollgate/evidence'
import type { Decided } from '@tollgate/kernel'
import { describe, expect, it } from 'vitest'
import { PROBLEMS } from '../../src/api/problem.ts'
import { notRun, unknownOutcome } from '../../src/cli/mcp/wrap-refusal.ts'
import { denialFault, denialResult } from '../../src/mcp/denial.ts'
import { denialText, verdictOf } from '../../src/verdict.ts'

// Sound: the keys of the table are the codes.
const CODES = Object.keys(REASONS) as ReasonCode[]
const COMMAND = /\b(?:npx )?tollgate(?:-verify)? [a-z]/
const REQUEST = 'ab'.repeat(32)

function decided(reason: ReasonCode): Decided {
  const { verdict } = REASONS[reason]
  return {
    verdict,
    reason,
    rung: 'policy',
    rule: undefined,
    detail: undefined,
    receipt: 'cd'.repeat(32),
    approval: verdict === 'ESCALATE' ? REQUEST : undefined,
    expires: undefined,
  }
}

describe('a text that an agent reads', () => {
  it.each(CODES)('contains no command for %s', (code) => {
    const one = decided(code)
    const texts = [
      denialText(one, false),
      denialText(one, true),
      JSON.stringify(verdictOf(one)),
      JSON.stringify(denialResult(one, false)),
      denialFault(one).message,
    ]
    for (const text of texts) expect(text).not.toMatch(COMMAND)
  })

  it.each(CODES.filter((code) => REASONS[code].verdict === 'ESCALATE'))(
    'names the request and the operator for %s',
    (code) => {
      const text = denialText(decided(code), false)
      expect(text).toContain(`ask the operator to answer the request ${REQUEST}`)
    },
  )

  it('contains no command in the problems of the HTTP door', () => {
    // Only the command itself gets this one, on a data directory without a gateway.
    const { 'gateway-needed': _, ...problems } = PROBLEMS
    expect(JSON.stringify(problems)).not.toMatch(COMMAND)
  })

  it('contains no command if no gateway answers', () => {
    expect(`${notRun('/data', 'it ended')} ${unknownOutcome('/data')}`).not.toMatch(COMMAND)
  })
})
