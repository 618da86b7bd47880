// Repeated `kill -9` under load on one ledger.

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { fsckLedger } from '../../src/open.ts'
import { createAudit, readJournal, type Audit } from './audit.ts'
import { copySite, randomFrom, startLoad, tell, type Load } from './rig.ts'
import { activate, createSite, type Site } from '../gateway-rig.ts'

/** The number of kills and their probabilities. */
export interface KillOptions {
  readonly loops: number
  readonly seed: number
  /** The whole ledger is checked after this many kills. */
  readonly fsckEvery: number
}

export interface KillReport {
  readonly kills: number
  /** Kills before the gateway was open: during recovery. */
  readonly early: number
  readonly audit: Audit
}

/** A stopped site with a policy in force, its ledger in one file. */
export async function readySite(): Promise<Site> {
  if (made === undefined || !existsSync((await made).config.data)) made = makeReadySite()
  return copySite(await made)
}

// One for all tests of a file, removed after them.
let made: Promise<Site> | undefined

async function makeReadySite(): Promise<Site> {
  const site = await createSite()
  const gateway = await site.open()
  await activate(gateway)
  await gateway.close()
  settle(site)
  return site
}

/** Moves the write-ahead log of a stopped ledger into its file. */
export function settle({ config }: Site): void {
  const file = join(config.data, 'ledger.sqlite')
  const db = new DatabaseSync(file)
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true })
}

/** Kills a gateway under load, checks its ledger, and starts the next one on it. */
export async function killLoops({ loops, seed, fsckEvery }: KillOptions): Promise<KillReport> {
  const site = await readySite()
  const audit = createAudit(site)
  const random = randomFrom(seed)
  let early = 0
  // The next process is already started and waits, because starting Node takes long.
  let next = startLoad(site, { mode: 'storm', held: true })
  for (let kill = 1; kill <= loops; kill++) {
    const load = next
    await said(load, 'here')
    const opened = said(load, 'open')
    load.child.stdin?.write('go\n')
    next = startLoad(site, { mode: 'storm', held: true })
    // One in five is killed while it opens the ledger and closes the calls of the previous run.
    if (random() < 0.2) await Promise.race([opened, sleep(random() * 150)])
    else await opened.then(() => wrote(load, 1 + Math.floor(random() * 120)))
    load.child.kill('SIGKILL')
    const { code, stderr } = await load.ended
    if (code !== 'SIGKILL') audit.violations.push(`it ended by itself: ${code} ${stderr}`)
    const lines = readJournal(load.journal)
    if (!lines.some(([what]) => what === 'S')) early++
    for (const line of lines) if (['N', 'T', 'X', 'R', 'L'].includes(String(line[0]))) complain(audit, line)
    await audit.check(lines)
    if (kill % fsckEvery === 0 || kill === loops) await checkAll(site, audit)
  }
  next.child.kill('SIGKILL')
  await next.ended
  tell('kill -9', {
    kills: loops,
    'of them while opening': early,
    ...audit.counts,
    violations: audit.violations.length,
    'as seed': seed,
  })
  return { kills: loops, early, audit }
}

/** Waits until a process prints a word or ends. */
async function said(load: Load, word: string): Promise<void> {
  await Promise.race([load.said(word), load.ended])
}

/** Waits until a process has written this many journal lines or has ended. */
async function wrote({ child, journal }: Load, lines: number): Promise<void> {
  const count = (): number => readFileSync(journal, 'utf8').split('\n').length - 1
  while (child.exitCode === null && child.signalCode === null && count() < lines) await sleep(2)
}

/** Only kills happen to these gateways, so none may refuse anything. */
function complain({ violations }: Audit, line: readonly unknown[]): void {
  violations.push(`a gateway refused or failed: ${JSON.stringify(line)}`)
}

async function checkAll({ config }: Site, audit: Audit): Promise<void> {
  audit.reread()
  const { problems } = await fsckLedger(config, () => undefined)
  for (const problem of problems) audit.violations.push(`fsck: ${JSON.stringify(problem)}`)
}
