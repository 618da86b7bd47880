// Scanning a client's configuration: reading it, asking the servers, and the report. Servers are stand-ins.

import type { JsonObject } from '@tollgate/evidence'
import { describe, expect, test } from 'vitest'
import { readClientConfig } from '../../src/cli/mcp/config.ts'
import { plainJson } from '../../src/cli/mcp/jsonc.ts'
import { packageFindings } from '../../src/cli/mcp/packages.ts'
import { rosterOf } from '../../src/cli/mcp/roster.ts'
import { scan } from '../../src/cli/mcp/scan.ts'
import {
  UpstreamFault,
  type Connect,
  type Upstream,
  type UpstreamAnswer,
} from '../../src/mcp/server/upstream.ts'

const ENVIRONMENT = { PATH: '/bin', HOME: '/home/x', TOLLGATE_TOKEN: 'tg_secret', GIVEN: 'value' }

function read(entry: object): ReturnType<typeof readClientConfig>[number] {
  const [only] = readClientConfig(JSON.stringify({ mcpServers: { it: entry } }), ENVIRONMENT)
  if (!only) throw new Error('nothing was read')
  return only
}

function codes(entry: object): readonly string[] {
  return read(entry).findings.map(({ severity, code }) => `${severity} ${code}`)
}

describe('a configuration', () => {
  test.each(['mcpServers', 'servers'])('is read by `%s`', (member) => {
    const text = JSON.stringify({ [member]: { 'My Server': { command: 'x', args: ['a', 7] } } })
    expect(readClientConfig(text, ENVIRONMENT)).toMatchObject([
      { name: 'my-server', label: 'My Server', address: { transport: 'stdio', command: 'x', args: ['a'] } },
    ])
  })

  test('may have comments and trailing commas, but not in strings', () => {
    const text = '{ // a\n "a": "//, ]", /* b */ "b": [1, 2, /* , */ ], "c": "\\",}", }'
    expect(JSON.parse(plainJson(text))).toEqual({ a: '//, ]', b: [1, 2], c: '",}' })
  })

  test.each(['', '{', '[]', '7', '{"mcpServers":7}', '{"mcpServers":{"a":{"env":{"K":"hunter2'])(
    '%j is refused without being repeated',
    (text) => {
      const told = ((): string => {
        try {
          readClientConfig(text, {})
          return 'nothing'
        } catch (fault) {
          return String(fault)
        }
      })()
      expect(told).toMatch(/is not JSON|lists no servers/)
      expect(told).not.toContain('hunter2')
    },
  )

  test('gives every server a unique name', () => {
    const text = JSON.stringify({
      servers: { 'a b': {}, 'A B': {}, 日本: {}, '---': {}, ['x'.repeat(60)]: {} },
    })
    const names = readClientConfig(text, {}).map(({ name }) => name)
    expect(new Set(names).size).toBe(5)
    for (const name of names) expect(name).toMatch(/^[a-z0-9][a-z0-9_-]{0,31}$/)
  })

  test('forwards needed and configured variables, and none of the gateway', () => {
    const { address } = read({ command: 'x', env: { A: '${GIVEN}', B: '${env:GIVEN}', C: '${NO:-else}' } })
    expect(address).toMatchObject({
      env: { PATH: '/bin', HOME: '/home/x', A: 'value', B: 'value', C: 'else' },
    })
    expect(JSON.stringify(address)).not.toContain('tg_secret')
  })

  test.each([
    ['tollgate', ['mcp', '--name', 'files', '--', 'npx', '-y', 'notes-server'], 'files'],
    ['/home/me/.local/bin/tollgate', ['mcp', '--data', '/d', '--', 'npx', '-y', 'notes-server'], 'it'],
    ['npx', ['tollgate', 'mcp', '--', 'npx', '-y', 'notes-server'], 'it'],
    ['node', ['/x/tollgate.mjs', 'mcp', '--name', 'files', '--', 'npx', '-y', 'notes-server'], 'files'],
    ['env', ['TOLLGATE_DATA=/d', 'tollgate', 'mcp', '--', 'npx', '-y', 'notes-server'], 'it'],
  ])('with a wrapped server is read as the server itself: %s %j', (command, args, name) => {
    const wrapped = read({ command, args, env: { KEY: '${GIVEN}' } })
    const address = { transport: 'stdio', command: 'npx', args: ['-y', 'notes-server'] }
    expect(wrapped).toMatchObject({ name, label: 'it', address: { ...address, env: { KEY: 'value' } } })
    expect(wrapped.findings.map(({ code }) => code)).toEqual(['PACKAGE_UNPINNED'])
  })

  test('with an open placeholder names it', () => {
    const { findings } = read({ command: 'x', args: ['${input:key}'] })
    expect(findings).toMatchObject([
      { code: 'VALUE_MISSING', severity: 'low', message: '`${input:key}` is not set' },
    ])
  })

  test('skips disabled servers', () => {
    expect(read({ command: 'x', disabled: true })).toMatchObject({ address: undefined, isOff: true })
  })

  test.each([7, {}, { command: '' }, { url: 'no url' }, { url: 7 }])('%j is unreadable', (entry) => {
    expect(codes(entry as object)).toEqual(['medium ENTRY_UNREADABLE'])
  })

  test.each(['http://far.example/mcp', 'http://127.0.0.1.evil.test/', 'ws://far.example'])(
    '%s is in the clear',
    (url) => {
      expect(codes({ url })).toEqual(['high URL_IN_THE_CLEAR'])
      expect(read({ url }).address).toBeUndefined()
    },
  )

  test.each(['https://far.example/mcp', 'http://localhost:1/', 'http://127.0.0.1:1/', 'http://[::1]/'])(
    '%s is fine',
    (url) => {
      expect(codes({ url })).toEqual([])
      expect(read({ url }).address).toMatchObject({ transport: 'http' })
    },
  )

  const secrets: readonly object[] = [
    { command: 'x', env: { API_KEY: 'hunter2hunter2' } },
    { command: 'x', env: { PLAIN: 'ghp_hunter2hunter2hunter2' } },
    { command: 'x', args: ['--token=sk-hunter2hunter2hunter2'] },
    { url: 'https://x.example', headers: { Authorization: 'Bearer hunter2hunter2' } },
    { url: 'https://x:hunter2hunter2@x.example' },
  ]
  test.each(secrets)('%j holds a secret, which is not quoted', (entry) => {
    const { findings } = read(entry)
    expect(findings).toMatchObject([{ code: 'SECRET_IN_FILE', severity: 'medium' }])
    expect(JSON.stringify(findings)).not.toContain('hunter2')
  })

  test('with secrets from the environment is fine', () => {
    expect(codes({ command: 'x', env: { API_KEY: '${GIVEN}', KEYBOARD: 'qwerty' } })).toEqual([])
  })
})

