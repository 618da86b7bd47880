// A ledger in memory with fixed keys and a fixed clock, for tests, vectors and benchmarks.

import {
  chainHead,
  createTree,
  importSigningKey,
  leafHash,
  nextPlace,
  NO_HASH,
  noteKey,
  sealCheckpoint,
  sealReceipt,
  sha256Hex,
  toBase64,
  type ChainHead,
  type Common,
  type LedgerReader,
  type NoteKey,
  type Receipt,
  type Sealed,
  type SigningKey,
  type TreeNode,
} from '../src/index.ts'

/** The fields of a receipt that the caller sets. The ledger adds the others. */
export type Draft = Receipt extends infer R
  ? R extends Receipt
    ? Omit<R, keyof Common> & Partial<Common>
    : never
  : never

/** The options of a ledger. */
export interface LedgerOptions {
  readonly origin?: string
  /** Distinguishes the keys of ledgers. */
  readonly salt?: string
}

export interface TestLedger extends LedgerReader {
  readonly origin: string
  readonly ledgerKey: SigningKey
  readonly writerKey: SigningKey
  readonly entries: Sealed[]
  readonly size: number
  /** The receipt that `append` would add. Fields of the draft override those of the ledger. */
  prepare(draft: Draft, key?: SigningKey): Receipt
  /** Adds a receipt at the end. */
  append(draft: Draft, key?: SigningKey): Promise<Sealed>
  /** Adds any bytes. */
  appendRaw(envelope: Uint8Array): void
  keepPolicy(text: string): string
  /** A checkpoint of the ledger at its current or an earlier size. */
  checkpointAt(size?: number, keys?: readonly SigningKey[]): Promise<string>
  /** Sets the checkpoint of packs. */
  sealHead(keys?: readonly SigningKey[]): Promise<string>
  useCheckpoint(text: string): void
  noteKey(): NoteKey
}

export const hash = (text: string): string => sha256Hex(text)

/** A key that is the same in every run. */
export function fixedKey(name: string): Promise<SigningKey> {
  return importSigningKey(new Uint8Array(Buffer.from(sha256Hex(`tollgate test key: ${name}`), 'hex')))
}

const START = Date.UTC(2026, 0, 5, 9, 0, 0)

export async function createLedger({
  origin = 'ledger.example/demo',
  salt = '',
}: LedgerOptions = {}): Promise<TestLedger> {
  const ledgerKey = await fixedKey(`ledger${salt}`)
  const writerKey = await fixedKey(`writer${salt}`)
  const entries: Sealed[] = []
  const envelopes: Uint8Array[] = []
  const heads = new Map<string, ChainHead>()
  const clocks = new Map<string, number>()
  const nodes = new Map<string, Uint8Array>()
  const policies = new Map<string, Uint8Array>()
  const tree = createTree()
  let checkpoint = ''

  function keep(added: readonly TreeNode[]): void {
    for (const { level, index, hash } of added) nodes.set(`${level}/${index}`, hash)
  }

  function signerOf(draft: Draft, key: SigningKey | undefined): SigningKey {
    return key ?? (draft.kind === 'genesis' || draft.kind === 'key' ? ledgerKey : writerKey)
  }

  const ledger: TestLedger = {
    origin,
    ledgerKey,
    writerKey,
    entries,
    get size() {
      return envelopes.length
    },
    get checkpoint() {
      return checkpoint
    },
    prepare(draft, key) {
      const writer = draft.writer ?? 'gw-1'
      const causes = draft.causes ?? []
      const place = nextPlace(
        heads.get(writer),
        causes.map((id) => clocks.get(id) ?? 0),
      )
      return {
        v: 1,
        ledger: origin,
        tenant: 'default',
        writer,
        ...place,
        causes,
        time: new Date(START + envelopes.length * 1000).toISOString(),
        key: signerOf(draft, key).publicKey.id,
        ...draft,
      }
    },
    async append(draft, key) {
      const receipt = ledger.prepare(draft, key)
      const sealed = await sealReceipt(receipt, signerOf(draft, key))
      heads.set(receipt.writer, chainHead(sealed))
      clocks.set(sealed.id, receipt.lamport_clock)
      entries.push(sealed)
      ledger.appendRaw(sealed.envelope)
      return sealed
    },
    appendRaw(envelope) {
      envelopes.push(envelope)
      keep(tree.append(leafHash(envelope)))
    },
    keepPolicy(text) {
      const bytes = new TextEncoder().encode(text)
      policies.set(sha256Hex(bytes), bytes)
      return sha256Hex(bytes)
    },
    async checkpointAt(size = envelopes.length, keys = [ledgerKey]) {
      const prefix = createTree()
      for (const envelope of envelopes.slice(0, size)) prefix.append(leafHash(envelope))
      return sealCheckpoint({ origin, size, root: prefix.root() }, keys)
    },
    async sealHead(keys = [ledgerKey]) {
      checkpoint = await sealCheckpoint({ origin, size: tree.size, root: tree.root() }, keys)
      return checkpoint
    },
    useCheckpoint(text) {
      checkpoint = text
    },
    *receipts(start, end) {
      yield* envelopes.slice(start, end)
    },
    node(level, index) {
      const found = nodes.get(`${level}/${index}`)
      if (!found) throw new Error(`no node ${level}/${index}`)
      return found
    },
    policy: (hash) => policies.get(hash),
    noteKey: () => noteKey(origin, ledgerKey.publicKey),
  }
  return ledger
}

