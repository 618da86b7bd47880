import { cpSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  openProof,
  inclusionProof,
  formatProof,
  parseTrust,
  sha256Hex,
  parseCheckpoint,
} from '@tollgate/evidence'
import { beforeAll, describe, expect, it } from 'vitest'
import { createKey } from '../../src/keyring.ts'
import { GatewayError } from '../../src/error.ts'
import { silent } from '../../src/log.ts'
import { backupLedger, fsckLedger, isRunning, openGateway, openView } from '../../src/open.ts'
import { rotateKey } from '../../src/rotate.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { copySite } from '../faults/rig.ts'
import { activate, ask, createSite, newFolder, POLICY, report, type Site } from '../gateway-rig.ts'
import { answerRequest, setFreeze } from '@tollgate/kernel/admin'

const usedSites = new Map<number, Promise<Site>>()

/** A closed site with `calls` reported calls in its ledger. */
async function usedSite(calls = 3): Promise<Site> {
  const made = usedSites.get(calls) ?? useSite(calls)
  usedSites.set(calls, made)
  return copySite(await made)
}

async function useSite(calls: number): Promise<Site> {
  const site = await createSite()
  const gateway = await site.open()
  await activate(gateway)
  const asked = await Promise.all(Array.from({ length: calls }, () => ask(gateway)))
  for (const { decided } of asked) expect(decided.verdict).toBe('ALLOW')
  await Promise.all(asked.map(({ decided }) => report(gateway, decided.receipt ?? '')))
  await gateway.close()
  return site
}

