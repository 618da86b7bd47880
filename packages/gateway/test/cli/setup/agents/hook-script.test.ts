// The script of the hooks, as real processes: every failure ends in the form in which its client blocks the call.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { createServer as createSocketServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectionText, hookCommand, hookScript } from '../../../../src/cli/setup/agents/hook-script.ts'
import type { AgentId } from '../../../../src/cli/setup/agents/names.ts'
import { HOOK_CLIENTS } from '../../../../src/hooks/clients.ts'
import type { HookAnswer, HookEvent } from '../../../../src/hooks/event.ts'
import { newFolder } from '../../../gateway-rig.ts'

const TOKEN = `tg_agent_${'a'.repeat(43)}`
const CALL = { 'claude-code': 'PreToolUse', codex: 'PreToolUse', cursor: 'preToolUse', copilot: 'preToolUse' }
type ScriptAgent = keyof typeof CALL
// Sound: the keys of the table above.
const SCRIPT_AGENTS = Object.keys(CALL) as readonly ScriptAgent[]

const folder = newFolder()
const socket = join(folder, 'hooks.sock')
let answer: (response: ServerResponse) => void = (response) => response.end()
let seen: { url?: string; headers?: NodeJS.Dict<string | string[]>; body?: string } = {}
let server: Server

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      seen = { url: request.url ?? '', headers: request.headers, body }
      answer(response)
    })
  })
  server.listen(socket)
  await once(server, 'listening')
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

interface Setting {
  readonly to?: string
  readonly curl?: string
  readonly patience?: number
  readonly isMissing?: boolean
}

/** Writes the script and its connection, and returns its command line. */
function installed(
  agent: AgentId,
  { to = socket, curl = 'curl', patience = 20, isMissing = false }: Setting = {},
): string {
  const name = join(folder, `a 'quoted' place ${agent}`)
  const connection = `${name}.connection`
  writeFileSync(connection, connectionText({ socket: to, token: TOKEN, patience }), { mode: 0o600 })
  const script = `${name}.sh`
  rmSync(script, { force: true })
  if (!isMissing) writeFileSync(script, hookScript({ agent, curl, connection, url: 'http://localhost' }))
  return hookCommand(script, agent === 'opencode' ? '' : CALL[agent])
}

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

