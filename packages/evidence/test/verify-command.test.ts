// Runs the command `tollgate-verify`. Needs the build.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatTrust, parseTrust, writePack } from '../src/index.ts'
import { begin, collect, createLedger, decision, demoLedger, effect, POLICY_TEXT } from './ledger.ts'

const COMMAND = fileURLToPath(new URL('../dist/bin/verify.js', import.meta.url))

interface Ran {
  readonly exit: number
  readonly out: string
  readonly err: string
}

let folder: string

function run(...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(process.execPath, [COMMAND, ...args], { cwd: folder }, (fault, out, err) => {
      resolve({ exit: typeof fault?.code === 'number' ? fault.code : fault ? -1 : 0, out, err })
    })
  })
}

function shell(line: string): Promise<Ran> {
  return new Promise((resolve) => {
    execFile('bash', ['-c', line], { cwd: folder }, (fault, out, err) => {
      resolve({ exit: typeof fault?.code === 'number' ? fault.code : fault ? -1 : 0, out, err })
    })
  })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-verify-'))
  const ledger = await demoLedger()
  const pack = await collect(writePack(ledger, { range: { start: 0, end: ledger.size } }))
  const flipped = Buffer.from(pack)
  const at = flipped.length - 5000
  flipped[at] = (flipped[at] ?? 0) ^ 1
  await writeFile(join(folder, 'good.pack'), pack)
  await writeFile(join(folder, 'flipped.pack'), flipped)
  await writeFile(join(folder, 'cut.pack'), pack.subarray(0, 7000))
  await writeFile(
    join(folder, 'trust.json'),
    formatTrust({ ledger: ledger.origin, keys: [ledger.noteKey()], witnesses: [], quorum: 0 }),
  )
  await writeFile(
    join(folder, 'bad-trust.json'),
    '{ "tollgate_trust": 1, "ledger": "ledger.example/demo", "keys": [] }',
  )
})

afterAll(() => rm(folder, { recursive: true }))

describe('tollgate-verify', () => {
  it('exits with 0 for a true pack and lists what is proved and what is not', async () => {
    const { exit, out, err } = await run('good.pack', '--trust', 'trust.json')
    expect(exit).toBe(0)
    expect(err).toBe('')
    expect(out).toMatch(/^VERIFIED\n {2}ledger ledger\.example\/demo, size 24/)
    expect(out).toContain(
      '✓ All 24 entries are present, in order and unmodified, as the signed checkpoint states.',
    )
    expect(out).toContain('Not proved\n')
    expect(out).toContain('· That tools did what they reported')
  })

  it('exits with 1 for a pack with one flipped bit and lists the finding', async () => {
    const { exit, out } = await run('flipped.pack', '--trust', 'trust.json')
    expect(exit).toBeGreaterThanOrEqual(1)
    expect(exit).toBeLessThanOrEqual(2)
    expect(out).toMatch(/^(FAILED|MALFORMED)/)
    expect(out).toContain('✗ MEMBER_CHANGED in receipts/0000000000000000.jsonl')
    expect(out).not.toContain('✓')
  })

  it('exits with 2 for a truncated pack', async () => {
    const { exit, out } = await run('cut.pack', '--trust', 'trust.json')
    expect(exit).toBe(2)
    expect(out).toContain('✗ ARCHIVE_MALFORMED')
  })

  it('exits with 3 without a trust file and says what is missing', async () => {
    const { exit, out } = await run('good.pack')
    expect(exit).toBe(3)
    expect(out).toMatch(/^INTEGRITY ONLY/)
    expect(out).toContain('its origin is not proved')
  })

  it('prints the whole report as JSON on request', async () => {
    const { exit, out } = await run('good.pack', '--trust', 'trust.json', '--json')
    expect(exit).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      level: 'verified',
      exit: 0,
      summary: { receipts: 24 },
      findings: [],
    })
  })

  it('explains itself with --help', async () => {
    const { exit, out } = await run('--help')
    expect(exit).toBe(0)
    const [, example = ''] = /(\{ "tollgate_trust"[^]*\})/.exec(out) ?? []
    expect(await parseTrust(example)).toMatchObject({ ledger: 'ledger.example/demo' })
    for (const word of ['usage:', '--trust FILE', '--json', 'exit code:', 'tollgate_trust'])
      expect(out).toContain(word)
  })

  it('prints the version of the package', async () => {
    const manifest = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
      version: string
    }
    expect((await run('--version')).out).toBe(`${manifest.version}\n`)
  })

  it.each([
    ['good.pack', '0'],
    ['flipped.pack', '2'],
  ])('keeps its exit code when the pipe is closed: %s', async (name, answer) => {
    const line = `"${process.execPath}" "${COMMAND}" ${name} --trust trust.json --json | true; echo "\${PIPESTATUS[0]}"`
    const { out, err } = await shell(line)
    expect(out.trim()).toBe(answer)
    expect(err).toBe('')
  })

  // Only Linux has a device that is always full.
  it.skipIf(!existsSync('/dev/full'))(
    'says that it could not write, not that the pack is false',
    async () => {
      const { exit, err } = await shell(
        `"${process.execPath}" "${COMMAND}" good.pack --trust trust.json > /dev/full`,
      )
      expect(exit).toBe(2)
      expect(err).toMatch(/^tollgate-verify: the report could not be written/)
    },
  )

  it.each([
    [[], 'no pack given; run `tollgate-verify --help`'],
    [['none.pack'], 'there is no file `none.pack`'],
    [['.'], 'this is a directory; give a file'],
    [['good.pack', 'good.pack'], 'more than one pack given'],
    [['good.pack', '--trsut', 'x'], "unknown option '--trsut'; run `tollgate-verify --help`"],
    [['good.pack', '--trust', 'none.json'], 'there is no file `none.json`'],
    [['good.pack', '--trust', 'bad-trust.json'], 'the trust file is not valid: `keys` is empty'],
    [['good.pack', '--workers', 'many'], '`--workers` must be a whole number'],
  ])('exits with 2 and says what to do: %j', async (args, message) => {
    const { exit, out, err } = await run(...args)
    expect(exit).toBe(2)
    expect(out).toBe('')
    expect(err).toMatch(/^tollgate-verify: /)
    expect(err).toContain(message)
    expect(err).not.toContain('    at ')
  })
})

describe('worker threads', () => {
  it('give the same report as one thread, for true and false packs', async () => {
    const ledger = await createLedger()
    await begin(ledger)
    const policy = ledger.keepPolicy(POLICY_TEXT)
    await ledger.append({ kind: 'policy', policy_hash: policy, name: 'demo', by: 'admin:ann' })
    for (let i = 0; i < 500; i++) await ledger.append(effect((await ledger.append(decision(policy))).id))
    await ledger.sealHead()
    const pack = Buffer.from(await collect(writePack(ledger, { range: { start: 0, end: ledger.size } })))
    await writeFile(join(folder, 'large.pack'), pack)
    // A byte in the base64 signature of the last receipt.
    const end = pack.lastIndexOf('"}]}\n') - 20
    pack[end] = pack[end] === 65 ? 66 : 65
    await writeFile(join(folder, 'large-flipped.pack'), pack)
    for (const name of ['large.pack', 'large-flipped.pack']) {
      const [one, three] = await Promise.all(
        ['0', '3'].map((workers) => run(name, '--trust', 'trust.json', '--json', '--workers', workers)),
      )
      expect(three?.out).toBe(one?.out)
      expect(one?.out).toContain(name === 'large.pack' ? '"level": "verified"' : '"code": "SIGNATURE_WRONG"')
    }
  })
})
