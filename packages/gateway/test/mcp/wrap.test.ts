// `tollgate mcp -- COMMAND`, run as a client runs it. Needs the build.

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { serverNameOf } from '../../src/cli/mcp/wrap-name.ts'
import { openLocal, type LocalDoor } from '../../src/mcp/client/local.ts'
import { formatResult } from '../../src/mcp/message.ts'
import { newFolder } from '../gateway-rig.ts'
import { createStandIn, type StandInMcp } from './standin.ts'

const COMMAND = fileURLToPath(new URL('../../bin/tollgate.mjs', import.meta.url))

/** A client's view of the wrapper. */
interface Wrapped {
  send(message: object | string): void
  /** The next message. Fails on anything else. */
  next(): Promise<Record<string, unknown>>
  /** Waits for a text on standard error. */
  says(pattern: RegExp): Promise<void>
  readonly stderr: () => string
  kill(signal: NodeJS.Signals): void
  /** Ends standard input, after some bytes. */
  end(bytes?: string): void
  readonly exit: Promise<number | null>
}

const ends: (() => unknown)[] = []

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

// One home per user: it holds the key of the kept calls.
const home = newFolder()

function run(args: readonly string[], env: Record<string, string> = {}): Wrapped {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: process.env.TMPDIR ?? '/tmp', ...env },
  })
  ends.push(() => child.kill('SIGKILL'))
  const lines: string[] = []
  let [text, errors] = ['', '']
  const listeners = new Set<() => void>()
  const stir = (): void => {
    for (const listener of [...listeners]) listener()
  }
  child.stdout.on('data', (chunk: Buffer) => {
    const parts = (text + chunk.toString()).split('\n')
    text = parts.pop() ?? ''
    lines.push(...parts)
    stir()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
    stir()
  })
  child.stdin.on('error', () => undefined)
  const until = <T>(what: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = what()
        if (found === undefined && child.exitCode === null) return
        listeners.delete(look)
        if (found === undefined) reject(new Error(`it has ended: ${errors}`))
        else resolve(found)
      }
      listeners.add(look)
      look()
    })
  const exit = new Promise<number | null>((resolve) =>
    child.on('close', (code) => {
      stir()
      resolve(code)
    }),
  )
  return {
    send: (message) =>
      child.stdin.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`),
    async next() {
      return JSON.parse(await until(() => lines.shift())) as Record<string, unknown>
    },
    async says(pattern) {
      await until(() => (pattern.test(errors) ? true : undefined))
    },
    stderr: () => errors,
    kill: (signal) => child.kill(signal),
    end: (bytes = '') => child.stdin.end(bytes),
    exit,
  }
}

function wrap(data: string, words: readonly string[], more: readonly string[] = []): Wrapped {
  return run(['mcp', '--data', data, ...more, '--', ...words])
}

const request = (id: number, method: string, params: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})
const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'c', version: '1' },
}

describe('the name of a server', () => {
  it.each([
    ['npx -y @scope/server-github@1.2', 'github'],
    ['npx -y @modelcontextprotocol/server-filesystem /tmp', 'filesystem'],
    ['npx --package some-thing@latest github-mcp-server', 'github'],
    ['npm exec -- @x/mcp-server-time', 'time'],
    ['uvx mcp-server-git --repository x', 'git'],
    ['uvx --from git+https://x.example/y mcp_server_fetch', 'fetch'],
    ['uv run --with x server.py', 'server'],
    ['uv tool run some_mcp==1.0', 'some'],
    ['python3 -m mcp_server_sqlite --db a', 'sqlite'],
    ['node /x/y/server.js', 'server'],
    ['node --import tsx /opt/weather-mcp/dist/index.js', 'weather'],
    ['/usr/local/bin/GitHub-MCP-Server stdio', 'github'],
    ['docker run -i --rm -e TOKEN --name n ghcr.io/github/github-mcp-server:latest', 'github'],
    ['C:\\\\tools\\\\mcp-server-x.exe', 'x'],
    ['env A=b npx -y server-memory', 'memory'],
    ['npx', 'npx'],
    ['./Ünïcode!', 'n-code'],
    ['./___', 'server'],
  ])('%s is %s', (command, name) => {
    expect(serverNameOf(command.split(' '))).toBe(name)
  })
})

describe('with a gateway', () => {
  async function openDoor(data: string): Promise<StandInMcp & { readonly door: LocalDoor }> {
    const standIn = createStandIn()
    const door = await openLocal(data, {
      mcp: standIn.mcp,
      tokens: { identify: () => undefined, verify: () => Promise.resolve() },
      tenant: 'default',
      log: () => undefined,
      limits: { grace: 20 },
    })
    ends.push(() => door.close())
    return { ...standIn, door }
  }

  it('starts the server with its command, directory and environment, and nothing of the gateway', async () => {
    const rig = await openDoor(newFolder())
    const data = join(rig.door.path, '..')
    const wrapped = run(['mcp', '--data', data, '--name', 'mine', '--', 'prog', '--flag', ''], {
      SECRET: 's',
      TOLLGATE_TOKEN: `tg_admin_${'x'.repeat(43)}`,
      TOLLGATE_AGENT_TOKEN: `tg_operator_${'x'.repeat(43)}`,
      TOLLGATE_KEY_PASSPHRASE: 'p',
    })
    wrapped.send(request(1, 'echo', { a: 1 }))
    expect(await wrapped.next()).toMatchObject({ id: 1, result: { method: 'echo', params: { a: 1 } } })
    const { scope, principal } = rig.begun[0] ?? {}
    expect(principal).toBe('agent:local')
    expect(scope).toMatchObject({
      name: 'mine',
      address: { command: 'prog', args: ['--flag', ''], cwd: process.cwd() },
    })
    const env = scope?.kind === 'own' && scope.address.transport === 'stdio' ? scope.address.env : {}
    expect(env).toMatchObject({ SECRET: 's' })
    expect(Object.keys(env).filter((name) => name.startsWith('TOLLGATE'))).toEqual([])
    wrapped.end()
    expect(await wrapped.exit).toBe(0)
    await rig.until(() => rig.begun[0]?.closed)
  })

  it.each([
    ['TOLLGATE_AGENT_TOKEN', /no gateway: the token is unknown/],
    [
      'TOLLGATE_TOKEN',
      /TOLLGATE_TOKEN contains an agent token[^]*rename the variable to TOLLGATE_AGENT_TOKEN/,
    ],
  ])('sends an agent token from %s', async (name, said) => {
    const rig = await openDoor(newFolder())
    const data = join(rig.door.path, '..')
    const wrapped = run(['mcp', '--data', data, '--', 'prog'], { [name]: `tg_agent_${'x'.repeat(43)}` })
    wrapped.send(request(1, 'echo'))
    await wrapped.says(said)
    await wrapped.says(/no gateway: the token is unknown/)
    wrapped.kill('SIGTERM')
    expect(await wrapped.exit).toBe(0)
  })

  it('forwards standard error of the server', async () => {
    const data = newFolder()
    const rig = await openDoor(data)
    const wrapped = wrap(data, ['prog'])
    wrapped.send(request(1, 'echo'))
    await wrapped.next()
    const scope = rig.begun[0]?.scope
    if (scope?.kind === 'own') scope.onStderr?.('server: hello\n')
    await wrapped.says(/^server: hello$/m)
    wrapped.kill('SIGTERM')
    expect(await wrapped.exit).toBe(0)
  })

  it('answers garbage, and ignores half a line at the end', async () => {
    const data = newFolder()
    const rig = await openDoor(data)
    const wrapped = wrap(data, ['prog'])
    wrapped.send(request(1, 'echo'))
    await wrapped.next()
    wrapped.send('garbage')
    expect(await wrapped.next()).toMatchObject({ id: null, error: { code: -32700 } })
    wrapped.send('')
    wrapped.send('[1]')
    expect(await wrapped.next()).toMatchObject({ id: null, error: { code: -32600 } })
    wrapped.send(`{"jsonrpc":"2.0","id":2,"method":"echo","params":{"text":"${'x'.repeat(9 << 20)}"}}`)
    expect(await wrapped.next()).toMatchObject({ id: null, error: { code: -32700 } })
    wrapped.end(JSON.stringify(request(2, 'echo')))
    expect(await wrapped.exit).toBe(0)
    expect(rig.begun[0]?.taken.map(({ kind }) => kind)).toEqual(['request', 'unreadable', 'unreadable'])
  })

  it('answers active requests before it ends', async () => {
    const data = newFolder()
    const rig = await openDoor(data)
    const wrapped = wrap(data, ['prog'])
    wrapped.send(request(1, 'hold'))
    wrapped.end()
    const { id, out } = await rig.until(() => rig.begun[0]?.held[0])
    out.send(formatResult(id, '{"late":true}'), true)
    expect(await wrapped.next()).toMatchObject({ id: 1, result: { late: true } })
    expect(await wrapped.exit).toBe(0)
  })

  it('reports unknown outcomes when the gateway stops, starts none, and continues with the next', async () => {
    const data = newFolder()
    const first = await openDoor(data)
    const wrapped = wrap(data, ['prog'])
    wrapped.send(request(0, 'initialize', INITIALIZE))
    expect(await wrapped.next()).toMatchObject({ id: 0, result: {} })
    wrapped.send(request(1, 'hold'))
    await first.until(() => first.begun[0]?.held[0])
    await first.door.close()
    expect(await wrapped.next()).toMatchObject({
      id: 1,
      error: { message: expect.stringMatching(/unknown whether it ran.*ask the operator/) as string },
    })
    wrapped.send(request(2, 'tools/call', { name: 'x', arguments: {} }))
    const refused = await wrapped.next()
    expect(refused).toMatchObject({ id: 2, result: { isError: true } })
    expect(JSON.stringify(refused)).toMatch(/did not run.*ask the operator to start it/)
    wrapped.send(request(3, 'tools/list'))
    expect(await wrapped.next()).toMatchObject({ id: 3, error: { code: -32603 } })
    expect(existsSync(join(data, 'gateway.log'))).toBe(false)
    const second = await openDoor(data)
    await second.until(() => second.begun[0]?.attached)
    expect(second.begun[0]?.taken).toMatchObject([
      { method: 'initialize', params: INITIALIZE },
      { method: 'notifications/initialized' },
    ])
    await wrapped.says(/connected to the gateway again/)
    wrapped.send(request(4, 'echo'))
    expect(await wrapped.next()).toMatchObject({ id: 4, result: { method: 'echo' } })
    wrapped.kill('SIGINT')
    expect(await wrapped.exit).toBe(0)
  })

  it('has one form of invocation', async () => {
    const data = newFolder()
    const none = run(['mcp', '--data', data, '--'])
    expect(await none.exit).not.toBe(0)
    const wrong = wrap(data, ['prog'], ['--name', 'No Name'])
    expect(await wrong.exit).toBe(2)
    expect(wrong.stderr()).toContain('is not a valid server name')
  })
})

// Knows the required methods, and writes once to standard error.
const SERVER = `
import { createInterface } from 'node:readline'
process.stderr.write('the server is up\\n')
const results = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } },
  'tools/list': { tools: [{ name: 'look', inputSchema: { type: 'object' } }] },
  ping: {},
}
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line)
  if (id === undefined) continue
  const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'no' } }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n')
}
`

describe('without a gateway', () => {
  /** Process ids of the started gateways, in order. */
  function started(data: string): number[] {
    const log = existsSync(join(data, 'gateway.log')) ? readFileSync(join(data, 'gateway.log'), 'utf8') : ''
    return [...log.matchAll(/listening on \S+, process (\d+)$/gm)].map(([, pid]) => Number(pid))
  }

  function isAlive(pid: number): boolean {
    try {
      process.kill(pid, 0)
      return true
    } catch {
      return false
    }
  }

  async function endAll(data: string): Promise<void> {
    for (const pid of started(data)) {
      if (isAlive(pid)) process.kill(pid, 'SIGTERM')
      while (isAlive(pid)) await sleep(20)
    }
  }

  function prepare(): { data: string; server: string } {
    const folder = newFolder()
    const server = join(folder, 'server.mjs')
    writeFileSync(server, SERVER)
    const data = join(folder, 'data')
    ends.push(() => endAll(data))
    return { data, server }
  }

  it('starts one gateway on any port, even for two clients at once, and again after it was killed', async () => {
    const { data, server } = prepare()
    const blocker = createServer()
    await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve))
    ends.push(() => new Promise((resolve) => blocker.close(resolve)))
    // Sound: it listens on a port.
    const { port } = blocker.address() as AddressInfo
    const init = run(['init', '--data', data, '--port', String(port)])
    expect(await init.exit).toBe(0)

    const both = [wrap(data, ['node', server]), wrap(data, ['node', server])] as const
    for (const each of both) each.send(request(0, 'initialize', INITIALIZE))
    for (const each of both)
      expect(await each.next()).toMatchObject({ id: 0, result: { serverInfo: { name: 'server' } } })
    const [pid = 0, ...others] = started(data)
    expect(others).toEqual([])
    expect(readFileSync(join(data, 'gateway.log'), 'utf8')).not.toMatch(/tg_[a-z]+_/)
    await both[0].says(/the server is up/)

    const [one, two] = both
    two.end()
    expect(await two.exit).toBe(0)
    expect(isAlive(pid)).toBe(true)

    process.kill(pid, 'SIGKILL')
    await one.says(/connected to the gateway again/)
    one.send(request(1, 'tools/list'))
    let answer = await one.next()
    while (answer.id !== 1) answer = await one.next()
    expect(JSON.stringify(answer)).toContain('look')
    expect(started(data)).toHaveLength(2)
    one.end()
    expect(await one.exit).toBe(0)
  })

  it('creates missing files, even for two clients at once', async () => {
    const { data, server } = prepare()
    const both = [wrap(data, ['node', server]), wrap(data, ['node', server])]
    for (const each of both) each.send(request(0, 'initialize', INITIALIZE))
    for (const each of both) expect(await each.next()).toMatchObject({ id: 0, result: {} })
    expect(started(data)).toHaveLength(1)
    for (const each of both) each.end()
    expect(await Promise.all(both.map(({ exit }) => exit))).toEqual([0, 0])
  })

  it('answers every request if none can be started, with the reason', async () => {
    const { data } = prepare()
    mkdirSync(data, { mode: 0o700 })
    writeFileSync(join(data, 'tollgate.yaml'), 'tollgate: 7\n')
    const wrapped = wrap(data, ['prog'])
    wrapped.send('garbage')
    expect(await wrapped.next()).toMatchObject({ id: null, error: { code: -32700 } })
    wrapped.send(request(0, 'initialize', INITIALIZE))
    wrapped.send(request(1, 'tools/call', { name: 'x' }))
    const answers = [await wrapped.next(), await wrapped.next()]
    expect(answers).toMatchObject([
      { id: 0, error: {} },
      { id: 1, result: { isError: true } },
    ])
    for (const answer of answers) expect(JSON.stringify(answer)).toMatch(/has 2 mistakes/)
    wrapped.end()
    expect(await wrapped.exit).toBe(0)
  })
})