describe('a package', () => {
  const open = [
    'npx -y @scope/server',
    'npx server@latest',
    'npx server@^1.2.3',
    '/usr/bin/npx --yes server',
    'npx -p server bin',
    'npx --package=server bin',
    'cmd /c npx -y server',
    'npx.cmd server',
    'uvx mcp-server',
    'uvx mcp-server>=1.0',
    'uvx --from mcp-server bin',
    'uvx --from git+https://x.example/y bin',
    'uv tool run mcp-server',
    'pipx run mcp-server',
    'pnpm dlx server',
    'bunx server',
    'npm exec server',
  ]
  test.each(open)('is not pinned by `%s`', (line) => {
    const [command = '', ...args] = line.split(' ')
    expect(packageFindings([command], args)).toHaveLength(1)
  })

  const exact = [
    'npx -y @scope/server@1.2.3',
    'npx server@1.2.3-beta.1',
    'npx ./server',
    'npx -p server@1.2.3 bin',
    'uvx mcp-server==1.2',
    'uvx mcp-server@1.2.3',
    `uvx --from git+https://x.example/y@${'a'.repeat(40)} bin`,
    'node server.js',
    'docker run server',
    'npx',
    '',
  ]
  test.each(exact)('is pinned, or absent, in `%s`', (line) => {
    const [command = '', ...args] = line.split(' ')
    expect(packageFindings([command], args)).toEqual([])
  })
})

type Answer = (method: string, params: JsonObject) => UpstreamAnswer | Promise<UpstreamAnswer>

interface StandIn {
  readonly connect: Connect
  readonly asked: string[]
  closed: number
}

