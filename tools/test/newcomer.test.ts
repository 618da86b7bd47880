// What a newcomer does, from the README alone: takes a copy of the project that has never been built, says `npm start`, pastes
// what it prints, and checks the evidence. Nothing here knows more than what stands on the screen.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'tollgate-newcomer-'))
const clone = join(folder, 'tollgate')
// A home of its own: nothing of whoever runs the tests is touched, and what npm has fetched before it may use again.
const env: NodeJS.ProcessEnv = { ...process.env, XDG_STATE_HOME: join(folder, 'state'), NO_COLOR: '1' }
let gateway: ChildProcess
let screen = ''

beforeAll(async () => {
  takeCopy()
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

/** The files of the project as they are now, committed or not, and nothing that was built. */
function takeCopy(): void {
  const { stdout } = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
  })
  const files = stdout.split('\0').filter((file) => file !== '')
  expect(files.length).toBeGreaterThan(100)
  for (const file of files) {
    mkdirSync(dirname(join(clone, file)), { recursive: true })
    cpSync(join(root, file), join(clone, file))
  }
  // What npm would install again, where files can be linked: whoever runs this has just installed it from the same lockfile.
  for (const place of ['', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`)]) {
    const installed = join(place, 'node_modules')
    if (existsSync(join(root, installed)))
      spawnSync('cp', ['-al', join(root, installed), join(clone, installed)])
  }
}

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
    const shown = run(list)
    expect(shown.stdout).toContain('demo/post_note')
    const [, id = ''] = /\b([0-9a-f]{8,64})\b/.exec(shown.stdout) ?? []
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