/** Appends the genesis receipt and the key of the writer. */
export async function begin(ledger: TestLedger): Promise<void> {
  const { ledgerKey, writerKey } = ledger
  await ledger.append({ kind: 'genesis', public_key: toBase64(ledgerKey.publicKey.bytes), commit: 'plain' })
  await ledger.append({
    kind: 'key',
    op: 'add',
    role: 'writer',
    of: 'gw-1',
    public_key: toBase64(writerKey.publicKey.bytes),
  })
}

type DecisionDraft = Extract<Draft, { kind: 'decision' }>

/** A valid decision, changed by `fields`. */
export function decision(policyHash: string, fields: Partial<DecisionDraft> = {}): DecisionDraft {
  return {
    kind: 'decision',
    principal: 'agent:ci',
    session: { id: 's-1', seq: 0 },
    door: 'mcp',
    assurance: 'enforced',
    tool: 'fs/read_file',
    effect_class: 'read',
    args_hash: hash('args'),
    commit: 'plain',
    verdict: 'ALLOW',
    reason_code: 'RULE_ALLOWED',
    rung: 'policy',
    rule: 'reading',
    policy_hash: policyHash,
    ladder: hash('ladder'),
    state_hash: hash('state'),
    next_state_hash: hash('next state'),
    evidence: hash('evidence'),
    trajectory_risk_score: '0.0000',
    session_centroid_hash: hash('centroid'),
    risk_accumulation_window: 8,
    ...fields,
  }
}

type EffectDraft = Extract<Draft, { kind: 'effect' }>

/** The completed effect of a decision. */
export function effect(of: string, fields: Partial<EffectDraft> = {}): EffectDraft {
  return { ...unfinished(of), status: 'COMPLETED', effect_hash: hash('effect'), ...fields }
}

/** An effect with the status UNKNOWN. */
export function unknownEffect(of: string): EffectDraft {
  return { ...unfinished(of), status: 'UNKNOWN', cause: 'crash' }
}

function unfinished(of: string): Omit<EffectDraft, 'status'> {
  return {
    kind: 'effect',
    decision: of,
    causes: [of],
    commit: 'plain',
    reported_by: 'gateway',
    delivery: 'full',
  }
}

export const POLICY_TEXT = `tollgate: 1
name: demo
rules:
  - { id: reading, allow: "fs/read_file" }
  - { id: mail, require: "mail/send", approvers: [ops] }
`

