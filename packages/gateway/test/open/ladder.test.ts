// The records of the ladder in a ledger file: what `fsck` reports after tampering, and what a start refuses.

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { importSigningKey, signDelegation, toBase64, type SigningKey } from '@tollgate/evidence'
import { authorize, closeSessions, reportEffect, type Authorization } from '@tollgate/kernel'
import { registerDelegation, revokeDelegation } from '@tollgate/kernel/admin'
import { beforeAll, describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/error.ts'
import { fsckLedger, openGateway, type Gateway } from '../../src/open.ts'
import { silent } from '../../src/log.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { activate, createSite, newFolder, ORIGIN, POLICY, type Site } from '../gateway-rig.ts'

const KEY: Promise<SigningKey> = importSigningKey(new Uint8Array(32).fill(9))

async function policy(): Promise<string> {
  const key = toBase64((await KEY).publicKey.bytes)
  return `${POLICY.replace(
    'principals: {',
    `principals: { "agent:planner": { tier: standard, key: "${key}" },`,
  )}
gates:
  taint: { provenance: { untrusted: ask } }
  threat: {}
  trust: { deltas: { completed: 3, failed: -5 } }
  temporal: { rate: { "*": { tenant: 1000/h, session: 1000/h } } }
`
}

const CALLER = { tenant: 'default', principal: 'agent:a' }

function ask({ kernel }: Gateway, args: unknown = {}, more: object = {}): Promise<Authorization> {
  const call = { caller: CALLER, door: 'http', assurance: 'advised', tool: 'notes/write', args } as const
  return authorize(kernel, { ...call, session_id: 's1', ...more })
}

async function report({ kernel }: Gateway, { decided }: Authorization, content: string): Promise<void> {
  const said = { caller: CALLER, decision: decided.receipt ?? '', status: 'COMPLETED' } as const
  await reportEffect(kernel, { ...said, output: new TextEncoder().encode(content), content })
}

/** Registers a delegation of the planner to the agent of the calls. Returns its id. */
async function delegate({ kernel }: Gateway): Promise<string> {
  const statement = {
    v: 1,
    ledger: ORIGIN,
    tenant: 'default',
    delegator: 'agent:planner',
    delegate: 'agent:a',
    tools: ['notes/*'],
    until: new Date(Date.now() + 3_600_000).toISOString(),
    depth: 0,
    parent: null,
    nonce: 'n1',
  } as const
  const { envelope } = await signDelegation(statement, await KEY)
  return (await registerDelegation(kernel, envelope, { tenant: 'default', by: 'agent:planner' })).delegation
}

let original: Site
let delegation = ''

beforeAll(async () => {
  original = await createSite()
  const gateway = await original.open()
  await activate(gateway, await policy())
  for (const text of ['see acct_9Fk2Lm77', 'see acct_1Ab2Cd33']) {
    await report(gateway, await ask(gateway), text)
  }
  delegation = await delegate(gateway)
  const { decided } = await ask(gateway, {}, { delegation })
  expect(decided.verdict).toBe('ALLOW')
  await revokeDelegation(gateway.kernel, 'default', delegation, 'user:olga')
  await gateway.close()
})

/** A copy of the state, with a modified file. */
function tampered(sql: string): Site['config'] {
  const data = join(newFolder(), 'data')
  cpSync(original.config.data, data, { recursive: true })
  // The head guard would otherwise detect the copy.
  const config = { ...original.config, data, headGuard: undefined }
  const db = openDatabase(data)
  const triggers = db.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").all()
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${String(name)}`)
  db.exec(sql)
  for (const trigger of triggers) db.exec(String(trigger.sql))
  db.close()
  return config
}

describe('fsck', () => {
  it('finds nothing wrong with the records of the steps', async () => {
    expect(await fsckLedger(tampered(''), () => undefined)).toMatchObject({ ok: true, problems: [] })
  })

  it.each([
    ['what a session has read, erased', "DELETE FROM records WHERE name LIKE 'provenance%'", /STATE_MISSING/],
    [
      'what a session has read, changed',
      "UPDATE records SET text = x'7b7d' WHERE name LIKE 'provenance%'",
      /STATE_WRONG/,
    ],
    ['the limits of a tenant, erased', "DELETE FROM records WHERE name LIKE 'tenant%'", /STATE_MISSING/],
    [
      'the trust of a principal, set back',
      "UPDATE anchors SET idx = (SELECT min(idx) FROM entries WHERE kind = 'effect') WHERE name LIKE 'trust%'",
      /ANCHOR_WRONG/,
    ],
    ['the trust of a principal, forgotten', "DELETE FROM anchors WHERE name LIKE 'trust%'", /ANCHOR_WRONG/],
    [
      'what a session has read, set back',
      "UPDATE anchors SET idx = (SELECT min(idx) FROM entries WHERE kind = 'effect') WHERE name LIKE 'provenance%'",
      /ANCHOR_WRONG/,
    ],
    [
      'a revocation undone',
      "UPDATE anchors SET idx = (SELECT min(idx) FROM entries WHERE kind = 'delegation') WHERE name LIKE 'delegation%'",
      /ANCHOR_WRONG/,
    ],
  ])('finds %s', async (_, sql, code) => {
    const { ok, problems } = await fsckLedger(tampered(sql), () => undefined)
    expect(ok).toBe(false)
    expect(problems.map((problem) => problem.code).join(' ')).toMatch(code)
  })
})

describe('a start', () => {
  const after = async (sql: string, more: object = {}): Promise<string> => {
    try {
      const gateway = await openGateway(tampered(sql), original.keyring, silent)
      const { decided } = await ask(gateway, {}, more)
      await gateway.close()
      return `${decided.verdict} ${decided.reason}`
    } catch (fault) {
      return fault instanceof GatewayError ? fault.code : String(fault)
    }
  }

  it('continues with the records of the steps, including a revoked delegation', async () => {
    expect(await after('')).toBe('ALLOW RULE_ALLOWED')
    expect(await after('', { delegation })).toBe('DENY DELEGATION_INVALID')
  })

  it('refuses a file in which a revocation was undone', async () => {
    const grant = "(SELECT min(idx) FROM entries WHERE kind = 'delegation')"
    expect(await after(`UPDATE anchors SET idx = ${grant} WHERE name LIKE 'delegation%'`)).toBe(
      'LEDGER_DAMAGED',
    )
    expect(await after("DELETE FROM anchors WHERE name LIKE 'delegation%'")).toBe('LEDGER_DAMAGED')
  })

  it('denies side effects if the data of a session or the limits of a tenant are lost or modified', async () => {
    for (const kind of ['provenance', 'tenant']) {
      expect(await after(`DELETE FROM records WHERE name LIKE '${kind}%'`)).toBe('DENY STATE_MISMATCH')
      expect(await after(`UPDATE records SET text = x'7b7d' WHERE name LIKE '${kind}%'`)).toMatch(
        /DENY STATE_MISMATCH|LEDGER_DAMAGED|DENY LEDGER_UNAVAILABLE/,
      )
    }
  })

  it('finds nothing missing of a closed session', async () => {
    const config = tampered('')
    const gateway = await openGateway(config, original.keyring, silent)
    const name = 'session\ndefault\nagent:a\ns1'
    expect(await closeSessions(gateway.kernel, [{ name, seq: 3 }])).toBe(1)
    expect((await ask(gateway)).decided.verdict).toBe('ALLOW')
    await gateway.close()
    expect(await fsckLedger(config, () => undefined)).toMatchObject({ ok: true })
  })
})
