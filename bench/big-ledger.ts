// Writes a ledger of any length to a file: decisions and effects like those of a busy gateway.

import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import {
  chainHead,
  createTree,
  leafHash,
  nextPlace,
  noteKey,
  sealCheckpoint,
  sealReceipt,
  sha256Hex,
  toBase64,
  type ChainHead,
  type LedgerReader,
  type NoteKey,
  type Receipt,
  type SigningKey,
} from '@tollgate/evidence'

export interface BigLedger extends LedgerReader {
  readonly origin: string
  readonly key: NoteKey
  readonly size: number
  close(): void
}

const ORIGIN = 'ledger.example/bench'
const POLICY = 'tollgate: 1\nname: bench\n'
const START = Date.UTC(2026, 0, 5)
const hash = (text: string): string => sha256Hex(text)
const POLICY_HASH = hash(POLICY)

/** The position of a receipt: its index, time, chain position and signer. */
interface At {
  readonly index: number
  readonly head: ChainHead | undefined
  readonly key: string
}

const timeOf = (index: number): string => new Date(START + index * 10).toISOString()

/** A typical decision with some new hashes each time. One literal, because that is faster to check than parts. */
export function decisionAt({ index, head, key }: At): Receipt {
  const { seq, lamport_clock, prev_receipt_hash } = nextPlace(head, [])
  return {
    v: 1,
    kind: 'decision',
    ledger: ORIGIN,
    tenant: 'default',
    writer: 'gw-1',
    seq,
    lamport_clock,
    prev_receipt_hash,
    causes: [],
    time: timeOf(index),
    key,
    principal: 'agent:build-7',
    session: { id: `session-${Math.floor(index / 40)}`, seq: index % 40 },
    door: 'mcp',
    assurance: 'enforced',
    tool: 'fs/read_file',
    effect_class: 'read',
    args_hash: hash(`args ${index}`),
    commit: 'plain',
    definition_hash: hash('definition'),
    verdict: 'ALLOW',
    reason_code: 'RULE_ALLOWED',
    rung: 'policy',
    rule: 'reading',
    policy_hash: POLICY_HASH,
    ladder: hash('ladder'),
    state_hash: hash(`state ${index}`),
    next_state_hash: hash(`next state ${index}`),
    evidence: hash(`evidence ${index}`),
    trajectory_risk_score: '0.0420',
    session_centroid_hash: hash(`centroid ${index}`),
    risk_accumulation_window: 8,
  }
}

/** The effect of the writer's newest receipt. */
export function effectAt({ index, head, key }: At): Receipt {
  const { seq, lamport_clock, prev_receipt_hash } = nextPlace(head, [])
  return {
    v: 1,
    kind: 'effect',
    ledger: ORIGIN,
    tenant: 'default',
    writer: 'gw-1',
    seq,
    lamport_clock,
    prev_receipt_hash,
    causes: [prev_receipt_hash],
    time: timeOf(index),
    key,
    decision: prev_receipt_hash,
    status: 'COMPLETED',
    effect_hash: hash(`effect ${index}`),
    commit: 'plain',
    reported_by: 'gateway',
    delivery: 'full',
  }
}

/** The first three entries of every ledger here. */
function beginningAt({ index, head, key }: At, keys: Keys): Receipt {
  const common = {
    v: 1,
    ledger: ORIGIN,
    tenant: 'default',
    writer: 'gw-1',
    causes: [],
    time: timeOf(index),
    key,
  } as const
  const place = { ...common, ...nextPlace(head, []) }
  const public_key = toBase64((index === 0 ? keys.ledger : keys.writer).publicKey.bytes)
  if (index === 0) return { ...place, kind: 'genesis', public_key, commit: 'plain' }
  if (index === 1) return { ...place, kind: 'key', op: 'add', role: 'writer', of: 'gw-1', public_key }
  return { ...place, kind: 'policy', policy_hash: POLICY_HASH, name: 'bench', by: 'admin:ann' }
}

interface Keys {
  readonly ledger: SigningKey
  readonly writer: SigningKey
}

export async function writeBigLedger(
  path: string,
  size: number,
  keys: Keys,
  onProgress: (done: number) => void,
): Promise<BigLedger> {
  const file = openSync(path, 'w+')
  const offsets = new Float64Array(size + 1)
  const levels: Buffer[] = []
  const tree = createTree()
  let head: ChainHead | undefined

  for (let index = 0; index < size; index++) {
    const key = index < 2 ? keys.ledger : keys.writer
    const at = { index, head, key: key.publicKey.id }
    const receipt = index < 3 ? beginningAt(at, keys) : index % 2 === 1 ? decisionAt(at) : effectAt(at)
    const sealed = await sealReceipt(receipt, key)
    const { envelope } = sealed
    head = chainHead(sealed)
    const start = offsets[index] ?? 0
    writeSync(file, envelope, 0, envelope.length, start)
    offsets[index + 1] = start + envelope.length
    for (const node of tree.append(leafHash(envelope))) {
      levels[node.level] ??= Buffer.alloc(32 * (Math.ceil(size / 2 ** node.level) + 1))
      levels[node.level]?.set(node.hash, 32 * node.index)
    }
    if (index % 100_000 === 0 && index > 0) onProgress(index)
  }

  return {
    origin: ORIGIN,
    size,
    key: noteKey(ORIGIN, keys.ledger.publicKey),
    checkpoint: await sealCheckpoint({ origin: ORIGIN, size, root: tree.root() }, [keys.ledger]),
    *receipts(start, end) {
      for (let at = start; at < end; at++) {
        const from = offsets[at] ?? 0
        const bytes = Buffer.alloc((offsets[at + 1] ?? 0) - from)
        readSync(file, bytes, 0, bytes.length, from)
        yield bytes
      }
    },
    node: (level, index) => levels[level]?.subarray(32 * index, 32 * index + 32) ?? Buffer.alloc(32),
    policy: () => Buffer.from(POLICY),
    close: () => closeSync(file),
  }
}
