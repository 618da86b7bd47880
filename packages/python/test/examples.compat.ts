// The examples for frameworks of Python, with the client for Python, against a real gateway.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pypi, saw } from '../../../tools/compat/saw.ts'
import { compatPython, PYTHON_ENV } from '../../../tools/compat/python.ts'
import { startGateway, type RealGateway } from '../../client/test/gateway.ts'

const python = compatPython()
const EXAMPLES = fileURLToPath(new URL('../../../examples/', import.meta.url))
/** The examples, each with the package that it shows. */
const PROGRAMS = { 'langgraph_agent.py': 'langgraph', 'openai_agents.py': 'openai-agents' } as const
const SAYS =
  /^read_note: todo: buy milk\ndelete_note: denied, POLICY_VIOLATION\nmodel: .*may not delete it\.\n$/

describe.skipIf(python === undefined)('an example', () => {
  let gateway: RealGateway

  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())

  test.each(Object.entries(PROGRAMS))('%s runs with the client for Python', (file, name) => {
    const env = {
      ...PYTHON_ENV,
      // Frameworks have warnings of their own.
      PYTHONWARNINGS: 'ignore',
      TOLLGATE_URL: gateway.url,
      TOLLGATE_AGENT_TOKEN: gateway.agentToken,
    }
    const run = (more: NodeJS.ProcessEnv): ReturnType<typeof spawnSync> =>
      spawnSync(python ?? '', [EXAMPLES + file], { env: { ...env, ...more }, encoding: 'utf8' })
    const { stdout, stderr, status } = run({})
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
    expect(stdout).toMatch(SAYS)
    expect(run({ TOLLGATE_AGENT_TOKEN: `tg_agent_${'x'.repeat(43)}` }).status).not.toBe(0)
    expect(run({ TOLLGATE_URL: '' }).stderr).toContain('set TOLLGATE_URL')
    saw(pypi(name, 'guarded functions'), 'HTTP', 'allowed', 'denied')
  })
})
