// The configuration files of real clients: which servers are found, and which bytes an edit changes.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { clientFiles, type Surroundings } from '../../../src/cli/setup/clients/clients.ts'
import { unwrapped } from '../../../src/cli/setup/clients/edits.ts'
import { makePlan, type Plan } from '../../../src/cli/setup/clients/plan.ts'
import { unifiedDiff } from '../../../src/cli/program/unified-diff.ts'
import { openTerminal } from '../../../src/cli/program/terminal.ts'

const WRAPPER = ['/bin/tollgate', 'mcp', '--name']

let root: string
let at: Surroundings
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tollgate-clients-'))
  at = { platform: 'linux', env: {}, home: join(root, 'home'), project: join(root, 'project') }
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function put(file: string, text: string): string {
  const path = join(root, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

function plan(...servers: readonly string[]): Plan {
  const wrapper = (name: string): readonly string[] => [...WRAPPER, name, '--']
  return makePlan(clientFiles(at), { servers, isBrowser: false, wrapper }, at)
}

function after(file: string, text: string): string {
  put(file, text)
  const [only, ...more] = plan().files
  expect(more).toEqual([])
  return Buffer.from(only?.change.after ?? []).toString('utf8')
}

const SECTION = '"mcpServers":{"files":{"command":"npx","args":["-y","server-files"]}}'
const WRAPPED =
  '"command":"/bin/tollgate","args":["mcp", "--name", "files", "--", "npx", "-y","server-files"]'

describe('each client', () => {
  test.each([
    ['Claude Desktop', 'home/.config/Claude/claude_desktop_config.json', `{${SECTION}}`],
    ['Claude Code', 'home/.claude.json', `{"numStartups":3,${SECTION}}`],
    ['Claude Code', 'home/.claude.json', `{"projects":{"/work/x":{${SECTION}}}}`],
    ['Claude Code', 'project/.mcp.json', `{${SECTION}}`],
    ['Cursor', 'home/.cursor/mcp.json', `{${SECTION}}`],
    ['Cursor', 'project/.cursor/mcp.json', `{${SECTION}}`],
    ['VS Code', 'project/.vscode/mcp.json', `{${SECTION.replace('mcpServers', 'servers')}}`],
    [
      'VS Code',
      'home/.config/Code/User/settings.json',
      `{"mcp":{${SECTION.replace('mcpServers', 'servers')}}}`,
    ],
    ['Devin (Windsurf)', 'home/.codeium/windsurf/mcp_config.json', `{${SECTION}}`],
    ['Zed', 'home/.config/zed/settings.json', `{${SECTION.replace('mcpServers', 'context_servers')}}`],
  ])('%s: a server in %s is wrapped, and nothing else changes', (name, file, text) => {
    const edited = after(file, text)
    expect(plan().servers).toMatchObject([{ from: { name }, label: 'files', name: 'files', is: 'program' }])
    expect(edited).toBe(text.replace('"command":"npx","args":["-y","server-files"]', WRAPPED))
  })

  test('Zed: a command with a path inside is wrapped', () => {
    const text = '{"context_servers":{"files":{"command":{"path":"npx","args":["x"],"env":null}}}}'
    expect(after('home/.config/zed/settings.json', text)).toContain(
      '{"path":"/bin/tollgate","args":["mcp", "--name", "files", "--", "npx", "x"],"env":null}',
    )
  })

  test('Codex: only the command and the arguments of a table change', () => {
    const text = [
      'notes = """\n[mcp_servers.fake]\ncommand = "no"\n"""',
      '[mcp_servers."my files"] # mine',
      "command = 'npx' # the runner",
      'args = [\n  "-y", # yes\n  "server-files",\n]',
      'startup_timeout_sec = 20',
      '[mcp_servers."my files".env]\nTOKEN = "x"\n',
    ].join('\n')
    expect(after('home/.codex/config.toml', text)).toBe(
      text
        .replace("'npx'", '"/bin/tollgate"')
        .replace('"-y"', '"mcp",\n  "--name",\n  "my-files",\n  "--",\n  "npx",\n  "-y"'),
    )
  })

  test.each([
    [
      '[mcp_servers.a]\r\ncommand = "x" # y\r\n',
      '[mcp_servers.a]\r\ncommand = "/bin/tollgate"\r\nargs = [A] # y\r\n',
    ],
    ['mcp_servers.a.command = "x"\n', 'mcp_servers.a.command = "/bin/tollgate"\nmcp_servers.a.args = [A]\n'],
    [
      'mcp_servers = { a = { command = "x" } }',
      'mcp_servers = { a = { command = "/bin/tollgate", args = [A] } }',
    ],
  ])('Codex: missing arguments are added to %j', (text, expected) => {
    const args = '"mcp", "--name", "a", "--", "x"'
    expect(after('home/.codex/config.toml', text)).toBe(expected.replace('A', args))
  })
})

describe('the form of a file', () => {
  test('comments, tabs, trailing commas, CRLF and a byte order mark stay', () => {
    const text =
      '\uFEFF{\r\n\t// my servers, "command": "no"\r\n\t"mcpServers": {\r\n\t\t"files": {\r\n\t\t\t"args": [\r\n\t\t\t\t"a", /* one */\r\n\t\t\t],\r\n\t\t\t"command": "npx", // run\r\n\t\t},\r\n\t},\r\n}\r\n'
    const gap = ',\r\n\t\t\t\t'
    expect(after('home/.cursor/mcp.json', text)).toBe(
      text
        .replace('"npx"', '"/bin/tollgate"')
        .replace('"a"', ['"mcp"', '"--name"', '"files"', '"--"', '"npx"', '"a"'].join(gap)),
    )
  })

  test('arguments that are missing or empty are added', () => {
    const args = '["mcp", "--name", "files", "--", "npx"]'
    expect(after('project/.mcp.json', '{"mcpServers":{"files":{\n  "command": "npx"\n}}}')).toBe(
      `{"mcpServers":{"files":{\n  "command": "/bin/tollgate",\n  "args": ${args}\n}}}`,
    )
    expect(after('project/.mcp.json', '{"mcpServers":{"files":{"command":"npx","args":[ ]}}}')).toBe(
      `{"mcpServers":{"files":{"command":"/bin/tollgate","args":${args.slice(0, -1)} ]}}}`,
    )
  })

  test.each([
    ['half a file', '{"mcpServers":{"files":{"command":"npx'],
    ['two values', '{"mcpServers":{}} {}'],
    ['a comment that does not end', '{} /*'],
  ])('%s is reported without its contents, and stays as it is', (_, text) => {
    put('project/.mcp.json', text)
    const { files, unusable } = plan()
    expect(files).toEqual([])
    expect(unusable).toMatchObject([{ why: expect.stringMatching(/^line 1: /) as string }])
    expect(JSON.stringify(unusable)).not.toContain('npx')
  })

  test.each(['x = ', '[a', 'x = 1 2', 'x = "a', 'x = 1\nx = 2', 'x = """a'])(
    'TOML that is wrong is refused: %j',
    (text) => {
      put('home/.codex/config.toml', text)
      expect(plan().unusable).toHaveLength(1)
    },
  )

  test('bytes that are not UTF-8, and a directory, are refused', () => {
    writeFileSync(put('project/.mcp.json', ''), Buffer.from([0x7b, 0xff, 0x7d]))
    mkdirSync(join(root, 'home/.cursor/mcp.json'), { recursive: true })
    expect(plan().unusable.map(({ why }) => why)).toEqual(['it is not UTF-8 text', 'it is a directory'])
  })

  test.skipIf(process.getuid?.() === 0)('a file that the user may not read is reported', () => {
    chmodSync(put('project/.mcp.json', '{}'), 0)
    expect(plan().unusable).toMatchObject([{ why: 'you may not read it' }])
  })
})

describe('servers that are not wrapped', () => {
  test('remote, switched off, unclear and wrapped ones are left alone', () => {
    put(
      'project/.mcp.json',
      JSON.stringify({
        mcpServers: {
          far: { url: 'https://x.example/mcp' },
          off: { command: 'x', disabled: true },
          odd: { command: 'x', args: [1] },
          ours: { command: 'npx', args: ['tollgate', 'mcp', '--name', 'o', '--', 'x'] },
        },
      }),
    )
    const { servers, files } = plan()
    expect(files).toEqual([])
    expect(servers.map(({ is, name }) => [is, name])).toEqual([
      ['remote', undefined],
      ['off', undefined],
      ['unclear', undefined],
      ['wrapped', 'o'],
    ])
  })

  test('an entry with the same key twice is unclear, because programs read it differently', () => {
    put('project/.mcp.json', '{"mcpServers":{"a":{"command":"x","command":"y"}}}')
    expect(plan().servers).toMatchObject([{ is: 'unclear' }])
  })

  test('only the chosen servers are wrapped', () => {
    put('project/.mcp.json', '{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"}}}')
    expect(plan('b').files[0]?.change.places).toEqual([['mcpServers', 'b']])
  })
})

test('the same program has one name in all clients, and another program under its label has another name', () => {
  put('project/.mcp.json', '{"mcpServers":{"a":{"command":"x"}}}')
  put('home/.cursor/mcp.json', '{"mcpServers":{"a":{"command":"x"}}}')
  put('home/.codex/config.toml', 'mcp_servers.a.command = "y"')
  expect(plan().servers.map(({ name }) => name)).toEqual(['a', 'a', 'a-2'])
})

test('unwrapping keeps later changes of the user', () => {
  const edited = after(
    'project/.mcp.json',
    '{"mcpServers":{"a":{"command":"x","args":["1"]},"b":{"command":"y"}}}',
  )
  const changed = edited.replace('{"mcpServers"', '{"mine": true, "mcpServers"')
  const places = [
    ['mcpServers', 'a'],
    ['mcpServers', 'b'],
    ['mcpServers', 'gone'],
  ]
  expect(unwrapped(changed, 'json', places)).toBe(
    '{"mine": true, "mcpServers":{"a":{"command":"x","args":["1"]},"b":{"command":"y", "args": []}}}',
  )
  expect(unwrapped(changed.slice(5), 'json', places)).toBeUndefined()
})

test('the diff shows the change, and no value that may be a secret', () => {
  const text =
    '{\n  "token": "abcdefgh12345678",\n  "mcpServers": {\n    "a": {\n      "command": "x",\n      "env": { "API_KEY": "hunter2hunter2" }\n    }\n  }\n}\n'
  put('project/.mcp.json', text)
  const [file] = plan().files
  if (!file) throw new Error('no file is planned')
  const diff = unifiedDiff('f', text, file.edits, file.masks, openTerminal(true).paint).split('\n')
  expect(diff).toEqual([
    '--- f',
    '+++ f',
    '@@ -3,5 +3,6 @@',
    '    "mcpServers": {',
    '      "a": {',
    '-       "command": "x",',
    '+       "command": "/bin/tollgate",',
    '+       "args": ["mcp", "--name", "a", "--", "x"],',
    '        "env": { "API_KEY": "…" }',
    '      }',
  ])
})