/** A ledger with 24 entries of all kinds. */
export async function demoLedger(options: LedgerOptions = {}): Promise<TestLedger> {
  const ledger = await createLedger(options)
  const policy = ledger.keepPolicy(POLICY_TEXT)
  await begin(ledger)
  await ledger.append(
    decision(NO_HASH, {
      verdict: 'DENY',
      reason_code: 'NO_POLICY_DEFINED',
      principal: 'agent:ci',
      rule: 'none',
    }),
  )
  await ledger.append({ kind: 'policy', policy_hash: policy, name: 'demo', by: 'admin:ann' })
  await ledger.append({
    kind: 'token',
    op: 'issue',
    token_hash: hash('token'),
    role: 'agent',
    principal: 'agent:ci',
    by: 'admin:ann',
  })
  await ledger.append({
    kind: 'pin',
    op: 'pin',
    tool: 'fs/read_file',
    definition_hash: hash('definition'),
    by: 'admin:ann',
  })
  await ledger.append({ kind: 'session', op: 'open', session: 's-1', principal: 'agent:ci' })
  const read = await ledger.append(decision(policy, { definition_hash: hash('definition') }))
  await ledger.append(effect(read.id))
  await ledger.append(
    decision(policy, {
      session: { id: 's-1', seq: 1 },
      tool: 'http/post',
      effect_class: 'send',
      verdict: 'DENY',
      reason_code: 'DATA_EGRESS_BLOCKED',
      rung: 'egress',
      trajectory_risk_score: '0.1200',
    }),
  )
  const asked = await ledger.append(
    decision(policy, {
      session: { id: 's-1', seq: 2 },
      tool: 'mail/send',
      effect_class: 'send',
      verdict: 'ESCALATE',
      reason_code: 'APPROVAL_REQUIRED',
      rule: 'mail',
    }),
  )
  const answer = await ledger.append({
    kind: 'approval',
    decision: asked.id,
    causes: [asked.id],
    answer: 'GRANTED',
    approver: 'operator:bob',
    expires: '2026-01-05T10:00:00.000Z',
  })
  const sent = await ledger.append(
    decision(policy, {
      session: { id: 's-1', seq: 3 },
      tool: 'mail/send',
      effect_class: 'send',
      reason_code: 'APPROVAL_GRANTED',
      rule: 'mail',
      approval: answer.id,
      causes: [asked.id, answer.id],
      assurance: 'advised',
      door: 'http',
      expires: '2026-01-05T10:00:00.000Z',
    }),
  )
  await ledger.append(effect(sent.id, { status: 'FAILED', reported_by: 'caller' }))
  const lost = await ledger.append(decision(policy, { session: { id: 's-1', seq: 4 } }))
  await ledger.append({ kind: 'recovery', closed: 1, because: 'the gateway was killed' })
  await ledger.append(unknownEffect(lost.id))
  await ledger.append(effect(lost.id, { late: true }))
  await ledger.append(
    decision(policy, {
      session: { id: 's-1', seq: 5 },
      door: 'browser',
      tool: 'browser/click',
      effect_class: 'write',
      verdict: 'DENY',
      reason_code: 'COGNITIVE_FIREWALL_SENTINEL_DENY',
      rung: 'browser',
      browser: {
        sentinel_risk: 88,
        sentinel_findings: ['HIDDEN_TEXT'],
        dom_hash: hash('dom'),
        visual_text_hash: hash('text'),
        planner_ref: 'plan-7',
        destination_host: 'shop.example',
      },
    }),
  )
  await ledger.append({
    kind: 'delegation',
    op: 'grant',
    delegation_hash: hash('delegation'),
    delegator: 'agent:ci',
    delegate: 'agent:sub',
    expires: '2026-01-06T00:00:00.000Z',
    by: 'agent:ci',
  })
  await ledger.append({
    kind: 'observe',
    scope: 'door',
    target: 'mcp',
    on: true,
    until: '2026-01-05T12:00:00.000Z',
    by: 'admin:ann',
  })
  await ledger.append({
    kind: 'freeze',
    scope: 'principal',
    target: 'agent:ci',
    frozen: true,
    by: 'operator:bob',
  })
  await ledger.append({ kind: 'session', op: 'close', session: 's-1', principal: 'agent:ci', decisions: 6 })
  await ledger.append(
    decision(policy, {
      session: { id: 's-2', seq: 0 },
      verdict: 'DENY',
      reason_code: 'AGENT_KILLED',
      rung: 'freeze',
    }),
  )
  await ledger.sealHead()
  return ledger
}

/** The text of UTF-8 bytes. */
export function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8')
}

/** Joins all chunks of a pack. */
export async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return new Uint8Array(Buffer.concat(parts))
}
