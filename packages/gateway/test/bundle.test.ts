// Tests the command as users start it: from its bundle, if the bundle is not older than its sources.

import { spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer as createWeb } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formatWelcome } from '../src/mcp/client/local-join.ts'

const GATEWAY = fileURLToPath(new URL('..', import.meta.url))
const BUNDLE = join(GATEWAY, 'dist/bundle/tollgate.cjs')
// What `npm run build` compiles.
const { references } = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../../tsconfig.build.json', import.meta.url)), 'utf8'),
) as { references: readonly { path: string }[] }
const BUILDS = references
  .map(({ path }) => path.replace(/^packages\/([a-z]+)\/([a-z]+)$/, '$1/dist/$2'))
  // The page is not part of the command: the gateway reads it as files.
  .filter((build) => build !== 'console/dist/src')
const NOON = 1_800_000_000

let folder = ''
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'tollgate-bundle-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function start(file: string, ...args: readonly string[]): SpawnSyncReturns<string> {
  const env = { PATH: process.env.PATH, HOME: folder }
  return spawnSync(process.execPath, [file, ...args], { env, encoding: 'utf8' })
}

describe('the files that the command starts from', () => {
  beforeEach(() => cpSync(join(GATEWAY, 'bin'), join(folder, 'gateway/bin'), { recursive: true }))

  function put(path: string, text: string, time: number = NOON): void {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    utimesSync(file, time, time)
  }

  function begin(): SpawnSyncReturns<string> {
    return start(join(folder, 'gateway/bin/tollgate.mjs'))
  }

  const putModules = (): void => put('gateway/dist/src/cli/main.js', "console.log('modules')")
  const putBundle = (): void => put('gateway/dist/bundle/tollgate.cjs', "console.log('bundle')")

  it('are the bundle, if there is no build or no newer build', () => {
    put('gateway/package.json', '{"type":"module"}')
    putModules()
    putBundle()
    expect(begin().stdout).toBe('bundle\n')
    put('kernel/dist/src/tsconfig.tsbuildinfo', '{}', NOON)
    expect(begin().stdout).toBe('bundle\n')
  })

  it.each(BUILDS)('are the modules once %s is newer', (place) => {
    put('gateway/package.json', '{"type":"module"}')
    putModules()
    putBundle()
    put(`${place}/tsconfig.tsbuildinfo`, '{}', NOON + 1)
    expect(begin().stdout).toBe('modules\n')
  })

  it('are the modules without a bundle; without both it prints what to do', () => {
    put('gateway/package.json', '{"type":"module"}')
    const { status, stderr } = begin()
    expect(status).toBe(2)
    expect(stderr).toContain('npm run build')
    putModules()
    expect(begin().stdout).toBe('modules\n')
  })
})

