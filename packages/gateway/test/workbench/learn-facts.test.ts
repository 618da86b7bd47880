// Learned rules for shell commands: they allow exactly these commands, with exactly the programs that they ran.

import { parsePolicy, type Policy } from '@tollgate/kernel/policy'
import { expect, test } from 'vitest'
import { readCaseFile } from '../../src/workbench/case-file.ts'
import { withDestinations } from '../../src/workbench/learn/check.ts'
import { learn } from '../../src/workbench/learn/learn.ts'
import { runCases } from '../../src/workbench/run-cases.ts'

const POLICY = `
tollgate: 1
name: day
principals: { "agent:*": { tier: admin } }
tools: { builtin/shell: { effect: execute, destinations: none, command: [command] } }
`

const PLACE = {
  ...{ cwd: '/p', project: '/p', home: '/h' },
  paths: { '/p/scripts/seed.ts': '/p/scripts/seed.ts', '/p/src': '/p/src' },
}
const SEEN = ['npm test', 'ls src', 'tsx scripts/seed.ts', 'make -s all', 'echo "$1"']
const OTHERS = [
  'npm publish',
  'npm test && rm -rf src',
  'ls /etc',
  'tsx scripts/other.ts',
  'sh x.sh',
  'make all',
]

function policyIn(text: string): Policy {
  const read = parsePolicy(text)
  if (read.ok) return read.policy
  throw new Error(JSON.stringify(read.mistakes))
}

test('allow the commands of the day, and no other', async () => {
  const base = policyIn(`${POLICY}rules: []\n`)
  const calls = SEEN.map((command, i) => {
    const call: Parameters<typeof withDestinations>[1] = {
      receipt: String(i).padStart(64, '0'),
      time: '2026-01-05T09:00:00.000Z',
      session: 's',
      clean: true,
      principal: 'agent:a',
      door: 'hook',
      tool: 'builtin/shell',
      effect: 'execute',
      tenant: 'default',
      args: { command },
      place: PLACE,
    }
    return withDestinations(base, call)
  })
  const { text } = learn(calls, {})
  expect(text).toContain('shell.runs_other_code.all(x, x in ["make", "npm test", "tsx"])')
  const policy = policyIn(`${POLICY}${text}`)
  const cases = [...SEEN, ...OTHERS].map((command) => {
    const call = { tool: 'builtin/shell', args: { command }, door: 'hook', principal: 'agent:a' }
    return { name: command, call: { ...call, files: { project: '/p', home: '/h' } }, expect: 'ALLOW' }
  })
  const read = readCaseFile(JSON.stringify({ tollgate: 1, cases }))
  if (!read.ok) throw new Error(JSON.stringify(read.mistakes))
  const results = await runCases(policy, read.file.cases, () => 0)
  const allowed = results.filter(({ failure }) => !failure).map(({ name }) => name)
  expect(allowed).toEqual(SEEN)
})
