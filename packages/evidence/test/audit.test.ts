import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Audit } from '../src/audit.ts'
import type { Contents } from '../src/manifest.ts'
import { parseReceipt } from '../src/receipt.ts'
import {
  addWriter,
  answer,
  approved,
  ASKED,
  AT,
  DENIED,
  entryOf,
  keyChange,
  POLICY,
  story,
} from './audit-story.ts'
import {
  decision,
  demoLedger,
  effect,
  fixedKey,
  hash,
  unknownEffect,
  type TestLedger,
  type Draft,
} from './ledger.ts'
import { runs } from './runs.ts'

const NO_BYTES = { payload: new Uint8Array(0), signature: new Uint8Array(64) }

/** All findings of the audit on a part of a ledger, each as `CODE at index`. */
function audited(ledger: TestLedger, contents: Partial<Contents> = {}): { found: string[]; audit: Audit } {
  const { range, selected = [] } = contents.range || contents.selected ? contents : wholeRange(ledger)
  const found: string[] = []
  const audit = new Audit({ ...(range && { range }), selected }, (code, index) =>
    found.push(`${code} at ${index}`),
  )
  const stretch = range ? Array.from({ length: range.end - range.start }, (_, i) => range.start + i) : []
  for (const index of [...selected, ...stretch].sort((a, b) => a - b)) {
    audit.take(index, parseReceipt(entryOf(ledger, index).envelope))
  }
  return { found, audit }
}

function wholeRange({ size }: TestLedger): Partial<Contents> {
  return { range: { start: 0, end: size } }
}

/** A range from `start` to the end, with genesis, key and policy before it. */
function from(start: number, { size }: TestLedger): Partial<Contents> {
  return { range: { start, end: size }, selected: [AT.genesis, AT.key, AT.policy] }
}

describe('an honest ledger', () => {
  it('has no findings, whole or in part', async () => {
    const ledger = await story()
    expect(audited(ledger).found).toEqual([])
    for (let start = AT.read; start < ledger.size; start++) {
      expect(audited(ledger, from(start, ledger)).found, `from ${start}`).toEqual([])
    }
    expect(audited(ledger, { selected: [0, 1, 4, 7, 8, 9] }).found).toEqual([])
  })

  it('has no findings, for any range', async () => {
    const ledger = await demoLedger()
    for (let start = 0; start < ledger.size; start++) {
      for (let end = start + 1; end <= ledger.size; end++) {
        const selected = [0, 1].filter((index) => index < start || index >= end)
        expect(audited(ledger, { range: { start, end }, selected }).found, `${start} to ${end}`).toEqual([])
      }
    }
  })

  it('has no findings, for any selection', async () => {
    const ledger = await demoLedger()
    const check = (start: number, length: number, picked: readonly number[]): void => {
      const end = Math.min(start + length, ledger.size)
      const outside = (index: number): boolean => index < start || index >= end
      const selected = [...new Set([0, 1, ...picked])].filter(outside).sort((a, b) => a - b)
      const contents = length > 0 ? { range: { start, end }, selected } : { selected }
      expect(audited(ledger, contents).found, JSON.stringify(contents)).toEqual([])
    }
    const index = fc.nat({ max: ledger.size - 1 })
    const property = fc.property(index, fc.nat({ max: 8 }), fc.array(index, { maxLength: 8 }), check)
    fc.assert(property, { seed: 1, numRuns: runs(1000) })
  })

  it('gives its keys with their roles', async () => {
    const ledger = await story()
    const keys = [...audited(ledger).audit.keys.values()]
    expect(keys.map(({ role, of, retired, note }) => [role, of, retired, note.name])).toEqual([
      ['ledger', undefined, false, 'ledger.example/demo'],
      ['writer', 'gw-1', false, 'ledger.example/demo/gw-1'],
    ])
  })

  it('gives the policies of its decisions', async () => {
    expect([...audited(await story()).audit.policies]).toEqual([POLICY])
  })

  it('returns for each receipt the key that must sign it', async () => {
    const ledger = await story()
    const audit = new Audit(wholeRange(ledger) as Contents, () => undefined)
    const signers = ledger.entries.map(({ envelope }, i) => audit.take(i, parseReceipt(envelope))?.id)
    expect(signers).toEqual(ledger.entries.map(({ receipt }) => receipt.key))
  })
})

