// Runs the examples against the real gateway.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGateway, type RealGateway } from './gateway.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

async function run(
  name: string,
  env: Record<string, string>,
): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', `examples/${name}.ts`], {
    cwd: root,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (piece: Buffer) => (out += piece.toString()))
  child.stderr.on('data', (piece: Buffer) => (err += piece.toString()))
  // Sound: it is not killed, so it has an exit code.
  const [code] = (await once(child, 'close')) as [number]
  return { code, out, err }
}

describe('an example', () => {
  let gateway: RealGateway
  let env: Record<string, string>

  beforeAll(async () => {
    gateway = await startGateway()
    env = {
      TOLLGATE_URL: gateway.url,
      TOLLGATE_AGENT_TOKEN: gateway.agentToken,
      TOLLGATE_APPROVER_TOKEN: gateway.adminToken,
      TOLLGATE_TRUST: gateway.trustFile,
    }
  })
  afterAll(() => gateway.stop())

  const says: Record<string, RegExp> = {
    'agent-loop':
      /read_note: todo: buy milk\ndelete_note: denied.*\n.*waits for a person.*\npost_note: posted.*\nreceipt .* proven\n/,
    'vercel-ai': /read_note: todo: buy milk\ndelete_note: denied, .* Receipt [0-9a-f]{64}\n/,
    langchain: /read_note: todo: buy milk\ndelete_note: denied, POLICY_VIOLATION\n/,
  }

  it('is covered by a test, for each file', () => {
    const programs = readdirSync(`${root}/examples`).filter(
      (name) => name.endsWith('.ts') && name !== 'environment.ts',
    )
    expect(programs.map((name) => name.replace('.ts', '')).sort()).toEqual(Object.keys(says).sort())
  })

  it.each(Object.keys(says))('%s runs and prints what happened', async (name) => {
    const { code, out, err } = await run(name, env)
    expect(err).toBe('')
    expect(code).toBe(0)
    expect(out).toMatch(says[name] ?? /^$/)
  })

  it.each(Object.keys(says))('%s fails with an unknown token and prints why', async (name) => {
    const { code, err } = await run(name, { ...env, TOLLGATE_AGENT_TOKEN: `tg_agent_${'x'.repeat(43)}` })
    expect(code).not.toBe(0)
    expect(err).toMatch(/token|AssertionError/)
  })

  it('names the missing environment variables', async () => {
    const { code, err } = await run('agent-loop', {})
    expect(code).toBe(2)
    expect(err).toContain('set TOLLGATE_URL, TOLLGATE_AGENT_TOKEN, TOLLGATE_APPROVER_TOKEN, TOLLGATE_TRUST')
  })
})
