// Measures a ledger in PostgreSQL: batches beside single receipts, one, two and four gateways beside the embedded ledger, and whether
// a call costs more on a longer ledger.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { encodeReceipt, importSigningKey, nextPlace, chainHead, type ChainHead } from '@tollgate/evidence'
import { foundingBatch, type Entry } from '@tollgate/kernel'
import { createPostgresTables, openPostgresStore } from '../packages/gateway/src/store/postgres/store.ts'
import { joinLedger } from '../packages/gateway/src/join.ts'
import { readConfig } from '../packages/gateway/src/config/config.ts'
import { startServer, type TestServer } from '../packages/gateway/test/store/postgres/server.ts'
import { makeData } from './child-data.mjs'
import { median, sized, type Row } from './measure.ts'

const URL_ENV = 'TOLLGATE_BENCH_DATABASE'
const CHILD = fileURLToPath(new URL('./gateway-child.mjs', import.meta.url))
const ROUNDS = sized(5, 1)
const ROUND_MS = sized(2000, 20)
const WARM_MS = sized(1000, 20)
const FLIGHT = 64
const FLEETS = sized(4, 1)
const RECEIPTS = Number(process.env.TOLLGATE_BENCH_RECEIPTS ?? sized(1_000_000, 200))

export async function* postgresRows(say: (line: string) => void): AsyncGenerator<Row> {
  const folder = mkdtempSync(join(process.env.TOLLGATE_BENCH_DIR ?? tmpdir(), 'tollgate-bench-'))
  const server = await startServer()
  try {
    say('postgres: batches …')
    yield await batching(server)
    say('postgres: gateways on one ledger …')
    yield* fleets(server, folder)
    say(`postgres: a ledger of ${RECEIPTS.toLocaleString('en-US')} receipts …`)
    yield await growing(server)
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const ORIGIN = 'ledger.example/bench'
const WRITER = 'gateway'

/** A store with a new ledger, and a function that writes one batch of this many receipts to it. */
async function writerOn(server: TestServer) {
  const place = server.place()
  const seeds = [1, 2].map((byte) => new Uint8Array(32).fill(byte))
  const [ledger, writer] = await Promise.all(seeds.map((seed) => importSigningKey(Uint8Array.from(seed))))
  if (!ledger || !writer) throw new Error('no keys')
  await createPostgresTables(place)
  const store = await openPostgresStore({
    place,
    origin: ORIGIN,
    writer: WRITER,
    seeds,
    guard: undefined,
    quiet: true,
  })
  const [ledgerKey, writerKey] = [ledger.publicKey, writer.publicKey]
  await store.write(foundingBatch({ origin: ORIGIN, writer: WRITER, ledgerKey, writerKey, time: Date.now() }))
  let head = await store.head()
  const write = async (receipts: number): Promise<void> => {
    const after = head?.id
    const entries: Entry[] = []
    for (let i = 0; i < receipts; i++) {
      const encoded = encodeReceipt({
        v: 1,
        kind: 'recovery',
        ledger: ORIGIN,
        tenant: 'default',
        writer: WRITER,
        ...nextPlace(head, []),
        causes: [],
        time: new Date(Date.parse(head?.time ?? '') || 0).toISOString(),
        key: writerKey.id,
        closed: 0,
        because: 'x'.repeat(500),
      })
      head = chainHead(encoded) satisfies ChainHead
      entries.push({ encoded, anchors: [] })
    }
    await store.write({ after, entries, records: new Map() })
  }
  return { store, write }
}

/** Microseconds per receipt. */
async function cost(
  write: (receipts: number) => Promise<void>,
  batch: number,
  batches: number,
): Promise<number> {
  const began = performance.now()
  for (let i = 0; i < batches; i++) await write(batch)
  return (1000 * (performance.now() - began)) / (batch * batches)
}

async function batching(server: TestServer): Promise<Row> {
  const { store, write } = await writerOn(server)
  const pairs: { one: number; many: number }[] = []
  for (let i = 0; i <= ROUNDS; i++) {
    pairs.push({ one: await cost(write, 1, sized(100, 3)), many: await cost(write, FLIGHT, sized(30, 2)) })
  }
  await store.close()
  const ratio = median(pairs.map(({ one, many }) => one / many))
  return {
    area: 'postgres',
    name: `receipt in a batch of ${FLIGHT}, beside a batch of one`,
    value: median(pairs.map(({ many }) => many)),
    unit: 'µs',
    floor: median(pairs.map(({ one }) => one)),
    ratio,
    target: '≥ 10 × cheaper',
    pass: ratio >= 10,
  }
}

/** A batch on a long ledger beside one on a short ledger, alternating. */
async function growing(server: TestServer): Promise<Row> {
  const [short, long] = [await writerOn(server), await writerOn(server)]
  for (let size = 0; size < 10_000 && size < RECEIPTS / 10; size += 1000) await short.write(1000)
  for (let size = 0; size < RECEIPTS; size += 2000) await long.write(Math.min(2000, RECEIPTS))
  await server.query('CHECKPOINT')
  const pairs: { short: number; long: number }[] = []
  for (let i = 0; i <= ROUNDS; i++) {
    pairs.push({
      short: await cost(short.write, FLIGHT, sized(20, 1)),
      long: await cost(long.write, FLIGHT, sized(20, 1)),
    })
  }
  await short.store.close()
  await long.store.close()
  const ratio = median(pairs.map((pair) => pair.long / pair.short))
  return {
    area: 'postgres',
    name: `receipt at ${RECEIPTS.toLocaleString('en-US')} receipts, beside 10,000`,
    value: median(pairs.map((pair) => pair.long)),
    unit: 'µs',
    floor: median(pairs.map((pair) => pair.short)),
    ratio,
    target: '≤ 1.2',
    pass: ratio <= 1.2,
  }
}

/** Governed calls per second of one, two and four gateways, beside one gateway with a file. */
async function* fleets(server: TestServer, folder: string): AsyncGenerator<Row> {
  process.env[URL_ENV] = server.place().url
  const file = startCalls(join(folder, 'file'), 'f')
  const first = join(folder, 'gw-1')
  await makeData(first, '', URL_ENV)
  const members = [first]
  for (let i = 2; i <= FLEETS; i++) members.push(await joinBeside(first, join(folder, `gw-${i}`), `gw-${i}`))
  const children = members.map((data, i) => startCalls(data, `${i}-`))
  const rounds: Record<string, number>[] = []
  for (let i = 0; i <= ROUNDS; i++) {
    const rates: Record<string, number> = { file: await rateOf([file]) }
    for (const size of [1, 2, 4]) if (size <= FLEETS) rates[size] = await rateOf(children.slice(0, size))
    if (i > 0 || ROUNDS === 1) rounds.push(rates)
  }
  for (const child of [file, ...children]) await child.end()
  const file1 = median(rounds.map(({ file: rate }) => rate ?? NaN))
  for (const size of [1, 2, 4].filter((each) => each <= FLEETS)) {
    yield {
      area: 'postgres',
      name: `governed calls, ${size} ${size === 1 ? 'gateway' : 'gateways'} with ${FLIGHT} in flight each, beside the file`,
      value: median(rounds.map((rates) => rates[size] ?? NaN)),
      unit: '/s',
      floor: file1,
      ratio: median(rounds.map((rates) => (rates[size] ?? NaN) / (rates.file ?? NaN))),
      target: 'of one gateway with a file, on the same machine',
      pass: true,
    }
  }
}

/** A data directory of one more gateway, which joins the ledger of the first. */
async function joinBeside(first: string, data: string, writer: string): Promise<string> {
  cpSync(first, data, { recursive: true })
  for (const name of readdirSync(join(data, 'keys')))
    if (name.startsWith('writer-')) rmSync(join(data, 'keys', name))
  rmSync(join(data, 'ledger.postgres'))
  const file = join(data, 'tollgate.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace('writer: gateway', `writer: ${writer}`))
  await joinLedger(readConfig(data))
  return data
}

interface Calls {
  tell(line: string): void
  next(): Promise<number>
  end(): Promise<void>
}

function startCalls(data: string, lane: string): Calls {
  const env = { ...process.env, TOLLGATE_BENCH_LANE: lane }
  const child: ChildProcess = spawn(process.execPath, [CHILD, 'calls', data, String(WARM_MS)], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  if (!child.stdout) throw new Error('no output')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    tell: (line) => void child.stdin?.write(`${line}\n`),
    async next() {
      const value: unknown = (await lines.next()).value
      // Sound: the child prints such lines.
      return (JSON.parse(String(value)) as { readonly perSecond: number }).perSecond
    },
    async end() {
      child.stdin?.end()
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

/** Calls per second of these gateways together. */
async function rateOf(children: readonly Calls[]): Promise<number> {
  for (const child of children) child.tell(`${FLIGHT} ${ROUND_MS}`)
  const rates = await Promise.all(children.map((child) => child.next()))
  return rates.reduce((sum, rate) => sum + rate, 0)
}
