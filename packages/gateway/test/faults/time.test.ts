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

describe('a wrong clock', () => {
  it('never sets the ledger back in time, neither between starts nor while it runs', async () => {
    const start = Date.now()
    await checkJumps(start, [-HOUR, -start, 10 * YEAR, -1])
  }, 600_000)

  it('does not extend the time limit of a call', async () => {
    const site = await readySite()
    const gateway = await site.open()
    vi.useFakeTimers({ toFake: ['Date'] })
    const { decided } = await ask(gateway)
    vi.setSystemTime(Date.now() + HOUR)
    await ask(gateway)
    vi.setSystemTime(Date.now() - 2 * HOUR)
    // The minute is over by the ledger's time, so the effect is late.
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
  it('is refused at every point by start and fsck, and signs nothing; the newest copy works', async () => {
    await checkCopies(3)
  }, 600_000)

  it('with new entries is refused too: the signed head is not its prefix', async () => {
    const { site, taken } = await copies(2)
    const [copy = ''] = taken
    // Without the guard it continues, and grows beyond the remembered head.
    restore(site, copy)
    const gateway = await openUnguarded(site)
    for (let i = 0; i < 6; i++) await ask(gateway, 'notes/read', { fork: i })
    await gateway.close()
    await expect(opening(site)).rejects.toMatchObject({
      code: 'LEDGER_ROLLED_BACK',
      message: expect.stringMatching(/differs from the one/) as string,
    })
  })

  it('is accepted only with the guard switched off, as documented', async () => {
    const { site, taken } = await copies(2)
    restore(site, taken[0] ?? '')
    const gateway = await openUnguarded(site)
    expect((await ask(gateway)).decided.verdict).toBe('ALLOW')
    await gateway.close()
  })

  it('is refused if it is older than a published checkpoint, even a very recent one', async () => {
    const { site, taken } = await copies(1)
    const gateway = await site.open()
    await ask(gateway)
    const { size } = parseCheckpoint(await gateway.checkpoint())
    // The state of the guard after a kill at this moment.
    const heads = join(newFolder(), 'heads')
    cpSync(guardOf(site), heads, { recursive: true })
    expect(size).toBe(await gateway.view.size())
    await gateway.close()
    restore(site, taken[0] ?? '')
    rmSync(guardOf(site), { recursive: true })
    cpSync(heads, guardOf(site), { recursive: true })
    // The copy is as old as the stored head, and older than the published one.
    await expect(opening(site)).rejects.toMatchObject({ code: 'LEDGER_ROLLED_BACK' })
  })
})

function guardOf({ config }: Site): string {
  return config.headGuard ?? expect.fail('the site has no guard')
}