describe('an open call', () => {
  it('is an allowed call without an effect', async () => {
    const ledger = await story()
    expect(audited(ledger).audit.open).toBe(0)
    const { id } = await ledger.append(decision(POLICY))
    expect(audited(ledger).audit.open).toBe(1)
    await ledger.append(unknownEffect(id))
    expect(audited(ledger).audit.open).toBe(0)
    await ledger.append(effect(id, { late: true }))
    expect(audited(ledger).audit.open).toBe(0)
  })

  it('is not a denied or escalated call', async () => {
    const ledger = await story()
    await ledger.append(DENIED)
    await ledger.append(ASKED)
    expect(audited(ledger).audit.open).toBe(0)
  })

  it('stays open after the effect of another call', async () => {
    const ledger = await story()
    const { id } = await ledger.append(decision(POLICY))
    await ledger.append(effect(id, { late: true }))
    const { found, audit } = audited(ledger)
    expect(found).toEqual([`EFFECT_LATE_WRONG at ${ledger.size - 1}`])
    expect(audit.open).toBe(1)
  })
})

describe('a reference outside the pack', () => {
  it('is counted and is not a finding', async () => {
    const ledger = await story()
    const { found, audit } = audited(ledger, { selected: [0, 1, AT.readEffect, AT.answer, AT.sent] })
    expect(found).toEqual([])
    // The decision of the effect and the escalation of the approval. The approval itself is in the pack.
    expect(audit.unseen).toEqual({ references: 2, policies: 1 })
  })

  it('can be the approval of a decision', async () => {
    const { audit } = audited(await story(), { selected: [0, 1, AT.sent] })
    expect(audit.unseen).toEqual({ references: 1, policies: 1 })
  })

  it('is possible only after the end of a range from entry 0', async () => {
    const ledger = await story()
    await ledger.append(effect(hash('nothing')))
    const at = ledger.size - 1
    const known = audited(ledger, { range: { start: 0, end: at }, selected: [at] })
    expect(known.found).toEqual([`CAUSE_UNKNOWN at ${at}`, `EFFECT_WITHOUT_DECISION at ${at}`])
    const unknown = audited(ledger, { range: { start: 0, end: at - 1 }, selected: [at] })
    expect(unknown.found).toEqual([])
  })

  it('does not excuse a cause that comes later', async () => {
    const ledger = await conspiracy()
    expect(audited(ledger, from(AT.next, ledger)).found).toEqual([`CAUSE_UNKNOWN at ${AT.next + 1}`])
  })

  it('does not excuse two effects of one decision', async () => {
    const ledger = await story({ length: AT.readEffect })
    const { id } = entryOf(ledger, AT.read)
    await ledger.append(effect(id))
    await ledger.append(effect(id))
    expect(audited(ledger, from(AT.readEffect, ledger)).found).toEqual([
      `EFFECT_REPEATED at ${AT.readEffect + 1}`,
    ])
  })

  it('does not excuse two calls with one approval', async () => {
    const ledger = await story()
    await ledger.append(approved(entryOf(ledger, AT.answer).id))
    expect(audited(ledger, from(AT.sent, ledger)).found).toEqual([`APPROVAL_REUSED at ${AT.next}`])
  })

  it('does not excuse two answers to one escalation', async () => {
    const ledger = await story()
    await ledger.append(answer(entryOf(ledger, AT.asked).id, 'REFUSED'))
    expect(audited(ledger, from(AT.answer, ledger)).found).toEqual([
      `APPROVAL_WITHOUT_ESCALATION at ${AT.next}`,
    ])
  })
})

describe('an approval', () => {
  it('is for one effect class', async () => {
    const ledger = await story({ length: AT.sent })
    await ledger.append({ ...approved(entryOf(ledger, AT.answer).id), effect_class: 'admin' } as Draft)
    expect(audited(ledger).found).toEqual([`APPROVAL_FOR_ANOTHER_CALL at ${AT.sent}`])
  })

  it('must not come from the principal that uses it, even if the escalation is outside the pack', async () => {
    const ledger = await story({ length: AT.answer })
    const own = { ...answer(entryOf(ledger, AT.asked).id), approver: 'agent:ci' } as Draft
    await ledger.append(approved((await ledger.append(own)).id))
    expect(audited(ledger, from(AT.answer, ledger)).found).toEqual([`APPROVAL_BY_REQUESTER at ${AT.sent}`])
  })
})

describe('a delegation', () => {
  const grant = {
    kind: 'delegation',
    op: 'grant',
    delegation_hash: hash('delegation'),
    delegator: 'agent:planner',
    delegate: 'agent:ci',
    expires: '2026-02-01T00:00:00.000Z',
    by: 'agent:planner',
  } as const
  const call = decision(POLICY, { delegation: grant.delegation_hash })

  it('of the principal is valid for its calls until it is revoked', async () => {
    const ledger = await story()
    for (const draft of [grant, call, { ...grant, op: 'revoke' } as const, call]) await ledger.append(draft)
    expect(audited(ledger).found).toEqual([`DELEGATION_NOT_GRANTED at ${AT.next + 3}`])
  })

  it('is not checked for a denied call', async () => {
    const ledger = await story()
    await ledger.append({ ...DENIED, delegation: hash('unknown') } as Draft)
    expect(audited(ledger).found).toEqual([])
  })

  it('outside the pack is assumed to be granted, but not one of another tenant if all entries are in the pack', async () => {
    const ledger = await story()
    await ledger.append(grant)
    await ledger.append(call)
    expect(audited(ledger, from(AT.next + 1, ledger)).found).toEqual([])
    const other = await story()
    await other.append({ ...grant, tenant: 'acme' })
    await other.append(call)
    expect(audited(other).found).toEqual([`DELEGATION_NOT_GRANTED at ${AT.next + 1}`])
  })
})

