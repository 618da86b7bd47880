// The client for Python against a real gateway: the programs of its README, and its types.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sawNothing } from '../../../tools/compat/saw.ts'
import { startGateway, type RealGateway } from '../../client/test/gateway.ts'
import { compatPython, PACKAGE, PYTHON_ENV } from '../../../tools/compat/python.ts'

const python = compatPython()
const text = readFileSync(`${PACKAGE}README.md`, 'utf8')
const programs = new Map(
  [...text.matchAll(/^## (.*)\n\n```python\n([^]*?)```$/gm)].map(([, title = '', code = '']) => [
    title,
    code,
  ]),
)
const SAYS: Readonly<Record<string, RegExp>> = {
  'Guard a function': /^todo: buy milk\nPOLICY_VIOLATION .* [0-9a-f]{64}\n$/,
  'Let a person decide':
    /^waits for a person: demo\/post_note .*\nposted to https:\/\/partner.example\/notes\n$/,
  'In asyncio': /^\['todo: buy milk', 'later: buy milk'\]\nPOLICY_VIOLATION\n$/,
  'Ask manually': /^RULE_ALLOWED full\n$/,
}
const OURS = 'the client is our own; its programs run against the real gateway'

describe.skipIf(python === undefined)('the client for Python', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-python-'))
  let gateway: RealGateway

  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(async () => {
    await gateway.stop()
    rmSync(folder, { recursive: true })
  })

  function run(...args: readonly string[]): { stdout: string; stderr: string; status: number | null } {
    const env = {
      ...PYTHON_ENV,
      TOLLGATE_URL: gateway.url,
      TOLLGATE_AGENT_TOKEN: gateway.agentToken,
      TOLLGATE_APPROVER_TOKEN: gateway.adminToken,
    }
    return spawnSync(python ?? '', args, { env, cwd: PACKAGE, encoding: 'utf8', timeout: 300_000 })
  }

  function programOf(title: string): string {
    const path = join(folder, `${title.toLowerCase().replaceAll(' ', '_')}.py`)
    writeFileSync(path, programs.get(title) ?? '')
    return path
  }

  test('has a README with only programs that run here', () => {
    expect([...programs.keys()]).toEqual(Object.keys(SAYS))
    expect(text.match(/^```python$/gm)).toHaveLength(programs.size)
    sawNothing(OURS)
  })

  test.each(Object.entries(SAYS))('has a program that runs: %s', (title, says) => {
    // A program may leave its connection open at its end.
    const { stdout, stderr, status } = run('-W', 'ignore::ResourceWarning', programOf(title))
    expect({ stdout, stderr, status }).toMatchObject({ stderr: '', status: 0 })
    expect(stdout).toMatch(says)
    sawNothing(OURS)
  })

  test('passes mypy with all checks, and so do the programs', () => {
    const paths = [...programs.keys()].map(programOf)
    const cache = `--cache-dir=${join(folder, 'mypy')}`
    const { stdout, status } = run('-W', 'default', '-m', 'mypy', '--strict', cache, 'src', ...paths)
    expect(status, stdout).toBe(0)
    sawNothing(OURS)
  })

  test('passes pyright', () => {
    const { stdout, status } = run('-W', 'default', '-m', 'pyright', '--pythonpath', python ?? '', 'src')
    expect(status, stdout).toBe(0)
    sawNothing(OURS)
  })
})
