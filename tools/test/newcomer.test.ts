// What a newcomer does, from the README alone: takes a copy of the project that has never been built, says `npm start`, pastes
// what it prints, and checks the evidence. Then, on a machine without the project: installs the packed tarballs, puts an MCP server
// behind the gateway, approves a call of an agent, and checks the evidence. Each command is taken from what the terminal printed.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  HAS_SCRIPT,
  startOnTerminal,
  type Answer,
  type OnTerminal,
} from '../../packages/gateway/test/cli/pseudo-terminal.ts'
import { ROOT, takeCopy } from './fresh-copy.ts'
import { installTarballs } from './install-tarballs.ts'
import { expectSample } from './sample.ts'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-newcomer-'))
const clone = join(folder, 'tollgate')
// A home of its own: nothing of whoever runs the tests is touched, and what npm has fetched before it may use again.
const env: NodeJS.ProcessEnv = { ...process.env, XDG_STATE_HOME: join(folder, 'state'), NO_COLOR: '1' }
let gateway: ChildProcess
let screen = ''

beforeAll(async () => {
  expect(takeCopy(clone)).toBeGreaterThan(100)
  gateway = spawn('npm', ['start', '--', '--port', '0'], {
    cwd: clone,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [gateway.stdout, gateway.stderr])
    stream?.on('data', (chunk: Buffer) => (screen += chunk.toString()))
  await until(() => screen.includes('press Ctrl-C to stop'))
}, 300_000)

afterAll(async () => {
  gateway.kill('SIGTERM')
  await until(() => gateway.exitCode !== null || gateway.signalCode !== null)
  rmSync(folder, { recursive: true, force: true })
})

async function until(holds: () => boolean): Promise<void> {
  while (!holds() && gateway.exitCode === null) {
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  expect(holds(), screen).toBe(true)
}

/** Everything on the screen that looks like a command, one to a line. */
function printed(begin: RegExp): string[] {
  return screen
    .replaceAll(/ \\\n */g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => begin.test(line))
}

/** Matches a printed command of ours: `tollgate` is not on the PATH, so it is absolute. */
function own(command: string): RegExp {
  return new RegExp(`^/\\S+ /\\S+/tollgate\\.mjs ${command} `)
}

/** Sends what a printed `curl` would send: curl is not everywhere where Node is. */
async function paste(curl: string): Promise<Record<string, unknown>> {
  const [, url = ''] = /(http:\S+)/.exec(curl) ?? []
  const headers = [...curl.matchAll(/-H '([^:]+): ([^']+)'/g)].map(
    ([, name = '', value = '']): [string, string] => [name, value],
  )
  const [, body = ''] = /-d '([^']+)'/.exec(curl) ?? []
  const answer = await fetch(url, { method: 'POST', headers, body })
  expect(answer.status).toBe(200)
  return (await answer.json()) as Record<string, unknown>
}

/** Runs a printed command in a shell outside of the clone, with the admin token as a program would have it. */
function run(command: string): { status: number | null; stdout: string; stderr: string } {
  const [token = ''] = printed(/^tg_admin_/)
  const known = { ...env, TOLLGATE_TOKEN: token }
  return spawnSync('sh', ['-c', command], { cwd: folder, env: known, encoding: 'utf8' })
}

