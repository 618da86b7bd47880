import { cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openProof, inclusionProof, formatProof, parseTrust, parseCheckpoint } from '@tollgate/evidence'
import { beforeAll, describe, expect, it } from 'vitest'
import { createKey } from '../src/keyring.ts'
import { silent } from '../src/log.ts'
import { backupLedger, fsckLedger, isRunning, openGateway, openView } from '../src/open.ts'
import { rotateKey } from '../src/rotate.ts'
import { openDatabase } from '../src/store/sqlite/database.ts'
import { activate, ask, createSite, newFolder, report, type Site } from './gateway-rig.ts'

/** A site with `calls` reported calls on its ledger, closed again. */
async function usedSite(calls = 3): Promise<Site> {
  const site = await createSite()
  const gateway = await site.open()
  await activate(gateway)
  const asked = await Promise.all(Array.from({ length: calls }, () => ask(gateway)))
  for (const { decided } of asked) expect(decided.verdict).toBe('ALLOW')
  await Promise.all(asked.map(({ decided }) => report(gateway, decided.receipt ?? '')))
  await gateway.close()
  return site
}

/** Changes the ledger file behind everybody's back. */
function tamper({ data }: { readonly data: string }, sql: string): void {
  const db = openDatabase(data)
  const triggers = db.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").all()
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${String(name)}`)
  db.exec(sql)
  for (const trigger of triggers) db.exec(String(trigger.sql))
  db.close()
}

const opening = async (site: Site): Promise<unknown> => {
  const gateway = await site.open()
  await gateway.close()
  return undefined
}

describe('a gateway on its data directory', () => {
  it('goes on where it was, with the same policy and the same tokens', async () => {
    const site = await usedSite()
    const first = await site.open()
    const { token } = await first.tokens.issue(
      { role: 'agent', tenant: 'default', principal: 'agent:a' },
      'user:test',
    )
    const { token: passing } = await first.tokens.issue(
      { role: 'agent', tenant: 'default', principal: 'agent:b', run: true },
      'user:test',
    )
    expect(first.tokens.identify(passing)?.principal).toBe('agent:b')
    const size = await first.view.size()
    await first.close()
    const second = await site.open()
    expect(await second.view.size()).toBe(size + 1)
    expect(second.tokens.identify(token)?.principal).toBe('agent:a')
    expect(second.tokens.identify(passing)).toBeUndefined()
    expect((await ask(second)).decided.verdict).toBe('ALLOW')
    await second.close()
  })

  it('closes what a crash left open as UNKNOWN, with a recovery receipt', async () => {
    const site = await usedSite(0)
    const gateway = await site.open()
    const caller = { tenant: 'default', principal: 'agent:a' }
    const { authorize } = await import('@tollgate/kernel')
    await authorize(gateway.kernel, {
      caller,
      door: 'mcp',
      assurance: 'enforced',
      tool: 'notes/read',
      args: {},
    })
    await gateway.close()
    const again = await site.open()
    const { entries } = await again.view.page({ filter: {}, direction: 'back', limit: 2 })
    const kinds = entries.map(
      ({ payload }) => JSON.parse(Buffer.from(payload).toString()) as Record<string, unknown>,
    )
    expect(kinds[0]).toMatchObject({ kind: 'recovery', closed: 1 })
    expect(kinds[1]).toMatchObject({ kind: 'effect', status: 'UNKNOWN', cause: 'crash' })
    await again.close()
  })

  it('finds receipts by id, by page and by filter', async () => {
    const site = await usedSite(700)
    const { view, close } = await openView(site.config)
    const size = await view.size()
    const { entries, next } = await view.page({ filter: { kind: 'effect' }, direction: 'on', limit: 10 })
    expect(entries).toHaveLength(10)
    expect(next).toBe((entries.at(-1)?.index ?? 0) + 1)
    for (const entry of entries) expect(await view.find(entry.id)).toEqual(entry)
    expect(await view.find('0'.repeat(64))).toBeUndefined()
    const own = await view.page({ filter: { principal: 'agent:a' }, direction: 'back', limit: 1000 })
    expect(own.entries).toHaveLength(1000)
    const rest = await view.page({
      filter: { principal: 'agent:a' },
      direction: 'back',
      limit: 1000,
      from: own.next ?? 0,
    })
    expect(rest.entries).toHaveLength(400)
    expect(rest.next).toBeUndefined()
    const decision = rest.entries.at(-1)
    const pair = await view.page({ filter: { decision: decision?.id ?? '' }, direction: 'on', limit: 10 })
    expect(pair.entries).toHaveLength(2)
    const keys = await view.page({ filter: { kind: 'key' }, direction: 'back', limit: 10 })
    expect(keys).toMatchObject({ entries: [{ index: 1 }], next: undefined })
    expect(await view.indexesOf(['genesis', 'key'])).toEqual([0, 1])
    expect((await view.indexesOf(['decision', 'effect'])).length).toBe(1400)
    expect(size).toBe(1403)
    await close()
  })

  it('proves every receipt under the checkpoint it has kept', async () => {
    const site = await usedSite(300)
    const { view, trust, close } = await openView(site.config)
    const checkpoint = (await view.checkpoint()) ?? ''
    const { size, root } = parseCheckpoint(checkpoint)
    expect(size).toBe(await view.size())
    expect(await view.rootAt(size)).toEqual(root)
    const keys = { ledger: (await parseTrust(await trust())).keys }
    for (let index = 0; index < size; index++) {
      const [envelope] = await view.envelopes(index, index + 1)
      const hashes = await inclusionProof(index, size, view.node)
      const proof = formatProof({ index, hashes, checkpoint })
      const opened = await openProof(proof, envelope ?? new Uint8Array(), keys)
      expect(opened).toMatchObject({ index, checkpoint: { size } })
    }
    await close()
  })

  it('lets nobody else write while it runs, and anybody read', async () => {
    const site = await usedSite()
    const gateway = await site.open()
    expect(await isRunning(site.config)).toBe(true)
    await expect(site.open()).rejects.toMatchObject({ code: 'LEDGER_LOCKED' })
    const { view, close } = await openView(site.config)
    expect(await view.size()).toBe(await gateway.view.size())
    await close()
    await gateway.close()
    expect(await isRunning(site.config)).toBe(false)
  })

  it('refuses a ledger that is older than the head it remembers', async () => {
    const site = await usedSite()
    const copy = join(newFolder(), 'copy')
    cpSync(site.config.data, copy, { recursive: true })
    const gateway = await site.open()
    await ask(gateway)
    await gateway.close()
    rmSync(site.config.data, { recursive: true })
    cpSync(copy, site.config.data, { recursive: true })
    await expect(opening(site)).rejects.toMatchObject({ code: 'LEDGER_ROLLED_BACK' })
    const { problems } = await fsckLedger(site.config, () => undefined)
    expect(problems.map(({ code }) => code)).toEqual(['LEDGER_ROLLED_BACK'])
  })

  it('refuses to go on without a key that is in service', async () => {
    const site = await usedSite()
    const [ledger] = site.keyring.keys
    const stranger = await createKey(newFolder(), 'writer')
    const keyring = { keys: [ledger, stranger].filter((key) => key !== undefined) }
    await expect(openGateway(site.config, keyring, silent)).rejects.toMatchObject({ code: 'KEY_UNUSABLE' })
  })
})

describe('keys', () => {
  it.each(['writer', 'ledger'] as const)(
    'change on the record, and old receipts still verify: %s',
    async (role) => {
      const site = await usedSite()
      const fresh = await createKey(site.config.data, role)
      const { added, retired } = await rotateKey(site.config, site.keyring, fresh)
      expect(added).toBe(fresh.publicKey.id)
      const kept = site.keyring.keys.filter(({ publicKey }) => publicKey.id !== retired)
      const keyring = { keys: [...kept, fresh] }
      const gateway = await openGateway(site.config, keyring, silent)
      expect((await ask(gateway)).decided.verdict).toBe('ALLOW')
      await gateway.close()
      expect(await fsckLedger(site.config, () => undefined)).toMatchObject({
        ok: true,
        problems: [],
        verified: 12,
      })
    },
  )
})

describe('fsck', () => {
  it('finds nothing wrong with a ledger that is right', async () => {
    const site = await usedSite(600)
    const report = await fsckLedger(site.config, () => undefined)
    expect(report).toEqual({ ok: true, entries: 1203, verified: 1203, problems: [], more: 0 })
  })

  const crimes: readonly [string, string, RegExp][] = [
    [
      'an entry changed',
      "UPDATE entries SET payload = CAST(replace(payload, 'agent:a', 'agent:b') AS BLOB) WHERE idx = 5",
      /HEAD_WRONG|TILE/,
    ],
    ['a signature changed', 'UPDATE entries SET signature = zeroblob(64) WHERE idx = 4', /HEAD_WRONG/],
    ['an entry removed', 'DELETE FROM entries WHERE idx = 4', /ENTRY_MISSING/],
    [
      'the tail cut',
      'DELETE FROM entries WHERE idx > 5; UPDATE head SET size = 6',
      /LEDGER_DAMAGED|HEAD_WRONG/,
    ],
    ['a tile changed', 'UPDATE tiles SET root = zeroblob(32)', /TILE_WRONG/],
    ['ids changed', 'UPDATE ids SET prefixes = zeroblob(8192)', /IDS_WRONG/],
    ['a kind changed', "UPDATE entries SET kind = 'freeze' WHERE idx = 7", /KIND_WRONG/],
    ['an open call hidden', "DELETE FROM records WHERE name LIKE 'open%'", /OPEN_CALL_HIDDEN/],
    ['a state erased', "DELETE FROM records WHERE name LIKE 'session%'", /STATE_MISSING/],
    ['a state changed', "UPDATE records SET text = x'7b7d' WHERE name LIKE 'session%'", /STATE_WRONG/],
    ['an anchor misled', "UPDATE anchors SET idx = 999999 WHERE name LIKE 'session%'", /ANCHOR_WRONG/],
    ['the checkpoint replaced', "UPDATE checkpoint SET note = 'x'", /LEDGER_DAMAGED/],
  ]

  // Made once, and copied for each crime: 600 calls that have ended, and one that is open.
  let scene: Site
  beforeAll(async () => {
    scene = await usedSite(600)
    const gateway = await scene.open()
    await ask(gateway)
    await gateway.close()
  })

  it.each(crimes)('finds %s', async (_, sql, code) => {
    const data = join(newFolder(), 'data')
    cpSync(scene.config.data, data, { recursive: true })
    const config = { ...scene.config, data }
    tamper(config, sql)
    const { ok, problems } = await fsckLedger(config, () => undefined)
    expect(ok).toBe(false)
    expect(problems.map((problem) => problem.code).join(' ')).toMatch(code)
  })

  it('goes on working when all private records are erased: no proof breaks, and side effects are denied', async () => {
    const site = await usedSite()
    tamper(site.config, 'DELETE FROM records')
    const report = await fsckLedger(site.config, () => undefined)
    expect(report.verified).toBe(report.entries)
    expect(new Set(report.problems.map(({ code }) => code))).toEqual(new Set(['STATE_MISSING']))
  })
})

describe('the ledger file itself', () => {
  it.each([
    ['UPDATE entries SET kind = kind'],
    ['DELETE FROM entries WHERE idx = 0'],
    ['DELETE FROM head'],
    ['UPDATE head SET size = size - 1'],
  ])('refuses `%s`', async (sql) => {
    const site = await usedSite()
    const db = openDatabase(site.config.data)
    expect(() => db.exec(sql)).toThrow(/never/)
    db.close()
  })

  it('is for the eyes of its owner only, and so are the files beside it', async () => {
    const site = await usedSite()
    const gateway = await site.open()
    const files = readdirSync(site.config.data).filter((name) => name.includes('.sqlite'))
    expect(files).toEqual(expect.arrayContaining(['ledger.sqlite', 'ledger.sqlite-wal', 'lock.sqlite']))
    for (const file of files) expect(statSync(join(site.config.data, file)).mode & 0o077, file).toBe(0)
    await gateway.close()
  })

  it('is backed up while it is written to', async () => {
    const site = await usedSite(200)
    const gateway = await site.open()
    const target = join(newFolder(), 'backup.sqlite')
    const [{ size }] = await Promise.all([
      backupLedger(site.config, target, () => undefined),
      ask(gateway),
      ask(gateway),
    ])
    await gateway.close()
    expect(size).toBeGreaterThanOrEqual(403)
    expect(readFileSync(target).subarray(0, 15).toString()).toBe('SQLite format 3')
    await expect(backupLedger(site.config, target, () => undefined)).rejects.toMatchObject({
      code: 'DATA_EXISTS',
    })
  })
})
