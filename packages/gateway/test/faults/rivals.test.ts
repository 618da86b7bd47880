import { rmSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { DatabaseSync } from '@photostructure/sqlite'
import { authorize, enforce, openKernel } from '@tollgate/kernel'
import { describe, expect, it } from 'vitest'
import type { Gateway } from '../../src/open.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { createAudit, readJournal, type Line } from './audit.ts'
import { readySite } from './kill.ts'
import { runLoad, startLoad, tell } from './rig.ts'
import { ask, type Site } from '../gateway-rig.ts'

const UNAVAILABLE = { verdict: 'DENY', reason: 'LEDGER_UNAVAILABLE', receipt: undefined }

/** Nothing is allowed any more: no decision, no tool, no checkpoint. */
async function checkGivenUp(gateway: Gateway): Promise<void> {
  expect(gateway.kernel.ledger.poisoned).toMatch(/every call is denied/)
  expect((await ask(gateway)).decided).toMatchObject(UNAVAILABLE)
  let ran = false
  const caller = { tenant: 'default', principal: 'agent:a' }
  const call = { caller, door: 'mcp', assurance: 'enforced', tool: 'notes/read', args: {} } as const
  const { decided, effect } = await enforce(gateway.kernel, call, () => {
    ran = true
    return Promise.reject(new Error('it ran'))
  })
  expect([decided.reason, effect, ran]).toEqual(['LEDGER_UNAVAILABLE', undefined, false])
}

/** A line that says that a gateway stopped because of the ledger. */
function gaveUp([what, why]: Line): boolean {
  return what === 'X' || (what === 'N' && why === 'LEDGER_UNAVAILABLE')
}

/** The ledger is one chain, and the next start continues it. */
async function checkOneLine(site: Site, lines: readonly Line[] = []): Promise<void> {
  const audit = createAudit(site)
  await audit.check(lines)
  expect(audit.violations).toEqual([])
  const gateway = await site.open()
  expect((await ask(gateway)).decided.verdict).toBe('ALLOW')
  await gateway.close()
  await audit.check([])
  expect(audit.violations).toEqual([])
}

describe('two gateways on one ledger', () => {
  it('are impossible: the second is refused, also from another process', async () => {
    const site = await readySite()
    const gateway = await site.open()
    await expect(site.open()).rejects.toMatchObject({ code: 'LEDGER_LOCKED' })
    const { lines, code, stderr } = await runLoad(site, { mode: 'steps', count: 1 })
    expect([code, stderr]).toEqual([3, ''])
    expect(lines[0]?.slice(0, 2)).toEqual(['X', 'LEDGER_LOCKED'])
    expect((await ask(gateway)).decided.verdict).toBe('ALLOW')
    await gateway.close()
    await checkOneLine(site)
  })

  it('write no fork when the lock is removed: one of them is stopped', async () => {
    const site = await readySite()
    const [first, second] = [0, 1].map(() => startLoad(site, { mode: 'storm', held: true }))
    if (!first || !second) throw new Error('there are two')
    first.child.stdin?.write('go\n')
    await first.said('open')
    rmSync(join(site.config.data, 'lock.sqlite'))
    second.child.stdin?.write('go\n')
    await Promise.race([second.said('open'), second.ended])
    await sleep(300)
    for (const load of [first, second]) load.child.kill('SIGKILL')
    await Promise.all([first.ended, second.ended])
    const journals = [first, second].map(({ journal }) => readJournal(journal))
    const stopped = journals.filter((lines) => lines.some((line) => gaveUp(line)))
    expect(stopped.length).toBeGreaterThanOrEqual(1)
    // Calls that are open when the second starts are not closed: the first is still alive.
    const lines = journals.flat().filter(([what]) => what !== 'S')
    await checkOneLine(site, lines)
    tell('two gateways at once', { acknowledged: lines.filter(([what]) => what === 'A').length, forks: 0 })
  }, 60_000)

  const behind: readonly [string, string][] = [
    [
      'an entry and a longer head',
      `INSERT INTO entries SELECT idx + 1, kind, payload, signature FROM entries ORDER BY idx DESC LIMIT 1;
       UPDATE head SET size = size + 1`,
    ],
    [
      'an entry at the next index',
      'INSERT INTO entries SELECT idx + 1, kind, payload, signature FROM entries ORDER BY idx DESC LIMIT 1',
    ],
    ['a longer head', 'UPDATE head SET size = size + 1'],
  ]

  it.each(behind)('stop at %s written by another process', async (_, sql) => {
    const site = await readySite()
    const gateway = await site.open()
    await ask(gateway)
    const size = await gateway.view.size()
    const db = new DatabaseSync(join(site.config.data, 'ledger.sqlite'), { timeout: 5000 })
    db.exec(`BEGIN IMMEDIATE; ${sql}; COMMIT`)
    db.close()
    expect((await ask(gateway)).decided).toMatchObject(UNAVAILABLE)
    await checkGivenUp(gateway)
    await expect(gateway.checkpoint()).rejects.toMatchObject({ code: 'LEDGER_GONE' })
    // Storing the last head on close is refused for the same reason.
    await gateway.close().catch(() => undefined)
    await expect(site.open()).rejects.toMatchObject({ code: 'LEDGER_DAMAGED' })
    expect(size).toBeGreaterThan(0)
  })

  it('in one process with one store write one chain: the second batch is refused', async () => {
    const site = await readySite()
    const { config, keyring } = site
    const seeds = keyring.keys.map(({ seed }) => seed)
    const { data, ledger: origin, writer, headGuard: guard } = config
    const store = await openSqliteStore({ data, origin, writer, seeds, guard })
    const host = { now: () => Date.now(), salt: () => new Uint8Array(32), after: () => () => undefined }
    const options = { store, host, origin, writer, key: store.key ?? '' }
    const kernels = [await openKernel(options), await openKernel(options)]
    const caller = { tenant: 'default', principal: 'agent:a' }
    const call = { caller, door: 'http', assurance: 'advised', tool: 'notes/read', args: {} } as const
    const asked = await Promise.all(kernels.map((kernel) => authorize(kernel, call)))
    await store.close().catch(() => undefined)
    const acknowledged = asked.flatMap(({ decided }) => decided.receipt ?? [])
    expect(acknowledged).toHaveLength(1)
    await checkOneLine(
      site,
      acknowledged.map((id) => ['A', id]),
    )
  })
})

/** The threads of a gateway in order of start: one writes, one reads for the kernel, one reads for others, one signs. */
async function openWithThreads(
  site: Site,
): Promise<Record<'writer' | 'reader' | 'viewer' | 'signer', Worker> & { gateway: Gateway }> {
  const threads: Worker[] = []
  const take = (thread: Worker): void => void threads.push(thread)
  process.on('worker', take)
  const gateway = await site.open({ threads: true })
  process.off('worker', take)
  const [writer, reader, viewer, signer] = threads
  if (!writer || !reader || !viewer || !signer) throw new Error('a gateway has four threads')
  return { gateway, writer, reader, viewer, signer }
}

describe('a thread that dies', () => {
  it('fails all waiting and later calls: the writer', async () => {
    const site = await readySite()
    const { gateway, writer } = await openWithThreads(site)
    const waiting = Array.from({ length: 50 }, () => ask(gateway))
    const died = writer.terminate()
    const reasons = (await Promise.all(waiting)).map(({ decided }) => decided.reason)
    await died
    expect(reasons.at(-1)).toBe('LEDGER_UNAVAILABLE')
    await checkGivenUp(gateway)
    await expect(gateway.checkpoint()).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await expect(gateway.close()).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await checkOneLine(site)
  })

  it('fails every call whose records are not in memory: the reader', async () => {
    const site = await readySite()
    const { gateway, reader } = await openWithThreads(site)
    await reader.terminate()
    expect((await ask(gateway)).decided).toMatchObject(UNAVAILABLE)
    await checkGivenUp(gateway)
    await gateway.close().catch(() => undefined)
    await checkOneLine(site)
  })

  it('fails only reads of the ledger: the reader for views', async () => {
    const site = await readySite()
    const { gateway, viewer } = await openWithThreads(site)
    await viewer.terminate()
    await expect(gateway.view.size()).rejects.toMatchObject({ code: 'STORE_FAILED' })
    const { decided } = await ask(gateway)
    expect(decided.verdict).toBe('ALLOW')
    await gateway.close().catch(() => undefined)
    await checkOneLine(site, [['A', decided.receipt ?? '']])
  })

  it('fails nothing: the signer; the writer signs itself', async () => {
    const site = await readySite()
    const { gateway, signer } = await openWithThreads(site)
    await signer.terminate()
    const asked = await Promise.all(Array.from({ length: 50 }, () => ask(gateway)))
    expect(asked.map(({ decided }) => decided.verdict)).not.toContain('DENY')
    await gateway.close()
    await checkOneLine(
      site,
      asked.map(({ decided }) => ['A', decided.receipt ?? '']),
    )
  })

  it('has the same effect if it dies by an error', async () => {
    const site = await readySite()
    const { gateway, writer } = await openWithThreads(site)
    writer.emit('error', new Error('out of memory'))
    expect((await ask(gateway)).decided).toMatchObject(UNAVAILABLE)
    await checkGivenUp(gateway)
    await gateway.close().catch(() => undefined)
    await checkOneLine(site)
  })
})
