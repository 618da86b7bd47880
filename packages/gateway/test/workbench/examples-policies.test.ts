// Every published policy has cases: all pass, and every rule decides in one of them.

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Json } from '@tollgate/evidence'
import { compileSchema } from '@tollgate/kernel/detection'
import { parsePolicy, type Policy } from '@tollgate/kernel/policy'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { loadCases } from '../../src/cli/policy/case-files.ts'
import { STARTER_CASES, STARTER_POLICY } from '../../src/cli/setup/starter.ts'
import { readCaseFile } from '../../src/workbench/case-file.ts'
import { CASE_SCHEMA } from '../../src/workbench/case-schema.ts'
import { coverageOf, unreached } from '../../src/workbench/coverage.ts'
import { runCases } from '../../src/workbench/run-cases.ts'
import type { Case } from '../../src/workbench/case.ts'

const FOLDER = fileURLToPath(new URL('../../../../examples/policies/', import.meta.url))
const POLICIES = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml') && !name.endsWith('.test.yaml'))

/** The policies that are meant to be copied. */
const STARTERS = ['browser-agent', 'coding-agent', 'database-analyst', 'deployer'].map((name) => ({
  name: `${name}.yaml`,
  text: readFileSync(`${FOLDER}${name}.yaml`, 'utf8'),
}))

const SCHEMA = compileSchema(CASE_SCHEMA)

/** The problems: cases that fail, and rules that no case reaches. */
async function problemsOf(policy: Policy, cases: readonly Case[]): Promise<readonly string[]> {
  const results = await runCases(policy, cases, () => 0)
  const failures = results.flatMap(({ name, failure }) =>
    failure ? [`${name}: expected ${failure.expected}, got ${failure.got}`] : [],
  )
  const coverage = coverageOf(
    policy,
    results.flatMap(({ outcomes }) => outcomes),
  )
  return [...failures, ...unreached(coverage).map(({ rule }) => `no case reaches ${rule}`)]
}

describe('published policies', () => {
  it('are these', () => {
    expect(POLICIES).toEqual([
      'browser-agent.yaml',
      'card-data.yaml',
      'coding-agent.yaml',
      'database-analyst.yaml',
      'deployer.yaml',
      'developer.yaml',
      'eu-transfer.yaml',
      'framework-tools.yaml',
      'full.yaml',
    ])
  })

  for (const name of POLICIES) {
    it(`${name} decides as its cases expect, and every rule decides in one`, async () => {
      const file = `${FOLDER}${name.replace(/\.yaml$/, '.test.yaml')}`
      const loaded = loadCases(file)
      if (!loaded.ok) throw new Error(loaded.mistakes.join('\n'))
      expect(loaded.policyFile).toBe(`${FOLDER}${name}`)
      expect(SCHEMA.check(parse(readFileSync(file, 'utf8')) as Json)).toBeUndefined()
      expect(await problemsOf(loaded.policy, loaded.file.cases)).toEqual([])
    })
  }

  it('include the one that `tollgate init` writes', async () => {
    const policy = parsePolicy(STARTER_POLICY)
    const cases = readCaseFile(STARTER_CASES)
    if (!policy.ok || !cases.ok) throw new Error('the starter has mistakes')
    expect(cases.file.policy).toBeUndefined()
    expect(cases.file.mistakesAbout(policy.policy)).toEqual([])
    expect(cases.file.cases.length).toBeGreaterThan(10)
    expect(await problemsOf(policy.policy, cases.file.cases)).toEqual([])
  })

  it('declare the arguments of every tool that a rule allows', () => {
    const open = [...STARTERS, { name: 'init', text: STARTER_POLICY }].map(({ name, text }) => {
      const read = parsePolicy(text)
      if (!read.ok) throw new Error(`${name} has mistakes`)
      return [name, read.policy.tools.filter(({ schema }) => !schema).map(({ name: tool }) => tool.source)]
    })
    // These two are always denied.
    expect(Object.fromEntries(open)).toEqual({
      'browser-agent.yaml': ['playwright/browser_evaluate'],
      'coding-agent.yaml': [],
      'database-analyst.yaml': [],
      'deployer.yaml': ['deploy/delete'],
      init: [],
    })
  })

  it('a policy without its deny rule fails its cases', async () => {
    const policy = parsePolicy(
      STARTER_POLICY.replace('deny: "demo/delete_note"', 'allow: "demo/delete_note"'),
    )
    const cases = readCaseFile(STARTER_CASES)
    if (!policy.ok || !cases.ok) throw new Error('the starter has mistakes')
    expect(await problemsOf(policy.policy, cases.file.cases)).toEqual([
      'deleting is denied without asking a person: expected DENY by no-deleting, got ESCALATE at privilege for ELEVATION_REQUIRED',
      'no case reaches no-deleting',
    ])
  })
})
