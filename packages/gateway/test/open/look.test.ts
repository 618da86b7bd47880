import { describe, expect, it } from 'vitest'
import { authorize, type ToolCall } from '@tollgate/kernel'
import { setFreeze } from '@tollgate/kernel/admin'
import { foresee, type Explanation } from '@tollgate/kernel/workbench'
import { openLook } from '../../src/open.ts'
import { logBytes } from '../../src/store/sqlite/database.ts'
import { activate, ask, createSite, POLICY } from '../gateway-rig.ts'

const CALL: ToolCall = {
  caller: { tenant: 'default', principal: 'agent:a' },
  door: 'http',
  assurance: 'advised',
  tool: 'notes/read',
  session_id: 's1',
}

describe('a read-only kernel', () => {
  it('decides like the running gateway next to it, and writes nothing', async () => {
    const site = await createSite()
    const gateway = await site.open()
    await activate(gateway, POLICY)
    for (let i = 0; i < 3; i++) await ask(gateway)
    await setFreeze(gateway.kernel, { scope: 'session', target: 's2', frozen: true, by: 'user:test' })
    const size = await gateway.view.size()
    const look = await openLook(gateway.config)
    for (const session_id of ['s1', 's2', 's3']) {
      const here = await foresee(look.kernel, { ...CALL, session_id })
      const there = await foresee(gateway.kernel, { ...CALL, session_id })
      expect(here.judgement).toMatchObject({
        verdict: there.judgement.verdict,
        reason: there.judgement.reason,
        rung: there.judgement.rung,
      })
      const said = ({ rungs }: Explanation): unknown =>
        rungs.map(({ rung, standing, asked, word }) => [rung, standing, asked, word?.reason])
      expect(said(here.explanation)).toEqual(said(there.explanation))
    }
    expect(await gateway.view.size()).toBe(size)
    expect((await ask(gateway)).decided.verdict).toBe('ALLOW')
    await look.close()
    await gateway.close()
  })

  it('sees one snapshot, even if the ledger is written meanwhile', async () => {
    const site = await createSite()
    const gateway = await site.open()
    await activate(gateway, POLICY)
    await ask(gateway)
    const look = await openLook(gateway.config)
    for (let i = 0; i < 20; i++) await ask(gateway)
    await setFreeze(gateway.kernel, { scope: 'all', frozen: true, by: 'user:test' })
    const { judgement } = await foresee(look.kernel, CALL)
    expect(judgement).toMatchObject({ verdict: 'ALLOW', reason: 'RULE_ALLOWED' })
    await look.close()
    const later = await openLook(gateway.config)
    expect((await foresee(later.kernel, CALL)).judgement.reason).toBe('SYSTEM_FROZEN')
    await later.close()
    await gateway.close()
    // A closed snapshot does not prevent a stop from moving the log into the file.
    expect(logBytes(site.config.data)).toBe(0)
  })

  it('refuses to write', async () => {
    const site = await createSite()
    const gateway = await site.open()
    await activate(gateway, POLICY)
    const look = await openLook(gateway.config)
    const { decided } = await authorize(look.kernel, CALL)
    expect(decided.verdict).toBe('DENY')
    expect(decided.receipt).toBeUndefined()
    await expect(
      setFreeze(look.kernel, { scope: 'all', frozen: true, by: 'user:test' }),
    ).rejects.toMatchObject({ code: 'LEDGER_POISONED' })
    await look.close()
    await gateway.close()
  })

  it('uses the given time, but never one before the newest receipt', async () => {
    const site = await createSite()
    const gateway = await site.open()
    await activate(gateway, POLICY)
    await gateway.close()
    const later = Date.now() + 86_400_000
    const ahead = await openLook(gateway.config, later)
    expect((await foresee(ahead.kernel, CALL)).time).toBe(later)
    await ahead.close()
    const behind = await openLook(gateway.config, 0)
    expect((await foresee(behind.kernel, CALL)).time).toBeGreaterThan(Date.now() - 60_000)
    await behind.close()
  })

  it('finds receipts by the beginning of their ids', async () => {
    const site = await createSite()
    const gateway = await site.open()
    await activate(gateway, POLICY)
    const { decided } = await ask(gateway)
    const id = decided.receipt ?? ''
    for (const digits of [id, id.slice(0, 8), id.slice(0, 20)]) {
      expect((await gateway.view.begins(digits)).map((entry) => entry.id)).toEqual([id])
    }
    const other = id.endsWith('0') ? '1' : '0'
    for (const digits of [id.slice(0, 7), `${id.slice(0, 63)}${other}`, 'zzzzzzzz', '']) {
      expect(await gateway.view.begins(digits)).toEqual([])
    }
    await gateway.close()
  })
})
