// A ledger of any length, kept in a file: decisions and their effects, as a busy gateway writes them.

import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import {
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

type Fields = Readonly<Record<string, unknown>> & { readonly kind: Receipt['kind'] }

/** A decision as a gateway makes it: the fields in the order of the design, some of them new each time. */
export function decisionFields(i: number): Fields {
  return {
    kind: 'decision',
    principal: 'agent:build-7',
    session: { id: `session-${Math.floor(i / 40)}`, seq: i % 40 },
    door: 'mcp',
    assurance: 'enforced',
    tool: 'fs/read_file',
    effect_class: 'read',
    args_hash: hash(`args ${i}`),
    commit: 'plain',
    definition_hash: hash('definition'),
    verdict: 'ALLOW',
    reason_code: 'RULE_ALLOWED',
    rung: 'policy',
    rule: 'reading',
    policy_hash: hash(POLICY),
    ladder: hash('ladder'),
    state_hash: hash(`state ${i}`),
    evidence: hash(`evidence ${i}`),
    trajectory_risk_score: '0.0420',
    session_centroid_hash: hash(`centroid ${i}`),
    risk_accumulation_window: 8,
  }
}

export function effectFields(i: number, decision: string): Fields {
  return {
    kind: 'effect',
    decision,
    causes: [decision],
    status: 'COMPLETED',
    effect_hash: hash(`effect ${i}`),
    commit: 'plain',
    reported_by: 'gateway',
    delivery: 'full',
  }
}

/** The whole receipt, at its place in the chain. */
export function receiptOf(
  fields: Fields,
  at: number,
  head: ChainHead | undefined,
  clocks: number[],
  key: string,
): Receipt {
  const place = nextPlace(head, clocks)
  const time = new Date(START + at * 10).toISOString()
  const common = { v: 1, ledger: ORIGIN, tenant: 'default', writer: 'gw-1', causes: [], time, key }
  return { ...common, ...place, ...fields } as unknown as Receipt
}

export async function writeBigLedger(
  path: string,
  size: number,
  keys: { readonly ledger: SigningKey; readonly writer: SigningKey },
  onProgress: (done: number) => void,
): Promise<BigLedger> {
  const file = openSync(path, 'w+')
  const offsets = new Float64Array(size + 1)
  const levels: Buffer[] = []
  const tree = createTree()
  let head: ChainHead | undefined

  async function append(fields: Fields, at: number, key: SigningKey, clocks: number[]): Promise<string> {
    const receipt = receiptOf(fields, at, head, clocks, key.publicKey.id)
    const { id, envelope } = await sealReceipt(receipt, key)
    head = { id, seq: receipt.seq, lamport_clock: receipt.lamport_clock, time: receipt.time }
    const start = offsets[at] ?? 0
    writeSync(file, envelope, 0, envelope.length, start)
    offsets[at + 1] = start + envelope.length
    for (const { level, index, hash: node } of tree.append(leafHash(envelope))) {
      levels[level] ??= Buffer.alloc(32 * (Math.ceil(size / 2 ** level) + 1))
      levels[level].set(node, 32 * index)
    }
    return id
  }

  const publicKey = (key: SigningKey): string => toBase64(key.publicKey.bytes)
  await append({ kind: 'genesis', public_key: publicKey(keys.ledger), commit: 'plain' }, 0, keys.ledger, [])
  await append(
    { kind: 'key', op: 'add', role: 'writer', of: 'gw-1', public_key: publicKey(keys.writer) },
    1,
    keys.ledger,
    [],
  )
  await append(
    { kind: 'policy', policy_hash: hash(POLICY), name: 'bench', by: 'admin:ann' },
    2,
    keys.writer,
    [],
  )
  let open = ''
  for (let at = 3; at < size; at++) {
    const fields = open === '' ? decisionFields(at) : effectFields(at, open)
    const clocks = open === '' ? [] : [head?.lamport_clock ?? 0]
    const id = await append(fields, at, keys.writer, clocks)
    open = open === '' ? id : ''
    if (at % 10_000 === 0) onProgress(at)
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
