import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ensureBrowser, findBrowser } from '../browser.mjs'

const folder = mkdtempSync(join(tmpdir(), 'tollgate-browser-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A PATH of one folder that holds programs of these names. */
function pathWith(...names: readonly string[]): string {
  const path = join(folder, names.join('+') || 'empty')
  mkdirSync(path, { recursive: true })
  for (const name of names) {
    writeFileSync(join(path, name), '#!/bin/sh\n')
    chmodSync(join(path, name), 0o755)
  }
  return path
}

interface Case {
  readonly programs: readonly string[]
  readonly uid?: number
  readonly platform?: NodeJS.Platform
  /** Commands that fail, by one of their words. */
  readonly failing?: string
  readonly appears?: boolean
}

/** Looks for a browser where there is none; answers with what it found, ran and said. */
async function check({ programs, uid = 0, platform = 'linux', failing = '-', appears = true }: Case) {
  const ran: string[] = []
  const said: string[] = []
  const run = (command: readonly string[]): Promise<boolean> => {
    ran.push(command.join(' '))
    return Promise.resolve(!command.includes(failing))
  }
  const find = () => (appears && ran.some((command) => command.includes('install')) ? '/new' : undefined)
  const say = (line: string): void => void said.push(line)
  const path = await ensureBrowser({ env: { PATH: pathWith(...programs) }, platform, uid, find, run, say })
  return { path, ran, said: said.join('\n') }
}

const INSTALL = 'env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium'
const UPDATE = 'env DEBIAN_FRONTEND=noninteractive apt-get update'

test('the browser that TOLLGATE_BROWSER names comes first', () => {
  const named = join(pathWith('my-browser'), 'my-browser')
  expect(findBrowser({ env: { PATH: pathWith('chromium'), TOLLGATE_BROWSER: named } })).toBe(named)
})

test.each(['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'])(
  '%s is found on the PATH',
  (name) => {
    const path = pathWith(name)
    expect(findBrowser({ env: { PATH: `${pathWith()}:${path}` }, platform: 'linux' })).toBe(join(path, name))
  },
)

test('a PATH without a browser gives none', () => {
  expect(findBrowser({ env: { PATH: pathWith('firefox') }, platform: 'linux' })).toBeUndefined()
  expect(findBrowser({ env: {}, platform: 'linux' })).toBeUndefined()
})

test('a folder or a plain file of that name is no browser', () => {
  const path = pathWith('other')
  mkdirSync(join(path, 'chromium'))
  writeFileSync(join(path, 'chrome'), '')
  expect(findBrowser({ env: { PATH: path }, platform: 'linux' })).toBeUndefined()
})

test('a name in TOLLGATE_BROWSER that is no program is said, and the PATH is searched', async () => {
  const said: string[] = []
  const env = { PATH: pathWith('chromium'), TOLLGATE_BROWSER: '/nowhere' }
  const path = await ensureBrowser({ env, platform: 'linux', say: (line) => void said.push(line) })
  expect(path).toBe(join(env.PATH, 'chromium'))
  expect(said).toEqual([
    'TOLLGATE_BROWSER is set to `/nowhere`, which is not a program; looking for another browser',
  ])
})

test('root installs chromium with apt-get', async () => {
  const { path, ran, said } = await check({ programs: ['apt-get'] })
  expect(path).toBe('/new')
  expect(ran).toEqual([UPDATE, INSTALL])
  expect(said).toBe('no browser found; installing the package `chromium` with apt-get')
})

test('an update that fails does not keep it from trying', async () => {
  expect((await check({ programs: ['apt-get'], failing: 'update' })).path).toBe('/new')
})

test('another user installs it through sudo, if sudo asks no password', async () => {
  const { path, ran } = await check({ programs: ['apt-get', 'sudo'], uid: 1000 })
  expect(path).toBe('/new')
  expect(ran).toEqual(['sudo -n true', `sudo -n ${UPDATE}`, `sudo -n ${INSTALL}`])
})

test.each([
  ['sudo asks a password', { programs: ['apt-get', 'sudo'], uid: 1000, failing: 'true' }, ['sudo -n true']],
  ['there is no sudo', { programs: ['apt-get'], uid: 1000 }, []],
  ['there is no apt-get', { programs: [] }, []],
  ['it is not Linux', { programs: ['apt-get'], platform: 'darwin' as const }, []],
  ['the install fails', { programs: ['apt-get'], failing: 'install' }, [UPDATE, INSTALL]],
  ['the install brings no browser', { programs: ['apt-get'], appears: false }, [UPDATE, INSTALL]],
])('it says loudly that browser tests are skipped when %s', async (_, place, commands) => {
  const { path, ran, said } = await check(place)
  expect(path).toBeUndefined()
  expect(ran).toEqual(commands)
  expect(said).toContain('NO BROWSER: the browser part of the tests will be SKIPPED')
  expect(said).toContain('set TOLLGATE_BROWSER to the path of one')
})