describe('a receipt hidden on purpose', () => {
  /** Two policies, then a decision. The receipt of the second policy is not in the pack. */
  async function hiddenPolicy(decidedUnder: 'first' | 'second'): Promise<Audit & { found: string[] }> {
    const ledger = await story({ length: AT.read })
    const second = ledger.keepPolicy('tollgate: 1\nname: stricter\nrules: []\n')
    await ledger.append({ kind: 'policy', policy_hash: second, name: 'stricter', by: 'admin:ann' })
    await ledger.append(decision(decidedUnder === 'first' ? POLICY : second))
    const { found, audit } = audited(ledger, from(ledger.size - 1, ledger))
    return Object.assign(audit, { found })
  }

  it('gives no finding for a decision under a policy whose receipt is missing', async () => {
    const { found, unseen } = await hiddenPolicy('second')
    expect(found).toEqual([])
    expect(unseen.policies).toBe(1)
  })

  it('leaves the policy unproved for a decision after a hidden replacement', async () => {
    const { found, unseen } = await hiddenPolicy('first')
    expect(found).toEqual([])
    expect(unseen.policies).toBe(1)
  })

  it('does not hide a later cause among thousands of missing causes', async () => {
    const ledger = await conspiracy(async (going) => {
      for (let i = 0; i < 630; i++) {
        const causes = Array.from({ length: 16 }, (_, n) => hash(`nowhere ${16 * i + n}`))
        await going.append({ ...DENIED, causes })
      }
    })
    const { found } = audited(ledger, from(AT.next, ledger))
    expect(found).toEqual([`CAUSE_UNKNOWN at ${ledger.size - 2}`])
  })
})

describe('references', () => {
  it('to more receipts than the limit are refused, not forgotten', async () => {
    const ledger = await story()
    const found = new Set<string>()
    const audit = new Audit({ range: { start: 1, end: 20_000 }, selected: [] }, (code) => found.add(code))
    for (let index = 1; index <= 12_700; index++) {
      const causes = Array.from({ length: 16 }, (_, n) => hash(`nowhere ${16 * index + n}`))
      const receipt = ledger.prepare({ ...DENIED, causes, seq: index })
      const parsed = { receipt, id: hash(`receipt ${index}`), keyId: receipt.key, ...NO_BYTES }
      audit.take(index, parsed)
      const remembered = 16 * index <= 200_000
      expect(found.has('REFERENCES_TOO_MANY'), `after ${16 * index}`).toBe(!remembered)
    }
  })
})

describe('an effect', () => {
  it('of a receipt that is not a decision has no decision', async () => {
    const ledger = await story()
    for (const of of [AT.genesis, AT.policy, AT.readEffect, AT.answer]) {
      const at = ledger.size
      await ledger.append(effect(entryOf(ledger, of).id))
      expect(audited(ledger).found).toContain(`EFFECT_WITHOUT_DECISION at ${at}`)
    }
  })

  it('can be reported by another writer than that of the decision', async () => {
    const ledger = await story({ length: AT.readEffect })
    const key = await addWriter(ledger, 'gw-2')
    await ledger.append(effect(entryOf(ledger, AT.read).id, { writer: 'gw-2' }), key)
    expect(audited(ledger).found).toEqual([])
  })
})

