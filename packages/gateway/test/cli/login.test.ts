// Stores a token under a passphrase and uses it, on a real pseudo-terminal. Needs the build. `login.deep.ts` has the rarer ways.

import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openToken, sealToken } from '../../src/cli/program/sealed-token.ts'
import { HAS_SCRIPT, onTerminal, withoutTerminal, type Answer, type Place } from './pseudo-terminal.ts'
import type { Ran } from './script.ts'
import { endWarm, runWarm } from './warm.ts'

const PASSPHRASE = 'correct horse battery'
const COMMAND = fileURLToPath(new URL('../../bin/tollgate.mjs', import.meta.url))
const NEW: readonly Answer[] = [
  [/new passphrase/, `${PASSPHRASE}\r`],
  [/again/, `${PASSPHRASE}\r`],
]
const TYPED: readonly Answer[] = [[/passphrase of user:/, `${PASSPHRASE}\r`]]
// The cost of the product takes most of the time and memory of a command.
const LOW_COST = 10

const folders: string[] = []
let folder: string
let place: Place
let logins: string

/** Takes a new home and data directory. */
function takeFolder(): void {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tollgate-login-')))
  folders.push(folder)
  const env = { PATH: process.env.PATH ?? '', HOME: folder, TOLLGATE_DATA: join(folder, 'data') }
  place = { cwd: folder, env }
  logins = join(folder, '.config/tollgate/logins.json')
}

/** Creates a data directory and returns its admin token. */
async function init(): Promise<string> {
  takeFolder()
  const { stdout, stderr } = await warm(['init'])
  return /tg_admin_[\w-]{43}/.exec(stdout)?.[0] ?? stderr
}

/** Runs a command without a terminal, in a process that others share. */
function warm(args: readonly string[]): Promise<Ran> {
  return runWarm({ work: folder, env: place.env }, args)
}

/** Stores a token as `tollgate login` does, with a low cost. */
async function store(token: string): Promise<void> {
  const data = join(folder, 'data')
  const sealed = await sealToken(token, data, PASSPHRASE, LOW_COST)
  mkdirSync(dirname(logins), { recursive: true })
  const file = { version: 1, logins: { [data]: { principal: 'user:olga', role: 'admin', sealed } } }
  writeFileSync(logins, JSON.stringify(file), { mode: 0o600 })
}

afterAll(() => {
  endWarm()
  for (const each of folders) rmSync(each, { recursive: true, force: true })
})

describe('a sealed token', () => {
  it('opens only with its passphrase, its place and its cost', async () => {
    const sealed = await sealToken('token', '/data', PASSPHRASE, LOW_COST)
    expect(await openToken(sealed, '/data', PASSPHRASE)).toBe('token')
    expect(await openToken(sealed, '/data', 'another one')).toBeUndefined()
    expect(await openToken(sealed, '/other', PASSPHRASE)).toBeUndefined()
    for (const cost of [LOW_COST - 1, 0, 1.5, 18, 60, NaN]) {
      expect(await openToken({ ...sealed, cost }, '/data', PASSPHRASE)).toBeUndefined()
    }
  })
})