async function run(line: string, shell: readonly string[] = ['/bin/sh', '-c'], env = {}): Promise<Ran> {
  const [program = '', ...args] = shell
  const child = spawn(program, [...args, line], {
    env: { PATH: process.env.PATH, TMPDIR: '/nowhere', SHLVL: '1', ...env },
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  // A hook that refuses early does not read it.
  child.stdin.on('error', () => undefined).end('{"tool_name":"Bash"}')
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

/** What the client needs to block a call. */
function expectBlocked(agent: ScriptAgent, { code, stdout, stderr }: Ran, because: RegExp): void {
  expect(code).toBe(2)
  expect(stderr).toMatch(because)
  if (agent === 'cursor') expect(JSON.parse(stdout)).toMatchObject({ permission: 'deny', continue: false })
  else if (agent === 'copilot') expect(JSON.parse(stdout)).toMatchObject({ permissionDecision: 'deny' })
  else expect(stdout).toBe('')
}

function replying(body: string, status = 200, headers = {}): typeof answer {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}

/** Each bad answer of a gateway, and the reason that the script gives. */
const BAD: readonly (readonly [name: string, answer: typeof answer, because: RegExp])[] = [
  ['an error', replying('{"code":"x"}', 503), /answered with an error .503./],
  ['an unknown token', replying('{}', 401), /does not know the token/],
  ['a redirect', replying('{}', 302, { location: '/' }), /answered with an error .302./],
  ['no content', (response) => response.writeHead(204).end(), /answered with an error .204./],
  ['an empty body', replying(''), /no readable answer/],
  ['a text', replying('it is fine', 200, { 'content-type': 'text/plain' }), /answered with an error .200./],
  ['a text that claims to be JSON', replying('allow'), /no readable answer/],
  ['a list', replying('[]'), /no readable answer/],
  ['half of a JSON text', replying('{"hookSpecificOutput":{"hookEv'), /no readable answer/],
  ['JSON of another program', replying('{"ok":true}'), /no readable answer/],
  ['noise before an answer', replying('hello {}'), /no readable answer/],
  ['two answers', replying('{}{}'), /no readable answer/],
  [
    'a body that ends early',
    (response) => {
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
        .write('{}', () => response.destroy())
    },
    /could not be reached .curl 18./,
  ],
  ['a connection that ends', (response) => void response.destroy(), /could not be reached .curl 52./],
]

const ANSWERS = ['an error', 'half of a JSON text', 'JSON of another program', 'two answers']

describe.each(SCRIPT_AGENTS)('the hook of %s', (agent) => {
  // The scripts differ only after an answer with the status 200.
  const rows = agent === 'codex' ? BAD : BAD.filter(([name]) => ANSWERS.includes(name))
  test.each(rows)('blocks after %s', async (_, given, because) => {
    answer = given
    expectBlocked(agent, await run(installed(agent)), because)
  })

  test('blocks while nothing listens, and where no socket is', async () => {
    const stale = join(folder, `stale-${agent}`)
    // A server that was killed leaves its socket.
    spawnSync(process.execPath, [
      '-e',
      `require('net').createServer().listen(${JSON.stringify(stale)},()=>process.kill(process.pid,9))`,
    ])
    expect(existsSync(stale)).toBe(true)
    for (const to of [stale, join(folder, 'missing')]) {
      expectBlocked(agent, await run(installed(agent, { to })), /the gateway does not run/)
    }
  })

  test('blocks while the gateway accepts connections and is frozen', async () => {
    const frozen = createSocketServer().listen(join(folder, `frozen-${agent}`))
    await once(frozen, 'listening')
    const ran = await run(installed(agent, { to: join(folder, `frozen-${agent}`), patience: 1 }))
    frozen.close()
    expectBlocked(agent, ran, /did not answer in time/)
  })

  test('blocks without its parts', async () => {
    answer = replying('{}')
    expectBlocked(agent, await run(installed(agent, { curl: '/nowhere/curl' })), /found no curl/)
    const line = installed(agent)
    rmSync(join(folder, `a 'quoted' place ${agent}.connection`))
    expectBlocked(agent, await run(line), /could not read its connection file/)
    // Without the script, no dialect is left but the exit code.
    const { code, stderr } = await run(installed(agent, { isMissing: true }))
    expect(code).toBe(2)
    expect(stderr).not.toBe('')
  })
})

test('a hook that is stopped blocks', async () => {
  answer = (response) => {
    // The shell that runs the script gets the signal before its `curl` gets an answer.
    const [pid = ''] = spawnSync('pgrep', ['-f', `^/bin/sh ${folder}/a 'quoted' place codex.sh`], {
      encoding: 'utf8',
    }).stdout.split('\n')
    process.kill(Number(pid), 'SIGTERM')
    replying('{}')(response)
  }
  expectBlocked('codex', await run(installed('codex')), /its hook was stopped/)
})

test('it sends the token only in a header, and ignores the configuration and proxies of the user', async () => {
  answer = replying('{}')
  writeFileSync(join(folder, '.curlrc'), 'proxy = "http://127.0.0.1:1"\n')
  const env = {
    HOME: folder,
    http_proxy: 'http://127.0.0.1:1',
    ALL_PROXY: 'http://127.0.0.1:1',
    CLAUDE_CODE_ENTRYPOINT: 'cli',
  }
  expect(await run(installed('claude-code'), undefined, env)).toEqual({ code: 0, stdout: '{}\n', stderr: '' })
  expect(seen).toMatchObject({ url: '/v1/hooks/claude-code?event=PreToolUse', body: '{"tool_name":"Bash"}' })
  expect(seen.headers).toMatchObject({
    authorization: `Bearer ${TOKEN}`,
    'tollgate-entry': 'cli',
    'tollgate-wait': '50s',
  })
  expect(hookCommand('/x', 'PreToolUse')).not.toContain(TOKEN)
  const odd = { ...env, CLAUDE_CODE_ENTRYPOINT: 'cli\r\ntollgate-wait: 0' }
  await run(installed('claude-code'), undefined, odd)
  expect(seen.headers).toMatchObject({ 'tollgate-entry': 'unknown', 'tollgate-wait': '50s' })
})

const CONTEXT = { session: 's', isAttended: false }
const TOOL = { tool: 'builtin/shell', args: {} }
const TEXT = 'It must "not" be\nrun \\ here.'

/** Every answer that a door can give to an event. */
function answersTo(
  name: string,
): readonly (readonly [title: string, event: HookEvent, answer: HookAnswer])[] {
  const call: HookEvent = { kind: 'call', name, context: CONTEXT, call: TOOL }
  const result: HookEvent = { ...call, kind: 'result', failed: false, output: 'x' }
  const words: HookEvent = { kind: 'words', name, context: CONTEXT, text: 'x' }
  const pass: HookAnswer = { kind: 'pass' }
  const deny: HookAnswer = { kind: 'deny', text: TEXT }
  const allow: HookAnswer = { kind: 'allow' }
  const ask: HookAnswer = { kind: 'ask', text: TEXT }
  const replace: HookAnswer = { kind: 'replace', output: { text: TEXT }, text: TEXT }
  const pairs: readonly (readonly [HookEvent, readonly HookAnswer[]])[] = [
    [call, [pass, deny, allow, ask]],
    [result, [pass, replace]],
    [words, [pass, deny]],
  ]
  return pairs.flatMap(([event, answers]) =>
    answers.map((each) => [`${event.kind}: ${each.kind}`, event, each] as const),
  )
}

describe.each(HOOK_CLIENTS.filter(({ name }) => name in CALL))(
  'every answer of the door for $name',
  (client) => {
    // Sound: the filter above.
    const agent = client.name as ScriptAgent
    test.each(answersTo(CALL[agent]))('%s', async (_, event, given) => {
      const body = JSON.stringify(client.write(event, given))
      answer = replying(body)
      const ran = await run(installed(agent))
      if (agent === 'codex') {
        expect(ran).toMatchObject({ code: body === '{}' ? 0 : 2, stdout: '' })
        expect(ran.stderr).toContain(body === '{}' ? '' : 'It must')
      } else expect(ran).toEqual({ code: 0, stdout: `${body}\n`, stderr: '' })
    })
  },
)

const SHELLS = [['dash'], ['bash'], ['bash', '--posix'], ['busybox', 'sh'], ['zsh']]

test.each(SHELLS)('%s runs it', async (...shell) => {
  const [program = '', ...options] = shell
  // Not every machine has every shell. The default one of the system is used by all tests above.
  if (spawnSync(program, ['-c', ':']).error) return expect(program).not.toBe('')
  const line = installed('codex')
  const script = /^.*'(\/[^]*?)' PreToolUse$/.exec(line)?.[1]?.replaceAll(`'\\''`, "'") ?? ''
  const own = (extra: string): Promise<Ran> => run(extra, [program, ...options, script])
  answer = replying('{"decision":"block","reason":"no"}')
  expect(await own('PreToolUse')).toEqual({ code: 2, stdout: '', stderr: 'no\n' })
  answer = replying('{}')
  expect(await own('PreToolUse')).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(await own('Pre;Tool')).toMatchObject({ code: 2, stdout: '' })
  expect(await run(line, [program, ...options, '-c'])).toEqual({ code: 0, stdout: '', stderr: '' })
})
