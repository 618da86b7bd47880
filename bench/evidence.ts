// Measures sealing and verifying, compared with the bare signatures.

import { execFileSync } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, sign, verify, type KeyObject } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { once } from 'node:events'
import {
  formatTrust,
  importSigningKey,
  parseReceipt,
  parseTrust,
  readPack,
  sealReceipt,
  verifyPack,
  writePack,
  type SignatureChecker,
  type Trust,
} from '@tollgate/evidence'
import { verifyFile } from '@tollgate/evidence/node'
import { decisionAt, effectAt, writeBigLedger, type BigLedger } from './big-ledger.ts'
import { beside, seconds, sized, type Row } from './measure.ts'

// The targets are for the full size.
const LARGE = Number(process.env.TOLLGATE_BENCH_RECEIPTS ?? sized(1_000_000, 200))
const SMALL = Math.min(LARGE, 100_000)

export async function* evidenceRows(say: (line: string) => void): AsyncGenerator<Row> {
  yield* sealing()
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'))
  try {
    yield* verifying(folder, say)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const seed = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)

async function* sealing(): AsyncGenerator<Row> {
  const key = await importSigningKey(seed(2))
  const bare = generateKeyPairSync('ed25519').privateKey
  const head = { id: 'ab'.repeat(32), seq: 7, lamport_clock: 9, time: '2026-01-05T00:00:00.000Z' }
  for (const [name, make] of [['decision', decisionAt] as const, ['effect', effectAt] as const]) {
    const ready = Array.from({ length: 1000 }, (_, index) => make({ index, head, key: key.publicKey.id }))
    const first = ready[0] ?? make({ index: 0, head, key: key.publicKey.id })
    // The bare signature covers as many bytes as the sealed one.
    const message = Buffer.alloc((await sealReceipt(first, key)).payload.length + 60, 7)
    const { work, floor, ratio } = await beside(
      (i) => sealReceipt(ready[i % 1000] ?? first, key),
      () => sign(null, message, bare),
      { rounds: sized(31, 1), calls: sized(1000, 10) },
    )
    yield row(`seal one ${name}`, work, 'µs', floor, ratio, '≤ 1.35 × a bare signature', ratio <= 1.35)
  }
}

async function* verifying(folder: string, say: (line: string) => void): AsyncGenerator<Row> {
  const keys = { ledger: await importSigningKey(seed(1)), writer: await importSigningKey(seed(2)) }
  say(`writing a ledger of ${LARGE} receipts`)
  const ledger = await writeBigLedger(join(folder, 'ledger'), LARGE, keys, (done) =>
    say(`  ${done} receipts signed`),
  )
  const trustText = formatTrust({ ledger: ledger.origin, keys: [ledger.key], witnesses: [], quorum: 0 })
  const trust = await parseTrust(trustText)
  const small = await savePack(ledger, SMALL, join(folder, 'small.pack'))
  yield* structure(small, trust)
  yield* threads(small, trust)
  say('writing the large pack')
  const large = await savePack(ledger, LARGE, join(folder, 'large.pack'))
  ledger.close()
  await writeFile(join(folder, 'trust.json'), trustText)
  say('verifying it')
  yield memory(large, join(folder, 'trust.json'))
}

/** All checks except signatures, compared with the signatures alone. */
async function* structure(path: string, trust: Trust): AsyncGenerator<Row> {
  const bytes = await readFile(path)
  const believer: SignatureChecker = { parallel: 1, check: (jobs) => Promise.resolve(jobs.map(() => true)) }
  const check = () => verifyPack(bytes, { trust, signatures: believer })
  await check()
  const structural = await seconds(check)
  const jobs = await bareJobs(bytes)
  const signatures = await seconds(() => {
    for (const { message, key, signature } of jobs) verify(null, message, key, signature)
    return Promise.resolve()
  })
  const [value, floor] = [SMALL / structural, jobs.length / signatures]
  yield row(
    'structural verification',
    value,
    'receipts/s',
    floor,
    value / floor,
    '≥ 5 × bare signature checks',
    value >= 5 * floor,
  )
}

interface BareJob {
  readonly message: Buffer
  readonly key: KeyObject
  readonly signature: Uint8Array
}

/** The signatures of a pack for `node:crypto`. A tenth is enough to measure the rate. */
async function bareJobs(pack: Uint8Array): Promise<BareJob[]> {
  const jobs: BareJob[] = []
  const key = createPublicKey(generateKeyPairSync('ed25519').privateKey)
  for await (const part of readPack(pack)) {
    if (part.kind !== 'receipts' || jobs.length >= SMALL / 10) continue
    for (const envelope of part.envelopes) {
      const { payload, signature } = parseReceipt(envelope)
      jobs.push({ message: Buffer.concat([Buffer.alloc(60), payload]), key, signature })
    }
  }
  return jobs
}

async function* threads(path: string, trust: Trust): AsyncGenerator<Row> {
  const workers = availableParallelism()
  const single = await seconds(() => verifyFile(path, { trust, workers: 0 }))
  const all = await seconds(() => verifyFile(path, { trust, workers }))
  const [value, floor] = [SMALL / all, SMALL / single]
  const name = `full verification, ${workers} threads`
  yield row(
    name,
    value,
    'receipts/s',
    floor,
    value / floor,
    '≥ 1.5 × one thread (2 cores)',
    value >= 1.5 * floor,
  )
}

const CHILD = fileURLToPath(new URL('./verify-child.mjs', import.meta.url))

/** Runs in a separate process, to measure its memory. */
function memory(pack: string, trust: string): Row {
  const text = execFileSync(process.execPath, [CHILD, pack, trust], { encoding: 'utf8' })
  const out = JSON.parse(text) as { level: string; receipts: number; peak: number }
  const { peak } = out
  const whole = out.level === 'verified' && out.receipts === LARGE
  if (!whole) throw new Error(`the large pack was not verified: ${JSON.stringify(out)}`)
  return row(`peak memory, pack of ${LARGE} receipts`, peak, 'MB', null, null, '< 300 MB', peak < 300)
}

async function savePack(ledger: BigLedger, end: number, path: string): Promise<string> {
  const file = createWriteStream(path)
  for await (const chunk of writePack(ledger, { range: { start: 0, end } })) {
    if (!file.write(chunk)) await once(file, 'drain')
  }
  file.end()
  await once(file, 'close')
  return path
}

function row(
  name: string,
  value: number,
  unit: string,
  floor: number | null,
  ratio: number | null,
  target: string,
  pass: boolean,
): Row {
  return { area: 'evidence', name, value, unit, floor, ratio, target, pass }
}
