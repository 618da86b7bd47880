// A few random commands, run for real. `npm run test:deep` runs thousands.

import { expect, it } from 'vitest'
import { readCommand } from '../../src/shell/command.ts'
import { missingIn } from './fuzz/compare.ts'
import { fuzz, whyNot } from './fuzz/fuzz.ts'
import { scratchIn } from './fuzz/trace.ts'

const reason = whyNot()
if (reason !== undefined)
  console.warn(`\nNOT RUN: shell commands are not compared with what they do: ${reason}\n`)

it.skipIf(reason !== undefined)('random commands do nothing that their facts do not say', () => {
  const { holes, flagged } = fuzz(26, 40)
  expect(holes).toEqual([])
  expect(flagged).toBeLessThan(30)
})

it.each([
  ['run', '/usr/bin/rm', 'cat x', false],
  ['run', '/usr/bin/rm', 'rm x', true],
  ['write', '/s/r/1/2/3/work/proj/a.txt', 'cat a.txt', false],
  ['write', '/s/r/1/2/3/work/proj/x', 'touch x', true],
  ['delete', '/s/r/1/2/3/work/proj/a.txt', 'touch a.txt', false],
  ['delete', '/s/r/1/2/3/work/proj/x/y', 'rm -r x', true],
  ['delete', '/s/r/1/2/3/work/proj/x', 'rm y*', true],
  ['delete', '/s/r/1/2/3/work/x', 'rm y*', false],
  ['connect', '', 'cat x', false],
  ['connect', '', 'curl a.example', true],
] as const)('the comparison: %s %s by `%s` is said: %s', (kind, path, command, isSaid) => {
  const scratch = scratchIn('/s')
  const facts = readCommand(command, { cwd: scratch.cwd, home: scratch.home })
  expect(missingIn(facts, [{ kind, path }], scratch)).toEqual(isSaid ? [] : [`${kind} ${path}`])
})
