// Random ledgers. Most of their receipts are valid by themselves; how they refer to each other is left to chance.

import { answer, keyChange, POLICY } from '../../packages/evidence/test/audit-story.ts'
import {
  createLedger,
  decision,
  effect,
  fixedKey,
  hash,
  POLICY_TEXT,
  unknownEffect,
  type Draft,
  type TestLedger,
} from '../../packages/evidence/test/ledger.ts'
import { sealAnything } from '../../packages/evidence/test/pack-forge.ts'
import { sampleOf } from '../../packages/evidence/test/samples.ts'
import {
  canonicalize,
  DOORS,
  NO_HASH,
  REASONS,
  toBase64,
  type JsonObject,
  type ReasonCode,
  type Receipt,
  type SigningKey,
} from '../../packages/evidence/src/index.ts'
import { KINDS } from '../../packages/evidence/src/shapes.ts'
import { changedValue } from './values.ts'
import { below, oneOf, type Random } from './random.ts'

const WRITERS = ['gw-1', 'gw-2', 'gw-3']
const TENANTS = ['default', 'default', 'default', 'acme']
const KEYS = await Promise.all(['ledger', 'writer', 'gw-2', 'gw-3', 'next', 'other'].map(fixedKey))
const [LEDGER_KEY, WRITER_KEY] = KEYS as [SigningKey, SigningKey]
const COMMON = new Set(
  'v ledger tenant writer seq lamport_clock prev_receipt_hash causes time key'.split(' '),
)
const PAGE = { sentinel_findings: [], seen_hash: hash('seen'), dom_hash: hash('dom') }

/** A ledger with up to `most` receipts, and a signed checkpoint. */
export async function randomLedger(random: Random, most: number): Promise<TestLedger> {
  const ledger = await createLedger()
  ledger.keepPolicy(POLICY_TEXT)
  const ids: string[] = []
  const steps = [...opening(), ...Array.from({ length: below(random, most) }, () => undefined)]
  const chaos = oneOf(random, [0, 0.02, 0.1, 0.3])
  for (const step of steps) {
    if (random() < chaos / 4) continue
    const draft = step ?? randomDraft(random, ids)
    ids.push(await appended(ledger, draft, random, chaos))
  }
  await ledger.sealHead(random() < 0.95 ? undefined : [oneOf(random, KEYS)])
  return ledger
}

function opening(): readonly Draft[] {
  const genesis: Draft = {
    kind: 'genesis',
    public_key: toBase64(LEDGER_KEY.publicKey.bytes),
    commit: 'plain',
  }
  return [genesis, keyChange(WRITER_KEY, 'gw-1'), policy(POLICY)]
}

function policy(policy_hash: string): Draft {
  return { kind: 'policy', policy_hash, name: 'demo', by: 'admin:ann' }
}

/** Appends a draft, sometimes with changed values. Returns its id, or an invented one for a receipt that no ledger would take. */
async function appended(ledger: TestLedger, draft: Draft, random: Random, chaos: number): Promise<string> {
  const key = random() < chaos / 2 ? oneOf(random, KEYS) : keyOf(draft)
  const receipt = ledger.prepare(draft, key)
  try {
    if (random() >= chaos) return (await ledger.append(draft, key)).id
    const changes = changedReceipt(receipt, random)
    // Sound: a form that is not valid is refused by `append`.
    if (random() < 0.7) return (await ledger.append(changes as unknown as Draft, key)).id
    ledger.appendRaw(await sealAnything(canonicalize(changes), key))
  } catch {
    // No ledger would take it.
    ledger.appendRaw(await sealAnything(JSON.stringify(receipt), key))
  }
  return hash(`entry ${ledger.size}`)
}

function keyOf({ kind, writer = 'gw-1' }: Draft): SigningKey {
  if (kind === 'genesis' || kind === 'key') return LEDGER_KEY
  return KEYS[1 + WRITERS.indexOf(writer)] ?? WRITER_KEY
}

function changedReceipt(receipt: Receipt, random: Random): JsonObject {
  // Sound: a receipt is JSON.
  const fields = { ...(receipt as unknown as JsonObject) }
  const name = oneOf(random, Object.keys(fields))
  return { ...fields, [name]: changedValue(fields[name] ?? null, random) }
}

type MakeDraft = (random: Random, pick: () => string) => Draft

