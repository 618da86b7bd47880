// Every command obeys the options that name a gateway in the same way. A new command needs a row here.

import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KINDS } from '@tollgate/evidence'
import { createProgram } from '../../src/cli/commands.ts'
import { AGENTS } from '../../src/cli/setup/agents/names.ts'
import { runsItself } from './command-lines.ts'
import { KIND_NAMES } from '../../src/cli/program/forms.ts'
import { makeTemplate, type Ran } from './script.ts'
import { endWarm, runWarm } from './warm.ts'

type Command = Awaited<ReturnType<typeof createProgram>>

const GATEWAY_OPTIONS = ['--data', '--url', '--ca', '--port', '--token-file']

/** The options that name a gateway, and the commands that take exactly these. */
const TABLE: Readonly<Record<string, readonly string[]>> = {
  '--data --url --ca --token-file': [
    ...[
      'approvals always',
      'approvals approve',
      'approvals deny',
      'approvals list',
      'approvals show',
      'approvals view',
    ],
    ...[
      'delegations grant',
      'delegations list',
      'delegations revoke',
      'delegations show',
      'export',
      'freeze',
    ],
    ...['login', 'logout', 'mcp approve', 'mcp list', 'mcp revoke', 'mcp show', 'policy activate'],
    ...['policy diff', 'policy draft', 'policy explain', 'policy observe', 'receipts list', 'receipts show'],
    ...['receipts tail', 'scope open', 'scope show', 'sessions close', 'sessions reset', 'sessions show'],
    ...AGENTS.flatMap((id) => ['', ' repair', ' status', ' undo'].map((each) => `setup ${id}${each}`)),
    ...['status', 'tokens issue', 'tokens list', 'tokens revoke', 'trust reset', 'unfreeze', 'whoami'],
  ],
  '--data --port': ['init', 'serve', 'up'],
  '--data': [
    ...[
      'backup',
      'delegations key',
      'doctor',
      'fsck',
      'join',
      'migrate',
      'keys list',
      'keys rotate',
      'keys seal',
      'keys trust',
    ],
    ...['browser', 'mcp wrap', 'policy check', 'policy fmt', 'policy learn', 'policy replay', 'policy test'],
    ...['policy trace', 'setup mcp', 'setup mcp status', 'setup mcp undo'],
    ...['setup browser', 'setup browser status', 'setup browser undo'],
  ],
  '': [
    ...['demo', 'mcp scan', 'pack find', 'pack list', 'pack show', 'policy schema', 'scope propose'],
    ...['self-install', 'sentinel scan', 'threat scan', 'verify'],
  ],
}

/** All commands that run something, by name. */
function commandsIn(
  command: Command,
  before: readonly string[] = [],
): readonly (readonly [string, Command])[] {
  return command.commands.flatMap((each) => {
    const words = [...before, each.name()]
    return [...(runsItself(each) ? [[words.join(' '), each] as const] : []), ...commandsIn(each, words)]
  })
}

function takes({ options, parent }: Command, option: string): boolean {
  return options.some(({ long }) => long === option) || (parent !== null && takes(parent, option))
}

describe('the options that name a gateway', () => {
  it('are those of the table, for every command', async () => {
    const all = commandsIn(await createProgram(() => undefined))
    const rows = Object.entries(TABLE).flatMap(([options, names]) => names.map((name) => [name, options]))
    expect(Object.fromEntries(all.map(([name, each]) => [name, optionsOf(each)]))).toEqual(
      Object.fromEntries(rows),
    )
  })

  it('have the same variables everywhere', async () => {
    for (const [name, { options }] of commandsIn(await createProgram(() => undefined))) {
      for (const { long, envVar } of options) {
        if (long === '--data') expect(envVar, name).toBe('TOLLGATE_DATA')
        else if (long === '--url') expect(envVar, name).toBe('TOLLGATE_URL')
        else if (long === '--ca') expect(envVar, name).toBe('TOLLGATE_CA')
        else expect(envVar, name).toBeUndefined()
      }
    }
  })
})

function optionsOf(command: Command): string {
  return GATEWAY_OPTIONS.filter((option) => takes(command, option)).join(' ')
}

describe('the kinds of receipts', () => {
  it('are those that options take', () => expect(KIND_NAMES).toEqual(KINDS))
})

const TOKEN = `tg_admin_${'0'.repeat(43)}`