/** Modifies the ledger file directly. */
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
  it('continues with the same policy and the same tokens', async () => {
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
    const short = { role: 'agent', tenant: 'default', principal: 'agent:c', lasts: -1 } as const
    const { token: ended } = await first.tokens.issue(short, 'user:test')
    expect(first.tokens.identify(ended)).toBeUndefined()
    expect(first.tokens.list().map(({ principal }) => principal)).toEqual(['agent:a', 'agent:b'])
    const size = await first.view.size()
    await first.close()
    const second = await site.open()
    // The revocation of the tokens of the run.
    expect(await second.view.size()).toBe(size + 1)
    expect(second.tokens.identify(token)?.principal).toBe('agent:a')
    expect(second.tokens.identify(passing)).toBeUndefined()
    expect((await ask(second)).decided.verdict).toBe('ALLOW')
    await second.close()
  })

  it('closes calls that a crash left open as UNKNOWN, with a recovery receipt', async () => {
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

  it('proves every receipt under the stored checkpoint', async () => {
    const site = await usedSite(200)
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

  it('excludes other writers while it runs, but not readers', async () => {
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

  it('refuses to start without a key that is in service', async () => {
    const site = await usedSite()
    const [ledger] = site.keyring.keys
    const stranger = await createKey(newFolder(), 'writer')
    const keyring = { keys: [ledger, stranger].filter((key) => key !== undefined) }
    await expect(openGateway(site.config, keyring, silent)).rejects.toMatchObject({ code: 'KEY_UNUSABLE' })
  })
})

describe('keys', () => {
  it.each(['writer', 'ledger'] as const)(
    'are rotated with a receipt, and old receipts still verify: %s',
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
  it('finds nothing wrong with an intact ledger', async () => {
    const site = await usedSite(600)
    const report = await fsckLedger(site.config, () => undefined)
    expect(report).toEqual({ ok: true, entries: 1203, verified: 1203, log: 0, problems: [], more: 0 })
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
    [
      'a record rotten',
      "UPDATE records SET text = CAST(text || ' ' AS BLOB) WHERE name LIKE 'policy%'",
      /RECORD_DAMAGED/,
    ],
    ['a trigger gone', 'CREATE TABLE more (a)', /SCHEMA_WRONG/],
    ['the checkpoint removed', 'DELETE FROM checkpoint', /CHECKPOINT_MISSING/],
    ['a word on the policy removed', "DELETE FROM anchors WHERE name LIKE 'policy%'", /ANCHOR_WRONG/],
    ['a session set back', "UPDATE anchors SET idx = 3 WHERE name LIKE 'session%'", /ANCHOR_WRONG/],
  ]

  // Made once, and copied for each attack: 600 ended calls and an open one.
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

  it('works after all private records are erased: proofs stay valid, and side effects are denied', async () => {
    const site = await usedSite()
    tamper(site.config, 'DELETE FROM records')
    const report = await fsckLedger(site.config, () => undefined)
    expect(report.verified).toBe(report.entries)
    expect(new Set(report.problems.map(({ code }) => code))).toEqual(new Set(['STATE_MISSING']))
  })
})

/** Attacks by someone who can write the file but has no key. */
describe('a file that was tampered with', () => {
  const forged = (payload: string): string => `CAST('${payload.replaceAll("'", "''")}' AS BLOB)`

  /** Opens a site after an attack, and returns the state of a call. */
  async function after(site: Site, sql: string): Promise<string> {
    tamper(site.config, sql)
    try {
      const gateway = await site.open()
      const { decided } = await ask(gateway)
      await gateway.close()
      return `${decided.verdict} ${decided.reason}`
    } catch (fault) {
      return fault instanceof GatewayError ? fault.code : String(fault)
    }
  }

  it('does not put a policy in force that was not activated', async () => {
    const site = await usedSite()
    const text = POLICY.replace('name: test', 'name: mine')
    const receipt = {
      kind: 'policy',
      tenant: 'default',
      policy_hash: sha256Hex(text),
      name: 'mine',
      by: 'user:me',
    }
    const sql = `
      INSERT INTO entries VALUES (-1, 'policy', ${forged(JSON.stringify(receipt))}, zeroblob(64));
      UPDATE anchors SET idx = -1 WHERE name LIKE 'policy%';
      UPDATE records SET text = ${forged(text)} WHERE name LIKE 'policy%'`
    expect(await after(site, sql)).toBe('LEDGER_DAMAGED')
  })

  it('does not lift a freeze', async () => {
    const site = await usedSite()
    const gateway = await site.open()
    await setFreeze(gateway.kernel, { scope: 'principal', target: 'agent:a', frozen: true, by: 'user:olga' })
    await gateway.close()
    expect(await after(site, "DELETE FROM anchors WHERE name LIKE 'freeze%'")).toBe('LEDGER_DAMAGED')
  })

  it('does not replace a newer receipt by an old one', async () => {
    const site = await usedSite()
    const gateway = await site.open()
    const order = { scope: 'principal', target: 'agent:a', by: 'user:olga' } as const
    for (const frozen of [true, false, true]) await setFreeze(gateway.kernel, { ...order, frozen })
    await gateway.close()
    const { view, close } = await openView(site.config)
    const [, lifted = 0, frozen = 0] = await view.indexesOf(['freeze'])
    await close()
    const sql = `UPDATE entries SET (payload, signature) = (SELECT payload, signature FROM entries WHERE idx = ${lifted}) WHERE idx = ${frozen}`
    expect(await after(site, sql)).toBe('LEDGER_DAMAGED')
  })

  it('does not restore a revoked token, nor give a token more rights', async () => {
    const site = await usedSite()
    const gateway = await site.open()
    const { token, info } = await gateway.tokens.issue(
      { role: 'operator', tenant: 'default', principal: 'user:olga', lasts: 60_000 },
      'user:root',
    )
    await gateway.close()
    tamper(
      site.config,
      `UPDATE records SET text = CAST(replace(text, '"groups":[]', '"groups":["cfo"]') AS BLOB) WHERE name LIKE 'token%'`,
    )
    const again = await site.open()
    expect(again.tokens.identify(token)).toBeUndefined()
    await again.close()
    expect(info.groups).toEqual([])
  })

  it.each([
    ['role', `'"role":"operator"', '"role":"admin"'`],
    ['principal', `'"principal":"user:olga"', '"principal":"user:root"'`],
    ['tenant', `'"tenant":"default"', '"tenant":"other"'`],
  ])('does not give a token another %s than its receipt says', async (_, change) => {
    const site = await usedSite()
    const gateway = await site.open()
    const order = { role: 'operator', tenant: 'default', principal: 'user:olga' } as const
    const { token } = await gateway.tokens.issue(order, 'user:root')
    await gateway.close()
    tamper(
      site.config,
      `UPDATE records SET text = CAST(replace(text, ${change}) AS BLOB) WHERE name LIKE 'token%'`,
    )
    const again = await site.open()
    expect(again.tokens.identify(token)).toBeUndefined()
    await again.close()
  })

  it('does not get an approval used twice', async () => {
    const site = await usedSite()
    const gateway = await site.open()
    const { decided } = await ask(gateway, 'mail/send')
    const id = decided.approval ?? ''
    await answerRequest(gateway.kernel, {
      tenant: 'default',
      request: id,
      granted: true,
      approver: 'user:olga',
    })
    const before = await gateway.view.record(`approval\n${id}`)
    const size = await gateway.view.size()
    expect((await ask(gateway, 'mail/send')).decided.reason).toBe('APPROVAL_GRANTED')
    await gateway.close()
    const sql = `
      UPDATE anchors SET idx = ${size - 1} WHERE name LIKE 'answer%';
      INSERT INTO records VALUES ('approval' || char(10) || '${id}', ${forged(before ?? '')}, 0, x'00')`
    expect(await after(site, sql)).toBe('LEDGER_DAMAGED')
  })

  it('does not turn an approval of one call into an approval of another', async () => {
    const site = await usedSite()
    const gateway = await site.open()
    const { decided } = await ask(gateway, 'mail/send')
    const other = await ask(gateway, 'mail/send', {}, 's2')
    const binding = JSON.parse(
      (await gateway.view.record(`approval\n${other.decided.approval ?? ''}`)) ?? '{}',
    ) as { binding: string }
    const request = decided.approval ?? ''
    await answerRequest(gateway.kernel, { tenant: 'default', request, granted: true, approver: 'user:olga' })
    const own = JSON.parse((await gateway.view.record(`approval\n${request}`)) ?? '{}') as { binding: string }
    await gateway.close()
    tamper(
      site.config,
      `DELETE FROM records WHERE name = 'approval' || char(10) || '${other.decided.approval ?? ''}';
       UPDATE records SET text = CAST(replace(text, '${own.binding}', '${binding.binding}') AS BLOB) WHERE name LIKE 'approval%'`,
    )
    const again = await site.open()
    expect((await ask(again, 'mail/send', {}, 's2')).decided.verdict).toBe('ESCALATE')
    await again.close()
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

  it('is readable only by its owner, and so are the files next to it', async () => {
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