const DRAFTS: readonly MakeDraft[] = [
  (random) => decision(POLICY, common(random)),
  (random) => decision(POLICY, common(random)),
  (random) => decision(POLICY, { ...common(random), verdict: 'DENY', reason_code: 'NO_RULE_MATCHED' }),
  (random) => decision(POLICY, { ...common(random), ...asked(random) }),
  (random) => decision(POLICY, { ...common(random), ...asked(random) }),
  (random, pick) => answered(pick(), random),
  (random, pick) => answered(pick(), random),
  (random, pick) => granted(pick(), { ...common(random), ...page(random, true) }),
  (random, pick) => granted(pick(), common(random)),
  (_, pick) => effect(pick()),
  (_, pick) => effect(pick(), { status: 'FAILED' }),
  (_, pick) => effect(pick(), { late: true }),
  (_, pick) => unknownEffect(pick()),
  (_, pick) => ({ ...effect(pick()), causes: [] }),
  (random) => policy(oneOf(random, [POLICY, hash('other'), NO_HASH])),
  (random) => keyChange(oneOf(random, KEYS), oneOf(random, [...WRITERS, undefined])),
  (random) => keyChange(oneOf(random, KEYS), oneOf(random, [...WRITERS, undefined]), 'retire'),
  (random) => delegated(random),
  (random) => delegated(random),
  (random) => decision(POLICY, { ...common(random), delegation: hash(`d${below(random, 4)}`) }),
  (random) => sample(random),
  (random) => decision(POLICY, { ...common(random), ...anyReason(random) }),
]

/** Fields that any receipt of the kind can have. */
function common(random: Random): Partial<Extract<Draft, { kind: 'decision' }>> {
  const principal = oneOf(random, ['agent:ci', 'agent:ci', 'operator:bob', 'agent:sub'])
  const session = { id: oneOf(random, ['s-1', 's-2', `mcp:${'0'.repeat(32)}`]), seq: 0 }
  return {
    principal,
    session,
    ...(random() < 0.2 && { commit: 'salted' as const }),
    ...(random() < 0.1 && { person: 'oidc-user:olga' }),
    ...(random() < 0.1 && { policy_hash: hash('other') }),
  }
}

function anyReason(random: Random): Partial<Extract<Draft, { kind: 'decision' }>> {
  // Sound: the keys of the table are the codes.
  const reason_code = oneOf(random, Object.keys(REASONS) as ReasonCode[])
  const { verdict } = REASONS[reason_code]
  return { verdict, reason_code, door: oneOf(random, DOORS), assurance: 'enforced', effect_class: 'pay' }
}

function asked(random: Random): Partial<Extract<Draft, { kind: 'decision' }>> {
  return {
    ...{ tool: 'mail/send', effect_class: 'send', verdict: 'ESCALATE', rule: 'mail' },
    ...{ reason_code: 'APPROVAL_REQUIRED', ...page(random, false) },
  }
}

function page(random: Random, isApproved: boolean): Partial<Extract<Draft, { kind: 'decision' }>> {
  if (random() < 0.7) return {}
  const seen = random() < 0.7 ? hash('seen') : hash('changed')
  return { browser: { ...PAGE, seen_hash: seen, ...(isApproved && { approved_hash: hash('seen') }) } }
}

function granted(approval: string, fields: Partial<Extract<Draft, { kind: 'decision' }>>): Draft {
  const call = { tool: 'mail/send', effect_class: 'send', rule: 'mail' } as const
  return decision(POLICY, {
    ...call,
    reason_code: 'APPROVAL_GRANTED',
    approval,
    causes: [approval],
    ...fields,
  })
}

function answered(of: string, random: Random): Draft {
  return {
    ...answer(of, random() < 0.8 ? 'GRANTED' : 'REFUSED'),
    ...(random() < 0.3 && { seen_hash: hash('seen') }),
    ...(random() < 0.1 && { approver: 'agent:ci' }),
    ...(random() < 0.1 && { expires: '2026-01-05T09:00:05.000Z' }),
  }
}

function delegated(random: Random): Draft {
  const number = below(random, 4)
  const people = ['agent:ci', 'agent:sub', 'operator:bob']
  return {
    kind: 'delegation',
    op: random() < 0.8 ? 'grant' : 'revoke',
    delegation_hash: hash(`d${number}`),
    delegator: oneOf(random, people),
    delegate: oneOf(random, people),
    ...(random() < 0.5 && { parent: hash(`d${below(random, 4)}`) }),
    expires: random() < 0.8 ? '2026-01-06T00:00:00.000Z' : '2026-01-05T09:00:05.000Z',
    by: 'admin:ann',
  }
}

function sample(random: Random): Draft {
  const all = sampleOf(oneOf(random, KINDS), WRITER_KEY.publicKey)
  const own = Object.entries(all).filter(([name]) => !COMMON.has(name))
  // Sound: the fields of the kind without the common ones.
  return Object.fromEntries(own) as unknown as Draft
}

/** A draft that refers to random earlier entries, or to entries that do not exist. */
function randomDraft(random: Random, ids: readonly string[]): Draft {
  const recent = (): string => ids[ids.length - 1 - below(random, Math.min(ids.length, 5))] ?? NO_HASH
  const pick = (): string => (random() < 0.9 ? recent() : hash(`missing ${below(random, 5)}`))
  const draft = oneOf(random, DRAFTS)(random, pick)
  return {
    ...draft,
    tenant: oneOf(random, TENANTS),
    ...(draft.kind !== 'genesis' &&
      draft.kind !== 'key' &&
      random() < 0.3 && { writer: oneOf(random, WRITERS) }),
    ...(draft.causes === undefined && random() < 0.2 && { causes: [pick()] }),
  }
}