describe('a newcomer', () => {
  it('is told what was made, and where', () => {
    for (const made of ['tollgate.yaml', 'policy.yaml', 'keys/ledger-', 'keys/writer-', 'ledger.sqlite']) {
      expect(screen).toContain(`${join(folder, 'state/tollgate')}/${made}`)
    }
    expect(screen).toMatch(/^ {2}tg_admin_[\w-]{43}$/m)
  })

  it('sees a call allowed, one denied, and one that waits for a person', async () => {
    const verdicts = []
    for (const curl of printed(/^curl /)) verdicts.push((await paste(curl)).verdict)
    expect(verdicts).toEqual(['ALLOW', 'DENY', 'ESCALATE'])
  })

  it('answers what waits', () => {
    const [list = '', approve = ''] = printed(own('approvals'))
    const listed = run(list).stdout
    expect(listed).toContain('demo/post_note')
    const [, id = ''] = /\b([0-9a-f]{8,64})\b/.exec(listed) ?? []
    // The printed call names no session, so its session is that of the principal.
    const shown = run(list.replace('approvals list', `approvals show ${id}`)).stdout
    const sample = shown.replace(/^(session +)agent:demo$/m, '$1s1')
    expectSample('docs/approvals.md', 'tollgate approvals show 42a3716b', sample)
    expect(run(approve.replace('ID', id))).toMatchObject({ status: 0 })
    expect(run(list).stdout).not.toContain('demo/post_note')
  })

  it('takes the evidence away and verifies it', () => {
    for (const command of ['receipts', 'keys', 'export', 'verify']) {
      const [line = ''] = printed(own(command))
      expect(run(line), line).toMatchObject({ status: 0 })
    }
  })

  it('sees that one flipped byte is found, wherever it is', () => {
    const pack = readFileSync(join(folder, 'all.pack'))
    const [verify = ''] = printed(own('verify'))
    for (const at of [600, Math.floor(pack.length / 2), pack.length - 3000]) {
      const flipped = Uint8Array.from(pack)
      flipped[at] = (flipped[at] ?? 0) ^ 1
      writeFileSync(join(folder, 'flipped.pack'), flipped)
      const { status } = run(verify.replace('all.pack', 'flipped.pack'))
      expect([1, 2], `byte ${at}`).toContain(status)
    }
  })
})