describe('the bundle', () => {
  it('finds its threads and native modules, and decides as the modules do', () => {
    const data = join(folder, 'data')
    expect(start(BUNDLE, 'init', '--data', data).status).toBe(0)
    // Read by a separate thread.
    const replayed = start(BUNDLE, 'policy', 'replay', '--data', data)
    expect(replayed.stderr).toContain('keep: { calls: 7d }')
    const checked = start(BUNDLE, 'policy', 'check', '--json', '--data', data)
    const modules = start(join(GATEWAY, 'dist/src/cli/main.js'), 'policy', 'check', '--json', '--data', data)
    expect(checked.status).toBe(0)
    expect(checked.stdout).toBe(modules.stdout)
  })

  it('includes the licences of its contents and every file that it refers to', () => {
    const licences = readFileSync(join(dirname(BUNDLE), 'LICENSES.txt'), 'utf8')
    for (const name of ['@marcbachmann/cel-js', '@noble/hashes', 'commander', 'picocolors', 're2js', 'yaml'])
      expect(licences).toMatch(new RegExp(`^${name} [0-9.]+ \\(`, 'm'))
    for (const entry of ['tollgate', 'reader-thread', 'signer-thread', 'writer-thread']) {
      const code = readFileSync(join(dirname(BUNDLE), `${entry}.cjs`), 'utf8')
      const named = [...code.matchAll(/require\("\.\/([^"]+)"\)/g)].map(([, name = '']) => name)
      expect(named.length, entry).toBeGreaterThan(0)
      expect(named.filter((name) => !existsSync(join(dirname(BUNDLE), name)))).toEqual([])
    }
  })
})

describe('a command loads only what it needs:', () => {
  const FULL = fileURLToPath(new URL('../../../examples/policies/full.yaml', import.meta.url))
  const LOG =
    "process.on('exit', () => require('fs').writeFileSync(process.env.LOADED, Object.keys(require.cache).join('\\n')))"
  // Sound: the build writes it.
  const contents = JSON.parse(readFileSync(join(GATEWAY, 'dist/bundle-contents.json'), 'utf8')) as Record<
    string,
    readonly string[]
  >

  /** Runs a command from the bundle to its end, with no input. Returns the modules that it loaded. */
  async function loaded(...args: readonly string[]): Promise<readonly string[]> {
    const [log, list] = [join(folder, 'log.cjs'), join(folder, 'loaded')]
    writeFileSync(log, LOG)
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      LOADED: list,
      TOLLGATE_TOKEN: `tg_agent_${'A'.repeat(43)}`,
    }
    const child = spawn(process.execPath, ['--require', log, BUNDLE, ...args], { env, stdio: 'ignore' })
    await once(child, 'exit')
    const files = readFileSync(list, 'utf8')
      .split('\n')
      .filter((file) => dirname(file) === dirname(BUNDLE))
    expect(files).toContain(BUNDLE)
    return files.flatMap((file) => contents[file.slice(dirname(BUNDLE).length + 1)] ?? [])
  }

  const KERNEL = /^packages\/kernel\//
  const SCANNER = /^packages\/kernel\/dist\/src\/gates\/threat\/(?!settings|finding)/
  const LEDGER = /^packages\/kernel\/dist\/src\/(?:road|ledger)\/|\/gateway\/dist\/src\/(?:store|open|api)/
  const VERIFIER = /^packages\/evidence\/dist\/src\/(?:verify|audit|pack)/
  const LANGUAGES = /node_modules\/(?:yaml|re2js|@marcbachmann)\//

  function expectNone(modules: readonly string[], parts: readonly RegExp[]): void {
    for (const part of parts) expect(modules.filter((module) => part.test(module))).toEqual([])
  }

  it('each part of the list is in the bundle', () => {
    const all = Object.values(contents).flat()
    for (const part of [KERNEL, SCANNER, LEDGER, VERIFIER, LANGUAGES])
      expect(
        all.some((module) => part.test(module)),
        String(part),
      ).toBe(true)
  })

  it('`--version`', async () => {
    expect(
      (await loaded('--version')).map((module) => module.replace('packages/gateway/dist/src/cli/', '')),
    ).toEqual(['main.js', 'program/version.js'])
  })

  it('`policy check`', async () => {
    expectNone(await loaded('policy', 'check', FULL), [SCANNER, LEDGER, VERIFIER])
  })

  it('`status`, while no receipt changes trust', async () => {
    const lists = { observed: [], freezes: [], approvals: [], receipts: [] }
    const status = { version: '1', ledger: 'l', size: 1, poisoned: null, principal: 'user:a', role: 'admin' }
    const policy = { name: 'p', hash: 'a'.repeat(64), text: 'x', pending: null }
    const gateway = createWeb((_, answer) => answer.end(JSON.stringify({ ...lists, ...status, ...policy })))
    gateway.listen(0, '127.0.0.1')
    await once(gateway, 'listening')
    // Sound: it listens on TCP.
    const { port } = gateway.address() as AddressInfo
    const modules = await loaded('status', '--url', `http://127.0.0.1:${port}`)
    gateway.close()
    expect(modules).toContain('packages/gateway/dist/src/cli/people/trust-changes.js')
    expectNone(modules, [KERNEL, LEDGER, LANGUAGES])
  })

  it('the wrapper of an MCP server', async () => {
    const gateway = createServer((socket) => socket.end(`${formatWelcome({ ok: true })}\n`))
    gateway.listen(join(folder, 'gateway.sock'))
    await once(gateway, 'listening')
    const modules = await loaded('mcp', '--data', folder, '--', 'server')
    gateway.close()
    expect(modules).toContain('packages/gateway/dist/src/cli/mcp/wrap.js')
    expectNone(modules, [KERNEL, LEDGER, VERIFIER, LANGUAGES])
  })
})