describe('an approval', () => {
  it('can be used at the moment it expires', async () => {
    const ledger = await story()
    const { id } = await ledger.append(ASKED)
    const given = await ledger.append(answer(id))
    await ledger.append({ ...approved(given.id), time: '2026-01-05T10:00:00.000Z' })
    expect(audited(ledger).found).toEqual([])
  })

  it('is bound to tenant, principal, session, tool, definition and arguments', async () => {
    const changes = [
      { principal: 'agent:other' },
      { session: { id: 's-2', seq: 0 } },
      { tool: 'bank/pay' },
      { definition_hash: hash('definition') },
      { args_hash: hash('others') },
      { commit: 'salted' },
      { author: 'server:crm' },
      { person: 'oidc-user:otto' },
    ] as const
    for (const change of changes) {
      const ledger = await story()
      const { id } = await ledger.append(ASKED)
      const given = await ledger.append(answer(id))
      await ledger.append({ ...approved(given.id), ...change } as typeof ASKED)
      expect(audited(ledger).found, JSON.stringify(change)).toEqual([
        `APPROVAL_FOR_ANOTHER_CALL at ${AT.next + 2}`,
      ])
    }
  })

  it('is bound to the seen page, its hashes, plan, hostnames and element', async () => {
    const page = {
      sentinel_findings: [],
      dom_hash: hash('dom'),
      visual_text_hash: hash('text'),
      planner_ref: 'plan',
      page_host: 'a.example',
      destination_host: 'b.example',
      target_state: 'bound',
      target_hash: hash('button'),
      seen_hash: hash('seen'),
    }
    const told = async (seen_hash: string | undefined, change: object): Promise<readonly string[]> => {
      const ledger = await story()
      const { id } = await ledger.append({ ...ASKED, browser: page } as typeof ASKED)
      const shown = { ...answer(id), ...(seen_hash !== undefined && { seen_hash }) }
      const given = await ledger.append(shown)
      const approved_hash = { ...(seen_hash !== undefined && { approved_hash: seen_hash }) }
      const browser = { ...page, ...approved_hash, ...change }
      await ledger.append({ ...approved(given.id), browser } as typeof ASKED)
      return audited(ledger).found
    }
    expect(await told(page.seen_hash, { seen_hash: hash('less risk') })).toEqual([])
    for (const seen of [undefined, hash('another')]) {
      expect(await told(seen, {})).toEqual([`APPROVAL_FOR_ANOTHER_CALL at ${AT.next + 1}`])
    }
    const others = { dom_hash: hash('x'), visual_text_hash: hash('x'), planner_ref: 'x', page_host: 'x' }
    const further = { destination_host: 'x', target_hash: hash('x'), approved_hash: hash('x') }
    for (const change of Object.entries({ ...others, ...further })) {
      expect(await told(page.seen_hash, Object.fromEntries([change])), change[0]).toEqual([
        `APPROVAL_FOR_ANOTHER_CALL at ${AT.next + 2}`,
      ])
    }
  })

  it('is valid for a salted call, whose hash cannot be compared', async () => {
    const ledger = await story()
    const salted = { commit: 'salted' } as const
    const { id } = await ledger.append({ ...ASKED, ...salted, args_hash: hash('first salt') } as typeof ASKED)
    const given = await ledger.append(answer(id))
    const again = { ...approved(given.id), ...salted, args_hash: hash('second salt') }
    await ledger.append(again)
    expect(audited(ledger).found).toEqual([])
  })
})

describe('a key', () => {
  it('is active from the receipt after the one that adds it', async () => {
    const ledger = await story()
    const key = await addWriter(ledger, 'gw-2')
    await ledger.append({ ...DENIED, writer: 'gw-2' }, key)
    expect(audited(ledger).found).toEqual([])
  })

  it('is not retired in the name of another writer', async () => {
    const ledger = await story()
    await ledger.append(keyChange(ledger.writerKey, 'gw-2', 'retire'))
    expect(audited(ledger).found).toEqual([`KEY_UNKNOWN at ${AT.next}`])
  })

  it('is not retired twice', async () => {
    const ledger = await story()
    const key = await addWriter(ledger, 'gw-2')
    await ledger.append(keyChange(key, 'gw-2', 'retire'))
    await ledger.append(keyChange(key, 'gw-2', 'retire'))
    expect(audited(ledger).found).toEqual([`KEY_UNKNOWN at ${AT.next + 2}`])
  })

  it('that is unknown gives a finding at every receipt that it signs', async () => {
    const ledger = await story()
    const stranger = await fixedKey('stranger')
    await ledger.append(DENIED, stranger)
    await ledger.append(DENIED, stranger)
    expect(audited(ledger).found).toEqual([`KEY_UNKNOWN at ${AT.next}`, `KEY_UNKNOWN at ${AT.next + 1}`])
  })
})

/** A ledger at whose end the first writer names a later receipt of the second writer as its cause, after other receipts. */
async function conspiracy(
  distract: (ledger: TestLedger) => Promise<void> = () => Promise.resolve(),
): Promise<TestLedger> {
  const [ledger, twin] = [await story(), await story()]
  const key = await addWriter(ledger, 'gw-2')
  await addWriter(twin, 'gw-2')
  await distract(ledger)
  const later = { ...DENIED, writer: 'gw-2', time: '2026-01-05T09:50:00.000Z' }
  const { id } = await twin.append(later, key)
  await ledger.append({ ...DENIED, causes: [id] })
  await ledger.append(later, key)
  return ledger
}