/** A scripted server. */
function standIn(answer: Answer, hello: Partial<Upstream> = {}): StandIn {
  const self: StandIn = {
    asked: [],
    closed: 0,
    connect: () => ({
      incarnation: 1,
      hello: () =>
        Promise.resolve({
          protocol: 'legacy',
          version: '2025-06-18',
          capabilities: { tools: {}, prompts: {} },
          info: { name: 'x' },
          instructions: undefined,
        }),
      request(method, params) {
        self.asked.push(method)
        return Promise.resolve(answer(method, params))
      },
      notify: () => undefined,
      listen: () => undefined,
      close() {
        self.closed++
        return Promise.resolve()
      },
      ...hello,
    }),
  }
  return self
}

const ADDRESS = { transport: 'stdio', command: 'x', args: [], env: {} } as const
const SERVER = { name: 'it', address: ADDRESS }
const result = (value: JsonObject): UpstreamAnswer => ({ ok: true, result: value })
const refusal: UpstreamAnswer = { ok: false, error: { code: -32601, message: 'SECRET WORDS' } }

describe('a server', () => {
  test('is asked for complete lists and nothing else, and then ended', async () => {
    const server = standIn((method, { cursor }) => {
      if (method !== 'tools/list') return result({ prompts: [{ name: 'p' }] })
      return result(
        cursor === undefined ? { tools: [{ name: 'a' }], nextCursor: '1' } : { tools: [{ name: 'b' }, 7] },
      )
    })
    const roster = await rosterOf(server.connect, SERVER)
    expect(roster.ok && roster.offers.map(({ name }) => name)).toEqual([
      'it/a',
      'it/b',
      'it:initialize',
      'it:prompts/list',
    ])
    expect(server.asked).toEqual(['tools/list', 'tools/list', 'prompts/list'])
    expect(server.closed).toBe(1)
  })

  test('with an endless list is reported', async () => {
    let page = 0
    const server = standIn(() => result({ tools: [], nextCursor: String(page++) }))
    expect(await rosterOf(server.connect, SERVER)).toEqual({
      ok: false,
      why: 'its list of tools does not end',
    })
    expect(server.closed).toBe(1)
  })

  test('with a cyclic list is read once', async () => {
    const server = standIn((method) =>
      method === 'tools/list' ? result({ tools: [{ name: 'a' }], nextCursor: '1' }) : refusal,
    )
    expect(await rosterOf(server.connect, SERVER)).toMatchObject({ ok: true, tools: 2 })
  })

  test('that refuses, fails or is silent is reported with a fixed text', async () => {
    const refusing = standIn(() => refusal)
    expect(await rosterOf(refusing.connect, SERVER)).toEqual({ ok: false, why: 'it does not list its tools' })
    const failing = standIn(() => Promise.reject(new Error('SECRET WORDS')))
    expect(await rosterOf(failing.connect, SERVER)).toEqual({
      ok: false,
      why: 'its lists cannot be read',
    })
    const gone = standIn(() => refusal, {
      hello: () => Promise.reject(new UpstreamFault('UNREACHABLE', '`it` cannot be reached')),
    })
    expect(await rosterOf(gone.connect, SERVER)).toEqual({ ok: false, why: '`it` cannot be reached' })
    const silent = standIn(() => refusal, { hello: () => new Promise(() => undefined) })
    expect(await rosterOf(silent.connect, SERVER, 5)).toMatchObject({ ok: false })
    expect([refusing, failing, gone, silent].map(({ closed }) => closed)).toEqual([1, 1, 1, 1])
  })
})

test('servers are asked concurrently, and failures are reported', async () => {
  const tools: Readonly<Record<string, JsonObject>> = {
    a: { name: 'send_mail', inputSchema: { type: 'object' } },
    b: { name: 'note', description: 'first send_mail', inputSchema: { type: 'object' } },
  }
  const connect: Connect = (server, ...rest) => {
    const tool = tools[server.name]
    const answers = standIn((method) =>
      tool && method === 'tools/list' ? result({ tools: [tool] }) : refusal,
    )
    return answers.connect(server, ...rest)
  }
  const entry = { command: 'x' }
  const servers = readClientConfig(JSON.stringify({ servers: { a: entry, b: entry, c: entry } }), {})
  const { findings } = await scan(connect, servers)
  expect(findings.map(({ severity, code, tool }) => `${severity} ${code} ${tool}`)).toEqual([
    'medium SERVER_SILENT c',
    'high OTHER_TOOL_NAMED b/note',
  ])
})
