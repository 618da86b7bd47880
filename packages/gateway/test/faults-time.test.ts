import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseCheckpoint } from '@tollgate/evidence'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { silent } from '../src/log.ts'
import { fsckLedger, openGateway, type Gateway } from '../src/open.ts'
import { createAudit } from './faults-audit.ts'
import { readySite } from './faults-kill.ts'
import { tell } from './faults-rig.ts'
import { ask, newFolder, report, type Site } from './gateway-rig.ts'

const HOUR = 3_600_000
const YEAR = 8766 * HOUR

afterEach(() => {
  vi.useRealTimers()
})

describe('a clock that lies', () => {
  it('never takes the ledger back in time, neither between starts nor while it runs', async () => {
    const site = await readySite()
    const audit = createAudit(site)
    const start = Date.now()
    vi.useFakeTimers({ toFake: ['Date'] })
    const jumps = [0, -HOUR, -YEAR, HOUR, -start, 10 * YEAR, 0, -1, 10 * YEAR + 1]
    for (const jump of jumps) {
      vi.setSystemTime(start + jump)
      const gateway = await site.open()
      const { decided } = await ask(gateway)
      expect(decided.verdict).toBe('ALLOW')
      vi.setSystemTime(start - jump)
      await report(gateway, decided.receipt ?? '').catch(() => undefined)
      await ask(gateway)
      await gateway.close()
      await audit.check([])
      expect(audit.violations).toEqual([])
    }
    vi.useRealTimers()
    const { problems } = await fsckLedger(site.config, () => undefined)
    expect(problems).toEqual([])
    tell('lying clocks', { jumps: 2 * jumps.length, entries: audit.counts.entries, 'steps back': 0 })
  }, 60_000)

  it('does not let a call wait longer for its effect than the ledger says', async () => {
    const site = await readySite()
    const gateway = await site.open()
    vi.useFakeTimers({ toFake: ['Date'] })
    const { decided } = await ask(gateway)
    vi.setSystemTime(Date.now() + HOUR)
    await ask(gateway)
    vi.setSystemTime(Date.now() - 2 * HOUR)
    // Its minute is over by the ledger's own time, whatever the clock says now: what comes is late.
    await report(gateway, decided.receipt ?? '')
    const { entries } = await gateway.view.page({
      filter: { decision: decided.receipt ?? '' },
      direction: 'on',
      limit: 10,
    })
    const said = entries.map(({ payload }) => JSON.parse(Buffer.from(payload).toString()) as object)
    expect(said.slice(1)).toMatchObject([
      { kind: 'effect', status: 'UNKNOWN', cause: 'lost' },
      { kind: 'effect', status: 'COMPLETED', late: true },
    ])
    await gateway.close()
  })
})

/** Opens and closes; so that nothing stays open if it is not refused. */
async function opening(site: Site): Promise<void> {
  const gateway = await site.open()
  await gateway.close()
}

/** Puts a copy of a data directory in its place. */
function restore({ config }: Site, copy: string): void {
  rmSync(config.data, { recursive: true })
  cpSync(copy, config.data, { recursive: true })
}

function openUnguarded({ config, keyring }: Site): Promise<Gateway> {
  return openGateway({ ...config, headGuard: undefined }, keyring, silent)
}

async function goOn(site: Site): Promise<void> {
  const gateway = await site.open()
  expect((await ask(gateway)).decided.verdict).toBe('ALLOW')
  await gateway.close()
}

/** A site, and copies of its data directory at so many points of its life. */
async function copies(count: number): Promise<{ site: Site; taken: string[] }> {
  const site = await readySite()
  const taken: string[] = []
  for (let i = 0; i < count; i++) {
    if (i > 0) await goOn(site)
    const copy = join(newFolder(), 'copy')
    cpSync(site.config.data, copy, { recursive: true })
    taken.push(copy)
  }
  return { site, taken }
}

describe('an older copy of a ledger', () => {
  it('is refused at every point, by its start and by fsck, and signs nothing; the newest goes on', async () => {
    const { site, taken } = await copies(8)
    await goOn(site)
    const newest = join(newFolder(), 'newest')
    cpSync(site.config.data, newest, { recursive: true })
    for (const copy of taken) {
      restore(site, copy)
      await expect(opening(site)).rejects.toMatchObject({ code: 'LEDGER_ROLLED_BACK' })
      const { problems } = await fsckLedger(site.config, () => undefined)
      expect(problems.map(({ code }) => code)).toEqual(['LEDGER_ROLLED_BACK'])
    }
    restore(site, newest)
    await goOn(site)
    tell('older copies', { copies: taken.length, refused: taken.length })
  }, 120_000)

  it('with more of its own on top is refused too: the head that was signed is not its prefix', async () => {
    const { site, taken } = await copies(2)
    const [copy = ''] = taken
    // Without the guard it goes on by itself, and grows beyond what was remembered.
    restore(site, copy)
    const gateway = await openUnguarded(site)
    for (let i = 0; i < 6; i++) await ask(gateway, 'notes/read', { fork: i })
    await gateway.close()
    await expect(opening(site)).rejects.toMatchObject({
      code: 'LEDGER_ROLLED_BACK',
      message: expect.stringMatching(/is not the one/) as string,
    })
  })

  it('passes unnoticed only where the guard is switched off: so it is written', async () => {
    const { site, taken } = await copies(2)
    restore(site, taken[0] ?? '')
    const gateway = await openUnguarded(site)
    expect((await ask(gateway)).decided.verdict).toBe('ALLOW')
    await gateway.close()
  })

  it('is refused if it is older than a checkpoint that was given out, however short ago', async () => {
    const { site, taken } = await copies(1)
    const gateway = await site.open()
    await ask(gateway)
    const { size } = parseCheckpoint(await gateway.checkpoint())
    // What a kill at this moment leaves of the guard.
    const heads = join(newFolder(), 'heads')
    cpSync(guardOf(site), heads, { recursive: true })
    expect(size).toBe(await gateway.view.size())
    await gateway.close()
    restore(site, taken[0] ?? '')
    rmSync(guardOf(site), { recursive: true })
    cpSync(heads, guardOf(site), { recursive: true })
    // The copy is as old as the head that the guard had kept, and older than the one that was given out.
    await expect(opening(site)).rejects.toMatchObject({ code: 'LEDGER_ROLLED_BACK' })
  })
})

function guardOf({ config }: Site): string {
  return config.headGuard ?? expect.fail('the site has no guard')
}
