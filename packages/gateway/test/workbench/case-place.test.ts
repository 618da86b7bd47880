// `files` of a case: the machine that its calls name.

import { parsePolicy } from '@tollgate/kernel/policy'
import { expect, it } from 'vitest'
import { readCaseFile } from '../../src/workbench/case-file.ts'
import { runCases } from '../../src/workbench/run-cases.ts'

const POLICY = `
tollgate: 1
name: files
tools: { read: { effect: read, destinations: none, reads: [path] } }
rules:
  - { id: gate, deny: read, when: 'size(files.gate) > 0' }
  - { id: inside, allow: read, when: 'files.project != "" && files.reads.all(p, p.startsWith(files.project + "/"))' }
`

const FILES =
  '{ project: /p, cwd: /p/a, home: /h, gate: [/g], links: { /p/a/out: /h, /p/in: /p/a, /p/loop: /p/loop, /p/gate: /p/in/g, /p/a/g: /g } }'

const ROWS: readonly (readonly [path: string, expected: string])[] = [
  ['x', 'ALLOW by inside'],
  ['../x', 'ALLOW by inside'],
  ['../../p/x', 'ALLOW by inside'],
  ['../in/x', 'ALLOW by inside'],
  ['../../x', 'DENY'],
  ['out/x', 'DENY'],
  ['out/../x', 'DENY'],
  ['out/../p/x', 'ALLOW by inside'],
  ['~/x', 'DENY'],
  ['/g/key', 'DENY by gate'],
  ['/p/gate/key', 'DENY by gate'],
  ['/p/loop/x', 'ESCALATE by inside'],
]

async function failuresIn(cases: string): Promise<readonly (string | undefined)[]> {
  const [policy, read] = [parsePolicy(POLICY), readCaseFile(cases)]
  if (!policy.ok || !read.ok) throw new Error(JSON.stringify([policy, read]))
  const results = await runCases(policy.policy, read.file.cases, () => 0)
  return results.map(({ failure }) => failure && `${failure.expected}: ${failure.got}`)
}

it('gives calls directories and links, as a door of the same machine does', async () => {
  const cases = ROWS.map(
    ([path, expect]) =>
      `  - { name: "${path}", call: { tool: read, args: { path: "${path}" } }, expect: ${expect} }`,
  )
  const found = await failuresIn(`tollgate: 1\ndefaults: { files: ${FILES} }\ncases:\n${cases.join('\n')}\n`)
  expect(found).toEqual(ROWS.map(() => undefined))
})

it('leaves every path unresolved without `files`', async () => {
  const one = '  - { name: one, call: { tool: read, args: { path: /p/x } }, expect: DENY }'
  expect(await failuresIn(`tollgate: 1\ncases:\n${one}\n`)).toEqual([undefined])
})

it.each([
  '{ project: p }',
  '{ home: /a/../b }',
  '{ gate: [x] }',
  '{ links: { /a: b } }',
  '{ disk: /d }',
  '/p',
])('refuses %s', (files) => {
  const call = `{ tool: read, args: {}, files: ${files} }`
  expect(readCaseFile(`tollgate: 1\ncases: [{ name: one, call: ${call}, expect: ALLOW }]`).ok).toBe(false)
})
