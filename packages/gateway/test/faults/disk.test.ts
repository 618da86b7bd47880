import { chmodSync, chownSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createAudit } from './audit.ts'
import { fillDisk, fillFile, goesOn, mountDisk, noMount, remount } from './disk.ts'
import { readySite } from './kill.ts'
import { copySite, runLoad, tell } from './rig.ts'
import { ask, newFolder } from '../gateway-rig.ts'

const isRoot = process.getuid?.() === 0
const NOBODY = 65_534

const unmountable = noMount()
if (unmountable !== undefined) tell('SKIPPED: disks of every size', { [unmountable]: 'because' })

describe('a full disk', () => {
  it('at any file size denies all later calls, keeps acknowledged receipts, and permits a new start', async () => {
    let acknowledged = 0
    const limits = [64, 700]
    for (const limit of limits) acknowledged += await fillFile(limit)
    expect(acknowledged).toBeGreaterThan(20)
    tell('file size limits', { limits: limits.length, acknowledged, violations: 0 })
  }, 600_000)

  it.skipIf(unmountable !== undefined)(
    'of any size denies all later calls with a reason; with free space, a new start continues',
    async () => {
      let acknowledged = 0
      const sizes = [150, 900]
      const template = await readySite()
      for (const size of sizes) acknowledged += await fillDisk(template, size)
      expect(acknowledged).toBeGreaterThan(20)
      tell('disks that fill up', { sizes: sizes.length, acknowledged, violations: 0 })
    },
    600_000,
  )
})

describe('a read-only ledger', () => {
  it.skipIf(unmountable !== undefined)('on a read-only mount is refused, with the remedy', async () => {
    const disk = mountDisk(4096)
    const { config, ...rest } = await readySite()
    const site = await copySite({ ...rest, config: { ...config, headGuard: undefined } }, disk)
    remount(disk, 'ro')
    await expect(site.open()).rejects.toMatchObject({
      code: 'STORE_FAILED',
      hints: [expect.stringMatching(/./)],
    })
    remount(disk, 'rw')
    await goesOn(site)
  })

  it.each([
    ['the file', (data: string) => chmodSync(join(data, 'ledger.sqlite'), 0o444)],
    ['the directory', (data: string) => chmodSync(data, 0o555)],
  ])('by the mode of %s is refused, with the remedy', async (_, protect) => {
    const folder = newFolder()
    const site = await copySite(await readySite(), folder)
    if (isRoot) giveAway(folder)
    protect(site.config.data)
    const journals = join(newFolder(), 'journals')
    mkdirSync(journals)
    if (isRoot) giveAway(join(journals, '..'))
    const user = isRoot ? { user: NOBODY } : {}
    const journal = join(journals, 'journal')
    const { lines, stderr } = await runLoad(site, { mode: 'steps', count: 1, journal, ...user })
    chmodSync(site.config.data, 0o700)
    expect(stderr).toBe('')
    expect(lines.map(([what]) => what)).toEqual(['X'])
    expect(String(lines[0]?.slice(1))).toMatch(/STORE_FAILED.*(?:is read-only|cannot be opened)/)
  })
})

/** Root can write anywhere, so the test runs as a user without permission. */
function giveAway(folder: string): void {
  chownSync(folder, NOBODY, NOBODY)
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) giveAway(path)
    else chownSync(path, NOBODY, NOBODY)
  }
}

describe('a disk that hangs', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it('fails after a minute: waiting and later calls are denied, and late writes are not lost', async () => {
    const site = await readySite()
    const gateway = await site.open()
    await ask(gateway)
    const size = await gateway.view.size()
    const hanging = new DatabaseSync(join(site.config.data, 'ledger.sqlite'))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    // A process with the lock delays the writer thread like a disk would.
    hanging.exec('BEGIN IMMEDIATE')
    const waiting = ask(gateway)
    await vi.advanceTimersByTimeAsync(59_000)
    expect(gateway.kernel.ledger.poisoned).toBeUndefined()
    await vi.advanceTimersByTimeAsync(2000)
    expect((await waiting).decided).toMatchObject({ verdict: 'DENY', reason: 'LEDGER_UNAVAILABLE' })
    vi.useRealTimers()
    hanging.exec('ROLLBACK')
    hanging.close()
    const { decided } = await ask(gateway)
    expect(decided).toMatchObject({ verdict: 'DENY', reason: 'LEDGER_UNAVAILABLE', receipt: undefined })
    const cause: unknown = await gateway.kernel.ledger
      .append({ run: () => undefined })
      .catch((e: unknown) => e)
    expect(String((cause as Error).cause)).toMatch(/did not respond for 60 seconds/)
    await vi.waitFor(async () => expect(await gateway.view.size()).toBe(size + 1))
    await expect(gateway.close()).rejects.toMatchObject({ code: 'STORE_FAILED' })
    const audit = createAudit(site)
    await audit.check([])
    expect(audit.violations).toEqual([])
    await goesOn(site)
  }, 600_000)
})
