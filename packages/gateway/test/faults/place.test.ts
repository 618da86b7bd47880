// Ledger files that are removed or changed while in use. The open file still accepts every commit.

import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { openKeyring } from '../../src/keyring.ts'
import { describe, expect, it } from 'vitest'
import { untilPoisoned } from '../../src/cli/setup/run-gateway.ts'
import type { Log } from '../../src/log.ts'
import { openGateway, type Gateway } from '../../src/open.ts'
import { openPlace, type LedgerPlace } from '../../src/store/sqlite/place.ts'
import { serve } from '../../src/serve.ts'
import { noMount } from './disk.ts'
import { tell } from './rig.ts'
import { activate, ask, createSite, newFolder, type Site } from '../gateway-rig.ts'

const unmountable = noMount()
if (unmountable !== undefined) tell('SKIPPED: a disk mounted over the data', { [unmountable]: 'because' })

const LEDGER = 'ledger.sqlite'
const all = ['', '-wal', '-shm'].map((end) => `${LEDGER}${end}`)

/** Replaces a file by a copy. */
function replace(path: string): void {
  cpSync(path, `${path}.copy`, { recursive: true })
  renameSync(path, `${path}.old`)
  renameSync(`${path}.copy`, path)
}

type RequestedAction = readonly [what: string, change: (data: string) => void, because: RegExp]

const ACTION_WORDS: readonly RequestedAction[] = [
  [
    'all its files are removed',
    (data) => all.forEach((name) => rmSync(join(data, name))),
    /`ledger.sqlite` was removed/,
  ],
  ['its file is removed', (data) => rmSync(join(data, LEDGER)), /`ledger.sqlite` was removed/],
  ['its log is removed', (data) => rmSync(join(data, `${LEDGER}-wal`)), /`ledger.sqlite-wal` was removed/],
  [
    'the memory of its log is removed',
    (data) => rmSync(join(data, `${LEDGER}-shm`)),
    /`ledger.sqlite-shm` was removed/,
  ],
  ['its lock is removed', (data) => rmSync(join(data, 'lock.sqlite')), /`lock.sqlite` was removed/],
  [
    'its file is renamed',
    (data) => renameSync(join(data, LEDGER), join(data, 'other')),
    /`ledger.sqlite` was removed or renamed/,
  ],
  ['its file is replaced by a copy', (data) => replace(join(data, LEDGER)), /`ledger.sqlite` was replaced/],
  [
    'its log is replaced by a copy',
    (data) => replace(join(data, `${LEDGER}-wal`)),
    /`ledger.sqlite-wal` was replaced/,
  ],
  ['its directory is removed', (data) => rmSync(data, { recursive: true }), /the data directory was removed/],
  [
    'its directory is renamed',
    (data) => renameSync(data, `${data}-other`),
    /the data directory was removed or renamed/,
  ],
  ['its directory is replaced by a copy', (data) => replace(data), /the data directory was replaced/],
  [
    'an empty directory is put in its place',
    (data) => {
      renameSync(data, `${data}-other`)
      mkdirSync(data)
    },
    /the data directory was replaced/,
  ],
  [
    'its log is emptied',
    (data) => truncateSync(join(data, `${LEDGER}-wal`)),
    /`ledger.sqlite-wal` was emptied/,
  ],
  ['its file is emptied', (data) => truncateSync(join(data, LEDGER)), /`ledger.sqlite` was emptied/],
  [
    'its log is cut short',
    (data) => truncateSync(join(data, `${LEDGER}-wal`), 100),
    /`ledger.sqlite-wal` was emptied or written to/,
  ],
  [
    'a copy is written over its file, as `cp` does',
    (data) => writeFileSync(join(data, LEDGER), readFileSync(join(data, LEDGER))),
    /`ledger.sqlite` was emptied or written to/,
  ],
]

async function open(site: Site, log: Log = () => undefined): Promise<Gateway> {
  const gateway = await openGateway(site.config, await openKeyring(site.config), log)
  await activate(gateway)
  return gateway
}

/** The answers of all calls and `/readyz` from now on. */
async function expectGivenUp(gateway: Gateway, because: RegExp): Promise<void> {
  const { decided } = await ask(gateway)
  expect(decided).toMatchObject({ verdict: 'DENY', reason: 'LEDGER_UNAVAILABLE', receipt: undefined })
  expect(gateway.kernel.ledger.cause).toMatchObject({ code: 'LEDGER_GONE' })
  expect(String(gateway.kernel.ledger.cause)).toMatch(because)
  const { kernel, view, tokens, config } = gateway
  const served = await serve(
    {
      kernel,
      view,
      tokens,
      checkpoint: () => gateway.checkpoint(),
      watch: (listener) => gateway.watch(listener),
      policyFile: () => undefined,
      version: 'test',
      log: () => undefined,
      limits: { body: config.limits.body },
    },
    config.listen,
  )
  const response = await globalThis.fetch(`${served.url}/readyz`)
  const text = await response.text()
  await served.close()
  expect(response.status).toBe(503)
  expect(text).toMatch(because)
  expect(text).not.toContain(config.data)
}

