import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseCheckpoint } from '@tollgate/evidence'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { readySite } from './kill.ts'
import { checkCopies, checkJumps, copies, HOUR, opening, openUnguarded, restore, YEAR } from './time.ts'
import { ask, newFolder, report, type Site } from '../gateway-rig.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe('a clock that lies', () => {
  it('never takes the ledger back in time, neither between starts nor while it runs', async () => {
    const start = Date.now()
    await checkJumps(start, [-HOUR, -start, 10 * YEAR, -1])
  }, 600_000)

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

describe('an older copy of a ledger', () => {
  it('is refused at every point, by its start and by fsck, and signs nothing; the newest goes on', async () => {
    await checkCopies(3)
  }, 600_000)

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
