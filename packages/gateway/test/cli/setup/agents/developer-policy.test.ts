// The package contains the policy that setup offers.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { loadCases } from '../../../../src/cli/policy/case-files.ts'
import { DEVELOPER_POLICY } from '../../../../src/cli/setup/agents/developer-policy.ts'

test('is the policy of the examples, with its cases', () => {
  const example = new URL('../../../../../../examples/policies/developer.yaml', import.meta.url)
  expect(readFileSync(DEVELOPER_POLICY, 'utf8')).toBe(readFileSync(example, 'utf8'))
  const cases = loadCases(DEVELOPER_POLICY.replace(/yaml$/, 'test.yaml'))
  expect(cases.ok && cases.policyFile).toBe(DEVELOPER_POLICY)
})
