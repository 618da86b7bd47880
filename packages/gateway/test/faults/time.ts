// Invariants for a wrong clock and for older copies of a ledger, over any number of jumps and copies.

import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { silent } from '../../src/log.ts'
import { fsckLedger, openGateway, type Gateway } from '../../src/open.ts'
import { createAudit } from './audit.ts'
import { readySite } from './kill.ts'
import { tell } from './rig.ts'
import { ask, newFolder, report, type Site } from '../gateway-rig.ts'

export const HOUR = 3_600_000
export const YEAR = 8766 * HOUR

/** Checks that clock jumps never set the ledger back in time, neither between starts nor while it runs. */
export async function checkJumps(start: number, jumps: readonly number[]): Promise<void> {
  const site = await readySite()
  const audit = createAudit(site)
  vi.useFakeTimers({ toFake: ['Date'] })
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
}

/** Opens and closes, so that nothing stays open if it is not refused. */
export async function opening(site: Site): Promise<void> {
  const gateway = await site.open()
  await gateway.close()
}

/** Replaces a data directory by a copy. */
export function restore({ config }: Site, copy: string): void {
  rmSync(config.data, { recursive: true })
  cpSync(copy, config.data, { recursive: true })
}

export function openUnguarded({ config, keyring }: Site): Promise<Gateway> {
  return openGateway({ ...config, headGuard: undefined }, keyring, silent)
}

export async function goOn(site: Site): Promise<void> {
  const gateway = await site.open()
  expect((await ask(gateway)).decided.verdict).toBe('ALLOW')
  await gateway.close()
}

/** A site, and copies of its data directory at several points in time. */
export async function copies(count: number): Promise<{ site: Site; taken: string[] }> {
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

/** Checks that every copy is refused by start and fsck, and that the newest works. */
export async function checkCopies(count: number): Promise<void> {
  const { site, taken } = await copies(count)
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
}
