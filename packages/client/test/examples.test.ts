// Runs the examples against the real gateway.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../src/index.ts'
import { findBrowser } from '../../../tools/browser.mjs'
import { startGateway, type RealGateway } from './gateway.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

function run(name: string, env: Record<string, string>): Promise<Ended> {
  return start([process.execPath, '--import', 'tsx', `examples/${name}.ts`], env)
}

async function start(
  [command = '', ...args]: readonly string[],
  env: Record<string, string>,
): Promise<Ended> {
  const child = spawn(command, args, {
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
    const inPython = readdirSync(`${root}/examples`).filter((name) => name.endsWith('.py'))
    const tests = ['packages/python/test/examples.compat.ts', 'packages/client/test/examples.test.ts']
    const text = tests.map((file) => readFileSync(`${root}/${file}`, 'utf8')).join('')
    expect(inPython.length).toBeGreaterThan(2)
    expect(inPython.filter((name) => !text.includes(`'${name}'`) && !text.includes(`/${name}`))).toEqual([])
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

const browser = findBrowser()
if (browser === undefined)
  process.stderr.write(
    '\n!!! NO BROWSER: the example of a browser agent does NOT run. Set TOLLGATE_BROWSER.\n\n',
  )

const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython)
  process.stderr.write('\n!!! NO PYTHON: the example for plain HTTP does NOT run. Install python3.\n\n')

describe('the example of a browser agent', () => {
  let gateway: RealGateway
  let env: Record<string, string>

  beforeAll(async () => {
    gateway = await startGateway()
    const { url, agentToken, adminToken } = gateway
    const policy = readFileSync(`${root}/examples/browser-agent/policy.yaml`, 'utf8')
    await createClient({ url, token: adminToken }).policy.activate(policy)
    env = {
      TOLLGATE_URL: url,
      TOLLGATE_AGENT_TOKEN: agentToken,
      TOLLGATE_APPROVER_TOKEN: adminToken,
      TOLLGATE_BROWSER: browser ?? '',
    }
  })
  afterAll(() => gateway.stop())

  it.skipIf(browser === undefined)(
    'reads, is denied on the poisoned page, and orders after an approval',
    async () => {
      const { code, out, err } = await run('browser-agent/main', env)
      expect(err).toBe('')
      expect(code).toBe(0)
      expect(out).toMatch(/read it: Harbour Books.*\n/)
      expect(out).toMatch(/go on: denied, COGNITIVE_FIREWALL_SENTINEL_DENY\n/)
      expect(out).toMatch(/waits for a person: browser\/click\nplace the order: done\n/)
      expect(out).toMatch(/the site was asked only for \/, \/review, \/order, \/ordered\n$/)
    },
  )
  it.skipIf(browser === undefined)('makes the pictures of the documents', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-pictures-'))
    const args = ['--import', 'tsx', 'examples/browser-agent/pictures.ts', folder]
    expect(await start([process.execPath, ...args], env)).toMatchObject({ code: 0, err: '' })
    // The other pictures show the console.
    const names = readdirSync(`${root}/docs/images`).filter((name) => !name.startsWith('console-'))
    expect(readdirSync(folder).toSorted()).toEqual(names.toSorted())
    for (const name of names) {
      for (const path of [join(folder, name), `${root}/docs/images/${name}`]) {
        const bytes = readFileSync(path)
        expect(bytes.subarray(1, 4).toString()).toBe('PNG')
        expect(bytes.length).toBeLessThan(60_000)
      }
    }
    rmSync(folder, { recursive: true })
  })

  it.skipIf(!hasPython)('works over plain HTTP, with the standard library of Python', async () => {
    const TOLLGATE_COMMAND = `${process.execPath} packages/gateway/bin/tollgate.mjs`
    const { code, out, err } = await start(['python3', 'examples/plain_http.py'], {
      ...env,
      TOLLGATE_COMMAND,
    })
    expect(err).toBe('')
    expect(code).toBe(0)
    expect(out).toMatch(
      /click on the poisoned page: DENY COGNITIVE_FIREWALL_SENTINEL_DENY\norder: ESCALATE waits .* [0-9a-f]{64}\n$/,
    )
  })
})
