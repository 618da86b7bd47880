import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setFreeze } from '@tollgate/kernel/admin'
import { describe, expect, it } from 'vitest'
import { silent } from '../../src/log.ts'
import { fsckLedger, type Gateway } from '../../src/open.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { forgetKept, forgetOld, guardDisk, type UpkeepOptions, type UpkeepStore } from '../../src/upkeep.ts'
import { activate, ask, createSite, report, type Site } from '../gateway-rig.ts'

const DAY = 86_400_000

async function openSite(): Promise<{ site: Site; gateway: Gateway }> {
  const site = await createSite()
  const gateway = await site.open()
  await activate(gateway)
  return { site, gateway }
}

/** Upkeep of a gateway as if it were this many days later. */
function later(gateway: Gateway, days: number): UpkeepOptions {
  const { kernel, config } = gateway
  const host = { ...kernel.host, now: () => Date.now() + days * DAY }
  return {
    kernel: { ...kernel, host },
    store: kernel.store as unknown as UpkeepStore,
    config: { ...config, retention: { sessions: 30 * DAY } },
    log: silent,
  }
}

const kindsOf = async ({ view }: Gateway, limit: number): Promise<string[]> => {
  const { entries } = await view.page({ filter: {}, direction: 'back', limit })
  return entries.map(({ payload }) => (JSON.parse(Buffer.from(payload).toString()) as { kind: string }).kind)
}

describe('retention', () => {
  it('closes idle sessions with a receipt, removes their state, and they can start again', async () => {
    const { site, gateway } = await openSite()
    for (const session of ['s1', 's2'])
      await report(gateway, (await ask(gateway, 'notes/write', {}, session)).decided.receipt ?? '')
    expect(await gateway.view.recordNames('session\n')).toHaveLength(2)
    await forgetOld(later(gateway, 29))
    expect(await gateway.view.recordNames('session\n')).toHaveLength(2)
    await forgetOld(later(gateway, 31))
    expect(await gateway.view.recordNames('session\n')).toHaveLength(0)
    expect(await kindsOf(gateway, 3)).toEqual(['session', 'session', 'effect'])
    expect((await ask(gateway, 'notes/write', {}, 's1')).decided.verdict).toBe('ALLOW')
    await gateway.close()
    const again = await site.open()
    const { decided } = await ask(again, 'notes/write', {}, 's2')
    expect(decided.verdict).toBe('ALLOW')
    const { payload } = (await again.view.find(decided.receipt ?? '')) ?? {}
    expect(JSON.parse(Buffer.from(payload ?? []).toString())).toMatchObject({ session: { id: 's2', seq: 1 } })
    await again.close()
    const { problems } = await fsckLedger(site.config, () => undefined)
    expect(problems).toEqual([])
  })

  it('removes kept calls after their time, oldest first, and leaves nothing of them in the file', async () => {
    const site = await createSite({ keep: { calls: DAY } })
    const gateway = await site.open()
    await activate(gateway)
    for (let i = 0; i < 40; i++) await ask(gateway, 'notes/read', { text: `marked-${i}-${'x'.repeat(9000)}` })
    expect(await gateway.view.recordNames('kept\n')).toHaveLength(40)
    await forgetKept(later(gateway, 0))
    expect(await gateway.view.recordNames('kept\n')).toHaveLength(40)
    await forgetKept(later(gateway, 2))
    expect(await gateway.view.recordNames('kept\n')).toEqual([])
    await gateway.close()
    // The log is moved into the file and reused.
    const db = openDatabase(site.config.data)
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    db.close()
    const left = readFileSync(join(site.config.data, 'ledger.sqlite'))
    for (const text of ['marked-', 'sealed:']) expect(left.includes(text), text).toBe(false)
  })

  it('keeps no calls while the disk has little space, and resumes when it has more', async () => {
    const site = await createSite({ keep: { calls: DAY } })
    const gateway = await site.open()
    await activate(gateway)
    const kept = async (): Promise<number> => (await gateway.view.recordNames('kept\n')).length
    const options = later(gateway, 0)
    await guardDisk({ ...options, free: () => 1 << 29 })
    await ask(gateway, 'notes/read')
    expect(await kept()).toBe(0)
    await guardDisk({ ...options, free: () => 2 ** 31 })
    await ask(gateway, 'notes/read')
    expect(await kept()).toBe(1)
    await gateway.close()
  })

  it('does not close a session that was used in the meantime', async () => {
    const { gateway } = await openSite()
    await ask(gateway, 'notes/read', {}, 's1')
    const options = later(gateway, 31)
    const store: UpkeepStore = {
      // Read before the call in between.
      namesBefore: (...args) => options.store.namesBefore(...args),
      present: () => options.store.present(),
      async idle(prefix, time, limit, after) {
        const found = await options.store.idle(prefix, time, limit, after)
        if (prefix === 'session\n') await ask(gateway, 'notes/read', {}, 's1')
        return found
      },
    }
    await forgetOld({ ...options, store })
    expect(await gateway.view.recordNames('session\n')).toHaveLength(1)
    expect(await kindsOf(gateway, 1)).toEqual(['decision'])
    await gateway.close()
  })

  it('keeps the default session of a principal for a week, even with a shorter retention', async () => {
    const { gateway } = await openSite()
    const principal = 'agent:a'
    for (const session of [`mcp:${'0'.repeat(32)}`, principal, 's1'])
      await ask(gateway, 'notes/read', {}, session)
    const brief = (days: number): UpkeepOptions => {
      const options = later(gateway, days)
      return { ...options, config: { ...options.config, retention: { sessions: DAY } } }
    }
    const names = () => gateway.view.recordNames('session\n')
    expect(await names()).toHaveLength(2)
    await forgetOld(brief(6))
    expect(await names()).toEqual([`session\ndefault\n${principal}\n${principal}`])
    await forgetOld(brief(8))
    expect(await names()).toEqual([])
    await gateway.close()
  })

  it('removes salts of old receipts, and proofs stay valid', async () => {
    const site = await createSite({ commit: 'salted' })
    const gateway = await site.open()
    await activate(gateway)
    await report(gateway, (await ask(gateway)).decided.receipt ?? '')
    expect(await gateway.view.recordNames('salt\n')).toHaveLength(2)
    await forgetOld(later(gateway, 31))
    expect(await gateway.view.recordNames('salt\n')).toHaveLength(0)
    await gateway.close()
    expect(await fsckLedger(site.config, () => undefined)).toMatchObject({ ok: true })
  })

  it('denies side effects in a session whose record was erased without being closed', async () => {
    const { site, gateway } = await openSite()
    await ask(gateway, 'notes/write')
    await gateway.close()
    const db = openDatabase(site.config.data)
    db.exec("DELETE FROM records WHERE name LIKE 'session%'")
    db.close()
    const again = await site.open()
    expect((await ask(again, 'notes/write')).decided).toMatchObject({ verdict: 'DENY' })
    expect((await ask(again, 'notes/write', {}, 's9')).decided).toMatchObject({ verdict: 'ALLOW' })
    await again.close()
  })
})

