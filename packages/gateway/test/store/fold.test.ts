// The write-ahead log: a clean stop moves it into the file, otherwise it is reported. Also the output of `doctor` and `fsck`
// for a ledger that a start would refuse.

import { copyFileSync, cpSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CHECKS, type DoctorFinding } from '../../src/cli/setup/doctor-checks.ts'
import type { Config } from '../../src/config/config.ts'
import { openKeyring } from '../../src/keyring.ts'
import { foldLedger, fsckLedger, openGateway, openView, unfolded } from '../../src/open.ts'
import { openForReading } from '../../src/store/sqlite/database.ts'
import { activate, ask, createSite, newFolder, report, type Site } from '../gateway-rig.ts'

async function use(site: Site, calls: number): Promise<void> {
  const gateway = await site.open()
  await activate(gateway)
  for (let i = 0; i < calls; i++) await report(gateway, (await ask(gateway)).decided.receipt ?? '')
  await gateway.close()
}

function findings(config: Config, about: string): Promise<readonly DoctorFinding[]> {
  const check = CHECKS.find(([name]) => name === about)?.[1]
  if (!check) throw new Error(`no check \`${about}\``)
  return check(config)
}

/** A copy of a killed gateway, with its log next to its file. */
async function killedSite(): Promise<{ config: Config; size: number }> {
  const site = await createSite()
  const gateway = await site.open()
  await activate(gateway)
  for (let i = 0; i < 20; i++) await report(gateway, (await ask(gateway)).decided.receipt ?? '')
  await gateway.checkpoint()
  const data = join(newFolder(), 'data')
  cpSync(site.config.data, data, { recursive: true })
  const size = await gateway.view.size()
  await gateway.close()
  // Its remembered head has advanced beyond the copy.
  return { config: { ...site.config, data, headGuard: undefined }, size }
}

async function sizeIn(config: Config): Promise<number> {
  const { view, close } = await openView(config)
  const size = await view.size()
  await close()
  return size
}

describe('a clean stop', () => {
  it('leaves no log: the file alone is the whole ledger', async () => {
    const site = await createSite()
    await use(site, 30)
    expect(unfolded(site.config)).toBe(0)
    const data = newFolder()
    copyFileSync(join(site.config.data, 'ledger.sqlite'), join(data, 'ledger.sqlite'))
    expect(await sizeIn({ ...site.config, data })).toBe(await sizeIn(site.config))
    expect(await sizeIn(site.config)).toBeGreaterThan(60)
    expect((await findings(site.config, 'log'))[0]?.level).toBe('ok')
  })

  it('reports if another process reads the ledger, loses nothing, and the next stop moves the log', async () => {
    const site = await createSite()
    const said: string[] = []
    const gateway = await openGateway(site.config, await openKeyring(site.config), (level, line) =>
      said.push(`${level} ${line}`),
    )
    await activate(gateway)
    const reader = openForReading(site.config.data)
    reader.exec('BEGIN')
    reader.prepare('SELECT size FROM head').get()
    await ask(gateway)
    const size = await gateway.view.size()
    await gateway.close()
    expect(said.join('\n')).toMatch(/warn .*still in `ledger.sqlite-wal`.*tollgate fsck --fold/)
    reader.exec('ROLLBACK')
    reader.close()
    expect(unfolded(site.config)).toBeGreaterThan(0)
    expect(await sizeIn(site.config)).toBe(size)
    await (await site.open()).close()
    expect(unfolded(site.config)).toBe(0)
  }, 30_000)
})

describe('a log that was left behind', () => {
  it('is reported by `doctor` and `fsck`, with a command that moves it and works', async () => {
    const { config, size } = await killedSite()
    expect(await fsckLedger(config, () => undefined)).toMatchObject({ ok: true, entries: size })
    expect((await fsckLedger(config, () => undefined)).log).toBeGreaterThan(10_000)
    const [found] = await findings(config, 'log')
    expect(found?.level).toBe('warn')
    expect(found?.remedy?.join()).toContain('tollgate fsck --fold')
    expect(foldLedger(config)).toBe(true)
    expect(unfolded(config)).toBe(0)
    expect(await sizeIn(config)).toBe(size)
    expect((await findings(config, 'log'))[0]?.level).toBe('ok')
  })

  it('is normal while a gateway runs, and is not moved then', async () => {
    const site = await createSite()
    const gateway = await site.open()
    await activate(gateway)
    expect((await findings(site.config, 'log'))[0]?.level).toBe('ok')
    expect(unfolded(site.config)).toBeGreaterThan(0)
    expect(() => foldLedger(site.config)).toThrow(expect.objectContaining({ code: 'LEDGER_LOCKED' }))
    await gateway.close()
  })
})

describe('a ledger that was rolled back', () => {
  it('is found by `doctor` and `fsck` as by a start, with its path and a hint', async () => {
    const site = await createSite()
    await use(site, 1)
    const data = join(newFolder(), 'data')
    cpSync(site.config.data, data, { recursive: true })
    await use(site, 3)
    expect((await findings(site.config, 'ledger'))[0]?.level).toBe('ok')
    const old = { ...site.config, data }
    const start = openGateway(old, await openKeyring(old), () => undefined)
    await expect(start).rejects.toMatchObject({ code: 'LEDGER_ROLLED_BACK' })
    await expect(findings(old, 'ledger')).rejects.toMatchObject({ code: 'LEDGER_ROLLED_BACK' })
    const { ok, problems } = await fsckLedger(old, () => undefined)
    expect(ok).toBe(false)
    expect(problems[0]).toMatchObject({ code: 'LEDGER_ROLLED_BACK' })
    expect(problems[0]?.hints?.length).toBeGreaterThan(0)
  })
})