describe.runIf(HAS_SCRIPT)('a newcomer without the repository', () => {
  const PASSPHRASE = 'correct horse battery'
  const NEW: readonly Answer[] = [
    [/new passphrase/, `${PASSPHRASE}\r`],
    [/again/, `${PASSPHRASE}\r`],
  ]
  const TYPED: Answer = [/passphrase of user:/, `${PASSPHRASE}\r`]
  const home = join(folder, 'home')
  const work = join(folder, 'work')
  const notes = join(folder, 'notes')
  const config = join(home, '.cursor/mcp.json')
  const PATH = [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter)
  const place = { cwd: work, env: { HOME: home, PATH } }
  const server = join(ROOT, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')
  const files = { command: process.execPath, args: [server, notes] }
  const far = { url: 'https://tracker.example/mcp' }
  const before = JSON.stringify({ mcpServers: { files, far } }, null, 2)
  let seen = ''
  let up: OnTerminal | undefined
  let agent: Client | undefined

  beforeAll(() => {
    for (const each of [work, notes, dirname(config)]) mkdirSync(each, { recursive: true })
    writeFileSync(join(notes, 'shopping.txt'), 'milk, bread')
    writeFileSync(config, before)
  })

  afterAll(async () => {
    await agent?.close()
    up?.press('\u0003')
    await up?.ended
  })

  const LAUNCHER = join(home, '.local/bin/tollgate')

  /** The last command on the screen that has these words after its program, which is our launcher or another one. */
  function command(words: string, program = LAUNCHER): string {
    const wanted = new RegExp(`^${program} ${words}$`)
    const parts = seen.split(/[`\n]/).map((part) => part.trim())
    const found = parts.findLast((part) => wanted.test(part))
    expect(found, `${words} is not on the screen:\n${seen}`).toBeDefined()
    return found ?? ''
  }

  /** Runs a line in a shell, as a program does. */
  function shell(line: string): string {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { ...place, encoding: 'utf8' })
    seen += stdout + stderr
    expect(status, `${line}\n${stderr}`).toBe(0)
    return stdout
  }

  /** Types a line on a terminal and answers its questions. */
  async function type(line: string, ...answers: readonly Answer[]): Promise<string> {
    const { exit, output } = await startOnTerminal(place, line, answers).ended
    seen += output
    expect(exit, output).toBe(0)
    return output
  }

  /** Returns the answer to a call of the agent, as text. */
  async function called(name: string, args: Record<string, unknown>): Promise<string> {
    return JSON.stringify(await agent?.callTool({ name, arguments: args }))
  }

  const write = (): Promise<string> =>
    called('write_file', { path: join(notes, 'todo.txt'), content: 'call Olga' })

  it('packs the project, and installs the packages in an empty directory', () => {
    const { stdout, status } = spawnSync('npm', ['run', 'pack'], { cwd: clone, encoding: 'utf8' })
    expect(status).toBe(0)
    seen += stdout
    const install = command('install .*', 'npm')
    const [, artifacts = ''] = /^npm install (\/\S+)\/\*\.tgz$/.exec(install) ?? []
    // The long run installs from the registry.
    if (process.env.TOLLGATE_RUNS === 'all') shell(install)
    else
      installTarballs(
        readdirSync(artifacts)
          .filter((name) => name.endsWith('.tgz'))
          .map((name) => join(artifacts, name)),
        work,
      )
    expect(spawnSync('sh', ['-c', 'command -v tollgate'], place).status).not.toBe(0)
    const launcher = shell(command('--no-install tollgate self-install', 'npx')).trim()
    expect(shell(`${command('PATH=.*', 'export')} && tollgate --version`)).toMatch(/^\d/)
    expect(readFileSync(launcher, 'utf8')).toContain(work)
  })

  it('starts a gateway, and stores the admin token under a passphrase', async () => {
    up = startOnTerminal(place, `${command('up')} --port 0`, NEW)
    seen += await up.shows(/press Ctrl-C to stop/)
    expect(seen).not.toContain('tg_admin_')
  })

  it('puts the MCP server of a client behind the gateway, after one passphrase and one question', async () => {
    const output = await type(command('setup mcp'), [/activate the drafted policy\? \[y\/N\]/, 'y\r'], TYPED)
    expect(output).toContain('approved 14 of 14 tools')
    // The sample has another home, and a server that `npx` installs.
    const sample = output
      .replaceAll(home, '/home/me')
      .replace(`node ${server}`, 'npx @modelcontextprotocol/server-filesystem')
      .replace('[y/N] y', '[y/N]')
    expectSample('docs/mcp.md', 'tollgate setup mcp', sample)
    expect(output.match(/passphrase of/g)).toHaveLength(1)
    expect(readFileSync(config, 'utf8')).toContain(join(home, '.local/bin/tollgate'))
  })

  it('lets an agent list and read, and holds its write', async () => {
    // Sound: setup has kept the form of the file.
    const { mcpServers } = JSON.parse(readFileSync(config, 'utf8')) as { mcpServers: { files: typeof files } }
    agent = new Client({ name: 'agent', version: '1' })
    await agent.connect(new StdioClientTransport({ ...mcpServers.files, env: place.env, stderr: 'ignore' }))
    expect((await agent.listTools()).tools.map(({ name }) => name)).toContain('write_file')
    expect(await called('read_text_file', { path: join(notes, 'shopping.txt') })).toContain('milk, bread')
    expect(await write()).toContain('needs the approval of a person')
    expect(readdirSync(notes)).toEqual(['shopping.txt'])
  })

  it('approves the write with the passphrase, and then it passes', async () => {
    const shown: Answer = [/files\/write_file/, 'a']
    const output = await type(command('approvals'), TYPED, shown, [/exactly this call is allowed, once/, 'q'])
    expect(output).toContain('call Olga')
    expect(await write()).toContain('Successfully wrote')
    expect(readFileSync(join(notes, 'todo.txt'), 'utf8')).toBe('call Olga')
  })

  it('asks for each ability of a server, also for those that the command names', async () => {
    const groups = ['prompts', 'resources', 'sampling', 'elicitation', 'roots']
    const answers = groups.map((group): Answer => [
      new RegExp(`Approve ${group}\\?`),
      group === 'prompts' ? 'y\r' : 'n\r',
    ])
    const line = command('mcp approve SERVER').replace('SERVER', 'files --also all')
    expect(await type(line, TYPED, ...answers)).toContain('approved 2, with exactly')
  })

  it('exports the evidence, and verifies it without the gateway', () => {
    shell(command('keys trust > trust.json'))
    shell(command('export -o all.pack'))
    expect(shell(command('verify all.pack --trust trust.json'))).toMatch(/^VERIFIED\n/)
  })

  it('takes the server out again, byte for byte', () => {
    shell(command('setup mcp undo'))
    expect(readFileSync(config, 'utf8')).toBe(before)
  })
})