describe('a ledger in use', () => {
  it.each(ACTION_WORDS)(
    'is poisoned when %s: the next call is denied, with the reason',
    async (_, change, because) => {
      const gateway = await open(await createSite())
      expect((await ask(gateway)).decided.verdict).toBe('ALLOW')
      change(gateway.config.data)
      await expectGivenUp(gateway, because)
      await expect(gateway.close()).rejects.toThrow()
    },
  )

  it.skipIf(unmountable !== undefined)('is poisoned when a disk is mounted over its directory', async () => {
    const gateway = await open(await createSite())
    const { data } = gateway.config
    expect(spawnSync('mount', ['-t', 'tmpfs', 'none', data]).status).toBe(0)
    try {
      await expectGivenUp(
        gateway,
        /the data directory was replaced by another one, or something was mounted over it/,
      )
    } finally {
      spawnSync('umount', ['-l', data])
    }
    await expect(gateway.close()).rejects.toThrow()
  })

  it('is poisoned without any call, and the log says what happened and what to do', async () => {
    const said: [string, string, Readonly<Record<string, unknown>> | undefined][] = []
    const log: Log = (...line) => void said.push([line[0], line[1], line[2]])
    const gateway = await open(await createSite(), log)
    const ended = untilPoisoned({ gateway, url: '', close: () => gateway.close() }, log)
    for (const name of all) rmSync(join(gateway.config.data, name))
    expect(await ended).toBe(1)
    const [level, , fields] = said.find(([each]) => each === 'error') ?? []
    expect(level).toBe('error')
    expect(String(fields?.because)).toMatch(
      /`ledger.sqlite` was removed or renamed while the gateway had it open/,
    )
    expect(String(fields?.remedy)).toContain(gateway.config.data)
  })

  it('never answers ALLOW if the receipt was written to a removed file', async () => {
    const site = await createSite()
    const gateway = await open(site)
    const copy = newFolder()
    const asked = Array.from({ length: 200 }, (_, i) => ask(gateway, 'notes/read', {}, `s${i % 7}`))
    renameSync(join(gateway.config.data, LEDGER), join(copy, LEDGER))
    const settled = await Promise.all(asked)
    // Everything allowed before the removal is in the file, wherever it is now.
    const later = await Promise.all(Array.from({ length: 50 }, () => ask(gateway)))
    expect(later.map(({ decided }) => decided.verdict)).not.toContain('ALLOW')
    expect(settled).toHaveLength(200)
    expect(existsSync(join(copy, LEDGER))).toBe(true)
    await expect(gateway.close()).rejects.toThrow()
  })

  it('does not answer ALLOW for long while its log is emptied repeatedly under load', async () => {
    const gateway = await open(await createSite())
    const log = join(gateway.config.data, `${LEDGER}-wal`)
    let given = 0
    while (gateway.kernel.ledger.cause === undefined && given++ < 100) {
      const asked = Array.from({ length: 50 }, (_, i) => ask(gateway, 'notes/read', {}, `s${i % 7}`))
      await asked[0]
      truncateSync(log)
      await Promise.all(asked)
    }
    expect(gateway.kernel.ledger.cause).toMatchObject({ code: 'LEDGER_GONE' })
    expect(given).toBeLessThanOrEqual(2)
    await expect(gateway.close()).rejects.toThrow()
  })
})

describe('the files of a ledger', () => {
  it.each(ACTION_WORDS)('are reported when %s', (_, change, because) => {
    const data = join(newFolder(), 'data')
    mkdirSync(data)
    // Open, as in use, so that their numbers cannot be reused for other files.
    const open = [...all, 'lock.sqlite'].map((name) => openSync(join(data, name), 'w'))
    open.forEach((descriptor) => writeSync(descriptor, 'x'.repeat(200)))
    const place = openPlace(data)
    place.check()
    change(data)
    expect(() => place.check()).toThrow(because)
    open.forEach(closeSync)
  })

  it('are reported at the start if one is missing', () => {
    expect(() => openPlace(newFolder())).toThrow(/`ledger.sqlite` was removed/)
  })

  it('may have other links, and may be changed by commits', () => {
    const { data, place } = placeWith(LOG_HEAD)
    linkSync(join(data, LEDGER), join(data, 'link'))
    expect(() => place.check()).not.toThrow()
    appendFileSync(join(data, `${LEDGER}-wal`), 'a page')
    place.committed()
    expect(() => place.check()).not.toThrow()
    appendFileSync(join(data, LEDGER), 'a page')
    place.moved()
    expect(() => place.check()).not.toThrow()
  })

  it('are reported when the log is emptied during a commit, which leaves no header', () => {
    const { data, place } = placeWith(LOG_HEAD)
    truncateSync(join(data, `${LEDGER}-wal`))
    truncateSync(join(data, `${LEDGER}-wal`), 5000)
    expect(() => place.committed()).toThrow(/`ledger.sqlite-wal` was emptied or written to/)
  })

  it('are reported when the file changes although only the log was written', () => {
    const { data, place } = placeWith(LOG_HEAD)
    appendFileSync(join(data, LEDGER), 'a page')
    expect(() => place.committed()).toThrow(/`ledger.sqlite` was emptied or written to/)
  })

  it('are missed when the log is changed by what only changes the file', () => {
    const { data, place } = placeWith(LOG_HEAD)
    appendFileSync(join(data, `${LEDGER}-wal`), 'a page')
    expect(() => place.moved()).toThrow(/`ledger.sqlite-wal` was emptied or written to/)
  })
})

const LOG_HEAD = Buffer.from('377f0683', 'hex')

/** Files of which only the log begins as it must. */
function placeWith(log: Uint8Array): { readonly data: string; readonly place: LedgerPlace } {
  const data = newFolder()
  for (const name of [...all, 'lock.sqlite'])
    writeFileSync(join(data, name), name.endsWith('-wal') ? log : 'x')
  return { data, place: openPlace(data) }
}