describe('a disk that is nearly full', () => {
  it('freezes everything once, while there is still space to record it', async () => {
    const { gateway } = await openSite()
    const options = { ...later(gateway, 0), free: () => 1000 }
    await guardDisk(options)
    await guardDisk(options)
    expect((await kindsOf(gateway, 2))[0]).toBe('freeze')
    expect((await kindsOf(gateway, 2))[1]).toBe('policy')
    expect((await ask(gateway)).decided).toMatchObject({ verdict: 'DENY', reason: 'SYSTEM_FROZEN' })
    await setFreeze(gateway.kernel, { scope: 'all', frozen: false, by: 'user:olga' })
    expect((await ask(gateway)).decided.verdict).toBe('ALLOW')
    await gateway.close()
  })

  it('causes no freeze while there is space', async () => {
    const { gateway } = await openSite()
    await guardDisk({ ...later(gateway, 0), free: () => 1 << 30 })
    expect(await kindsOf(gateway, 1)).toEqual(['policy'])
    await gateway.close()
  })
})

describe('a store', () => {
  it('reports that it was closed instead of hanging', async () => {
    const { site, gateway } = await openSite()
    await gateway.close()
    const { data, ledger: origin, writer, headGuard: guard } = site.config
    const seeds = site.keyring.keys.map(({ seed }) => seed)
    const store = await openSqliteStore({ data, origin, writer, seeds, guard })
    await store.close()
    await expect(store.load(['x'])).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await expect(store.checkpoint()).rejects.toMatchObject({ code: 'STORE_FAILED' })
  })
})