describe.runIf(HAS_SCRIPT)('a stored token', () => {
  beforeAll(async () => store(await init()))

  it('decides on a data directory after the passphrase, which is not echoed', async () => {
    const { exit, output } = await onTerminal(place, ['policy', 'activate'], TYPED)
    expect(exit, output).toBe(0)
    expect(output).toContain('is in force')
    expect(output).not.toContain(PASSPHRASE)
  })

  it('without a terminal decides nothing, also with the passphrase on standard input', async () => {
    const refused = [
      ['policy', 'activate'],
      ['unfreeze', 'all'],
      ['keys', 'rotate'],
      ['tokens', 'issue', '--role', 'admin', '--principal', 'user:eve'],
      ['trust', 'reset', 'agent:demo', '--because', 'test'],
      ['approvals', 'approve', '3f2a9c01'],
    ]
    for (const args of refused) {
      const { exit, stdout, stderr } = await warm(args)
      expect({ exit, stdout }, stderr).toEqual({ exit: 1, stdout: '' })
      expect(stderr).toContain('there is no terminal; nothing was changed')
    }
    const given = await withoutTerminal(place, ['unfreeze', 'all'], `${PASSPHRASE}\n`)
    expect(given).toMatchObject({ exit: 1, stdout: '' })
    expect(given.output).toContain('there is no terminal; nothing was changed')
  })

  it('is not needed to read, and not to freeze a data directory', async () => {
    for (const args of [['status'], ['approvals', 'list'], ['tokens', 'list'], ['freeze', 'all']]) {
      expect(await warm(args), args.join(' ')).toMatchObject({ exit: 0 })
    }
  })

  it('refuses after three wrong passphrases', async () => {
    const wrong: Answer = [/passphrase of user:[^\n]*: $/, 'not this one\r']
    const { exit, output } = await onTerminal(place, ['unfreeze', 'all'], [wrong, wrong, wrong])
    expect(exit).toBe(1)
    expect(output.match(/wrong passphrase/g)).toHaveLength(3)
    expect(output).toContain('nothing was changed')
  })

  it('leaves the terminal with echo after Ctrl-C, and exits with 130', async () => {
    const { output } = await onTerminal(
      place,
      ['unfreeze', 'all'],
      [[/passphrase of user:/, 'half\u0003\r']],
      (command) => `trap : INT; ${command}; echo "exit $?"; stty -a`,
    )
    expect(output).toContain('exit 130')
    expect(output).toMatch(/[^-]\becho\b/)
    expect(output).toMatch(/[^-]\bicanon\b/)
    expect(output).not.toContain('unfroze')
  })

  it('is for one place only: a moved entry does not open', async () => {
    const before = readFileSync(logins, 'utf8')
    const moved = before.replace(join(folder, 'data'), 'http://127.0.0.1:1')
    writeFileSync(logins, moved)
    const typed: Answer = [/passphrase of user:[^\n]*: $/, `${PASSPHRASE}\r`]
    const none: Answer = [typed[0], '\r']
    const args = ['status', '--url', 'http://127.0.0.1:1']
    const { exit, output } = await onTerminal(place, args, [typed, none])
    expect(exit).toBe(1)
    expect(output).toContain('wrong passphrase')
    writeFileSync(logins, before)
  })

  it('in a damaged file opens nothing', async () => {
    const before = readFileSync(logins, 'utf8')
    writeFileSync(logins, '{"version":1,"logins":{')
    const { exit, stderr } = await warm(['unfreeze', 'all']).finally(() => writeFileSync(logins, before))
    expect(exit).toBe(1)
    expect(stderr).toMatch(/is damaged[^]*tollgate\S* login/)
  })

  it('decides through a running gateway; a program uses a token file of its own', async () => {
    const gateway = spawn(process.execPath, [COMMAND, 'up', '--port', '0'], place)
    try {
      await listening(gateway)
      expect(await warm(['freeze', 'all'])).toMatchObject({ exit: 1 })
      expect(await warm(['receipts', 'list'])).toMatchObject({ exit: 0 })
      // Only the running gateway knows these.
      expect(await warm(['approvals'])).toMatchObject({ exit: 1 })
      expect(await onTerminal(place, ['approvals', 'list'], TYPED)).toMatchObject({ exit: 0 })
      const args = ['tokens', 'issue', '--role', 'operator', '--principal', 'user:ci']
      const [token = ''] = /tg_operator_[\w-]{43}/.exec((await onTerminal(place, args, TYPED)).output) ?? []
      writeFileSync(join(folder, 'ci.token'), token, { mode: 0o600 })
      const program = ['unfreeze', 'all', '--token-file', 'ci.token']
      expect(await warm(program)).toMatchObject({ exit: 0 })
    } finally {
      const ended = new Promise((resolve) => gateway.on('close', resolve))
      gateway.kill('SIGTERM')
      await ended
    }
  })
})

function listening(gateway: ChildProcessWithoutNullStreams): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    gateway.stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('press Ctrl-C')) resolve()
    })
    gateway.on('close', () => reject(new Error(text)))
  })
}

describe.runIf(HAS_SCRIPT)('tollgate init on a terminal', () => {
  it('stores the admin token encrypted, private, with the full cost, and never shows it', async () => {
    takeFolder()
    const { exit, output } = await onTerminal(place, ['init'], NEW)
    expect(exit, output).toBe(0)
    expect(output).not.toMatch(/tg_admin_|TOLLGATE_TOKEN/)
    expect(output).not.toContain(PASSPHRASE)
    expect(statSync(logins).mode & 0o777).toBe(0o600)
    const text = readFileSync(logins, 'utf8')
    expect(text).not.toMatch(/tg_admin_|correct horse/)
    expect(text).toContain('"cost": 17')
    expect(readdirSync(dirname(logins)).filter((name) => name.startsWith('logins'))).toEqual(['logins.json'])
  })
})

describe.runIf(HAS_SCRIPT)('tollgate login', () => {
  const asked = (given: string): Answer => [/token \(/, `${given}\r`]
  let token: string

  beforeAll(async () => {
    token = await init()
  })

  it('refuses a token that the gateway does not know, a token of an agent, and two different passphrases', async () => {
    const refused = await onTerminal(place, ['login'], [asked(`tg_admin_${'x'.repeat(43)}`)])
    expect(refused.output).toContain('the token is unknown')
    const issued = await warm(['tokens', 'issue', '--role', 'agent', '--principal', 'agent:x'])
    const agent = await onTerminal(place, ['login'], [asked(issued.stdout.trim())])
    expect(agent.output).toContain('TOLLGATE_AGENT_TOKEN')
    const differ: readonly Answer[] = [
      [/new passphrase/, 'first passphrase\r'],
      [/again/, 'second passphrase\r'],
      [/differ[^]*new passphrase/, '\r'],
    ]
    expect(await onTerminal(place, ['login'], [asked(token), ...differ])).toMatchObject({ exit: 1 })
    expect((await warm(['whoami'])).stdout).not.toMatch(/source +passphrase/)
  })

  it('needs a terminal for the passphrase', async () => {
    const { exit, stderr } = await warm(['login'])
    expect(exit).toBe(2)
    expect(stderr).toContain('needs a terminal')
  })

  it('takes a typed token, and logout removes it', async () => {
    const { exit, output } = await onTerminal(place, ['login'], [asked(token), ...NEW])
    expect(exit, output).toBe(0)
    expect(output).not.toContain(token)
    expect((await warm(['whoami'])).stdout).toMatch(/source +passphrase/)
    expect(await warm(['logout'])).toMatchObject({ exit: 0 })
    expect(readFileSync(logins, 'utf8')).toContain('"logins": {}')
    expect(await warm(['logout'])).toMatchObject({ exit: 1 })
  })
})
