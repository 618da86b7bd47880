import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serverAddresses } from '../../src/cli/mcp/server-addresses.ts'
import { addressFor } from '../../src/mcp/server/upstream.ts'
import { defaultConfigText, readConfig, type Config } from '../../src/config/config.ts'
import { GatewayError } from '../../src/error.ts'

let data: string

beforeAll(() => {
  data = mkdtempSync(join(tmpdir(), 'tollgate-config-'))
})
afterAll(() => rmSync(data, { recursive: true }))

const HEAD = 'tollgate: 1\nledger: tollgate.local/test\n'

function readMcp(mcp: string): Config {
  writeFileSync(join(data, 'tollgate.yaml'), `${HEAD}mcp:\n  ${mcp}\n`)
  return readConfig(data)
}

function read(servers: string): Config {
  return readMcp(`servers:\n${servers.replaceAll(/^/gm, '    ')}`)
}

function fault(run: () => unknown): GatewayError {
  try {
    run()
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
  throw new Error('it was accepted')
}

describe('a browser server in tollgate.yaml', () => {
  it('names the published server that it is', () => {
    const { mcp } = read('web: { command: [npx, "@playwright/mcp"], browser: playwright }')
    expect(mcp.servers.get('web')).toMatchObject({ command: 'npx', browser: 'playwright' })
  })

  it.each([
    ['web: { command: [npx, "@playwright/mcp"], browser: firefox }', 'playwright'],
    ['web: { url: "https://mcp.example.com/mcp", browser: playwright }', '`browser` is not allowed'],
    [
      'web: { command: [npx, "@playwright/mcp", --cdp-endpoint=ws://x], browser: playwright }',
      'remove `--cdp-endpoint`',
    ],
    ['web: { command: [npx, chrome-devtools-mcp], args: [-u, x], browser: devtools }', 'remove `-u`'],
  ])('is refused if it cannot be guarded: %s', (text, hint) => {
    expect(fault(() => read(text)).hints.join('\n')).toContain(hint)
  })
})

describe('mcp in tollgate.yaml', () => {
  it('names tools on the merged endpoint as written, and plainly by default', () => {
    expect(readMcp('names: slash').mcp).toEqual({ servers: new Map(), names: 'slash', wait: 0 })
    expect(readMcp('servers: {}').mcp.names).toBe('plain')
    expect(readMcp('wait: 5m').mcp.wait).toBe(300_000)
    expect(() => readMcp('wait: soon')).toThrow(/tollgate.yaml/)
    expect(fault(() => readMcp('names: dots')).hints).toEqual([expect.stringContaining('`names` must be')])
  })

  it('reads servers with a program or a URL', () => {
    const { mcp } = read(
      [
        'files:',
        '  command: [npx, -y, server]',
        '  args: ["/srv", 8080, ""]',
        '  env: { MODE: "1", EMPTY: "" }',
        '  pass-env: [API_KEY]',
        '  cwd: work',
        'plain: { command: /bin/server }',
        'far: { url: "https://mcp.example.com/mcp", headers-env: { Authorization: FAR_AUTH } }',
        'near: { url: "http://127.0.0.1:9000/mcp" }',
      ].join('\n'),
    )
    expect([...mcp.servers]).toEqual([
      [
        'files',
        {
          transport: 'stdio',
          command: 'npx',
          args: ['-y', 'server', '/srv', '8080', ''],
          env: { MODE: '1', EMPTY: '' },
          passEnv: ['API_KEY'],
          cwd: join(data, 'work'),
        },
      ],
      ['plain', { transport: 'stdio', command: '/bin/server', args: [], env: {}, passEnv: [] }],
      [
        'far',
        { transport: 'http', url: 'https://mcp.example.com/mcp', headersEnv: { authorization: 'FAR_AUTH' } },
      ],
      ['near', { transport: 'http', url: 'http://127.0.0.1:9000/mcp', headersEnv: {} }],
    ])
  })

  it('reads the example that init writes as a comment', () => {
    const text = defaultConfigText({ ledger: 'tollgate.local/x', port: 1 })
    const open = text.replace(/^# (mcp:|  servers:|    files:.*|    issues:.*)$/gm, (_, rest: string) => rest)
    writeFileSync(join(data, 'tollgate.yaml'), open)
    expect([...readConfig(data).mcp.servers.keys()]).toEqual(['files', 'issues'])
  })

  it.each<[string, string, RegExp]>([
    ['neither', 'a: {}', /either `command` \(a program to run\) or `url`/],
    ['both', 'a: { command: [x], url: "https://x.example" }', /either `command`/],
    ['a name in capitals', 'Files: { command: [x] }', /lower-case letters, digits/],
    ['a name that is too long', `${'a'.repeat(33)}: { command: [x] }`, /at most 32/],
    ['an unknown key', 'a: { comand: [x] }', /`comand` is not known here; did you mean `command`\?/],
    ['an empty command', 'a: { command: [] }', /add a program and its arguments/],
    ['a command that is a mapping', 'a: { command: { x: y } }', /`command` must be a list/],
    ['a word that is a list', 'a: { command: [x, [y]] }', /a word of `command` must be text/],
    [
      'a variable with a bad name',
      'a: { command: [x], env: { "A-B": c } }',
      /the name of an environment variable/,
    ],
    ['a variable that is not text', 'a: { command: [x], env: { A: [1] } }', /the value of `A` must be text/],
    ['a value instead of a name', 'a: { command: [x], pass-env: [A=b] }', /names of environment variables/],
    ['a list of variables', 'a: { command: [x], env: [A] }', /`env` must be a mapping/],
    [
      'headers for a program',
      'a: { command: [x], headers-env: { b: C } }',
      /not allowed for a server with `command`/,
    ],
    [
      'arguments for an address',
      'a: { url: "https://x.example", args: [b] }',
      /not allowed for a server with `url`/,
    ],
    ['an unencrypted URL', 'a: { url: "http://x.example/mcp" }', /must be an `https:\/\/` URL/],
    [
      'a password in an address',
      'a: { url: "https://u:p@x.example" }',
      /must not contain a user name or password/,
    ],
    [
      'a secret in a header',
      'a: { url: "https://x.example", headers-env: { authorization: "Bearer x" } }',
      /names of environment variables, not their values/,
    ],
    [
      'a header that the gateway sets',
      'a: { url: "https://x.example", headers-env: { Mcp-Session-Id: X } }',
      /`Mcp-Session-Id` is set by the gateway/,
    ],
    [
      'an invalid header name',
      'a: { url: "https://x.example", headers-env: { "a b": X } }',
      /must be the name of a header/,
    ],
    ['a list', '- a', /`servers` must be a mapping/],
    [
      'a pattern of principals',
      'a: { command: [x], principals: { "agent:*": { KEY: X } } }',
      /whole name of one principal/,
    ],
    [
      'a value in place of its variable',
      'a: { url: "https://x.example", principals: { "agent:a": { authorization: "Bearer x" } } }',
      /must list names of environment variables/,
    ],
    [
      'a header of the gateway for a principal',
      'a: { url: "https://x.example", principals: { "agent:a": { host: X } } }',
      /`host` is set by the gateway/,
    ],
  ])('is refused with %s', (_, text, message) => {
    const { code, hints } = fault(() => read(text))
    expect(code).toBe('CONFIG_INVALID')
    expect(hints.join('\n')).toMatch(message)
    expect(hints.join('\n')).not.toContain('Bearer x')
  })
})

describe('serverAddresses', () => {
  const ENV = { PATH: '/bin', HOME: '/h', LC_ALL: 'C', SECRET: 's', API_KEY: 'k', FAR_AUTH: 'Bearer t' }

  it('gives a program a small environment and the named variables', () => {
    const config = read('a: { command: [x], env: { MODE: "1", HOME: /other }, pass-env: [API_KEY] }')
    expect(serverAddresses(config, ENV).get('a')).toEqual({
      transport: 'stdio',
      command: 'x',
      args: [],
      env: { PATH: '/bin', HOME: '/other', LC_ALL: 'C', API_KEY: 'k', MODE: '1' },
    })
  })

  it('puts the value of a variable into a header', () => {
    const config = read('a: { url: "https://x.example/mcp", headers-env: { authorization: FAR_AUTH } }')
    expect(serverAddresses(config, ENV).get('a')).toEqual({
      transport: 'http',
      url: 'https://x.example/mcp',
      headers: { authorization: 'Bearer t' },
    })
  })

  it('gives single principals the values of their own variables, in place of the shared ones', () => {
    const config = read(
      'a: { command: [x], pass-env: [API_KEY], principals: { "agent:ci": { API_KEY: SECRET } } }\n' +
        'b: { url: "https://x.example/mcp", headers-env: { authorization: API_KEY }, principals: { "oidc:claude/olga": { Authorization: FAR_AUTH } } }',
    )
    const addresses = serverAddresses(config, ENV)
    const seen = (server: string, principal: string): unknown => {
      const address = addresses.get(server)
      if (!address) throw new Error('no such server')
      const own = addressFor(address, principal)
      return own.transport === 'http' ? own.headers : own.env.API_KEY
    }
    expect([seen('a', 'agent:ci'), seen('a', 'agent:other')]).toEqual(['s', 'k'])
    expect(seen('b', 'oidc:claude/olga')).toEqual({ authorization: 'Bearer t' })
    expect(seen('b', 'oidc:claude/max')).toEqual({ authorization: 'k' })
    const { message } = fault(() => serverAddresses(config, { ...ENV, FAR_AUTH: '' }))
    expect(message).toBe('environment: `FAR_AUTH` of the server `b` is missing')
  })

  it('names every missing or unusable variable, but no value', () => {
    const config = read(
      'a: { command: [x], pass-env: [NONE, EMPTY] }\nb: { url: "https://x.example", headers-env: { x: TWO_LINES } }',
    )
    const { code, message } = fault(() =>
      serverAddresses(config, { ...ENV, EMPTY: '', TWO_LINES: 'secret\nx' }),
    )
    expect(code).toBe('CONFIG_INVALID')
    expect(message).toBe(
      'environment: `NONE` of the server `a` is missing, and `EMPTY` of the server `a` is missing, and `TWO_LINES` of the server `b` is not a valid header value',
    )
  })
})