let folder: string
let server: Server
let url: string
let asked = 0

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tollgate-options-')))
  const template = await makeTemplate(folder)
  for (const name of ['typed', 'variable', 'state/tollgate']) {
    cpSync(template, join(folder, name), { recursive: true })
  }
  server = createServer((_, response) => {
    asked++
    response.end('{"receipts":[],"next":null,"servers":[],"more":0}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // Sound: it listens on a port.
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  endWarm()
  server.close()
  rmSync(folder, { recursive: true })
})

/** Runs a command. `URL` stands for the address of a gateway that answers; a data directory is named relative to the folder. */
async function run(args: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const own = { PATH: process.env.PATH ?? '', HOME: folder, XDG_STATE_HOME: join(folder, 'state') }
  const filled = Object.entries(env).map(([name, value]) => [name, value.replace('URL', url)] as const)
  const words = args.split(' ').map((word) => word.replace('URL', url).replace('EMPTY', ''))
  return runWarm({ work: folder, env: { ...own, ...Object.fromEntries(filled) } }, words)
}

const NOWHERE = { TOLLGATE_URL: 'http://127.0.0.1:1' }
const VARIABLE = { TOLLGATE_DATA: 'variable' }

describe('a command with a data directory and an address', () => {
  it.each([
    ['the data directory that is typed', '--data typed', { ...NOWHERE, ...VARIABLE }, 'typed'],
    ['the data directory of the variable', '', VARIABLE, 'variable'],
    ['the default data directory', '', {}, 'state/tollgate'],
    [
      'the default one if the variables are empty',
      '',
      { TOLLGATE_URL: '', TOLLGATE_DATA: '' },
      'state/tollgate',
    ],
  ])('acts on %s', async (_, options, env, place) => {
    const { exit, stderr } = await run(`receipts list ${options}`.trim(), env)
    expect(stderr).toContain(`tollgate: using the ledger in \`${join(folder, place)}\`\n`)
    expect(exit).toBe(0)
  })

  it.each([
    ['the address that is typed', '--url URL', { ...NOWHERE, ...VARIABLE }],
    ['the address of the variable', '', { TOLLGATE_URL: 'URL', ...VARIABLE }],
  ])('acts on %s', async (_, options, env) => {
    const before = asked
    const { exit, stderr } = await run(`receipts list ${options}`.trim(), { ...env, TOLLGATE_TOKEN: TOKEN })
    expect(stderr).toContain(`tollgate: using the gateway at \`${url}\`\n`)
    expect([exit, asked]).toEqual([0, before + 1])
  })

  it.each([
    ['--url URL --data typed', '`--url` and `--data` each name a gateway'],
    ['--data EMPTY', '`--data` has no value'],
    ['--url EMPTY', '`--url` has no value'],
  ])('refuses %s', async (options, why) => {
    expect(await run(`receipts list ${options}`)).toMatchObject({ exit: 2, stdout: '' })
    expect((await run(`receipts list ${options}`)).stderr).toContain(why)
  })

  it('writes no name into JSON', async () => {
    expect(await run('receipts list --json --data typed')).toMatchObject({ exit: 0, stderr: '' })
  })

  it('repeats a typed address in the commands that it prints', async () => {
    const { stderr } = await run('freeze agent --url URL', { TOLLGATE_TOKEN: TOKEN })
    expect(stderr).toContain(`freeze --url ${url} all`)
  })

  it.each(['policy activate --url URL', 'policy diff --url URL', 'policy draft --observed --url URL'])(
    'never takes a file of another gateway: %s',
    async (line) => {
      const { exit, stderr } = await run(line, { ...VARIABLE, TOLLGATE_TOKEN: TOKEN })
      expect(exit).toBe(2)
      expect(stderr).toContain('`--url` or TOLLGATE_URL names only its address')
    },
  )
})

describe('a command with only a data directory', () => {
  it.each([
    ['--data typed', { ...NOWHERE, ...VARIABLE }, 'typed'],
    ['', { ...NOWHERE, ...VARIABLE }, 'variable'],
    ['', NOWHERE, 'state/tollgate'],
  ])('acts on it, also if TOLLGATE_URL is set: %s %o', async (options, env, place) => {
    const { exit, stderr } = await run(`keys list ${options}`.trim(), env)
    expect([exit, stderr]).toEqual([0, `tollgate: using the ledger in \`${join(folder, place)}\`\n`])
  })

  it('refuses an address', async () => {
    expect(await run('keys list --url URL')).toMatchObject({ exit: 2, stdout: '' })
  })
})

describe('a command with a port', () => {
  it('takes the typed one', async () => {
    await run('init --data fresh --port 9001', { ...NOWHERE, ...VARIABLE })
    expect(readFileSync(join(folder, 'fresh/tollgate.yaml'), 'utf8')).toMatch(/port: 9001\b/)
  })
})

describe('a command without a gateway', () => {
  it.each(['--data typed', '--url URL', '--port 1'])('refuses %s', async (option) => {
    const { exit, stderr } = await run(`verify x.pack ${option}`)
    expect(exit).toBe(2)
    expect(stderr).toContain('unknown option')
  })
})
