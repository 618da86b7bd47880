// Measures the gateway: a durable governed call compared with its signatures and syncs; the API compared with a server that
// answers a constant; and whether either grows with the ledger.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { bareFloor } from './floor.ts'
import { median, sized, type Row } from './measure.ts'

const RECEIPTS = Number(process.env.TOLLGATE_BENCH_RECEIPTS ?? sized(1_000_000, 200))
const CHILD = fileURLToPath(new URL('./gateway-child.mjs', import.meta.url))
const ROUNDS = sized(7, 1)
const ROUND_MS = sized(1500, 20)
const WARM_MS = sized(1000, 20)
const FLOOR_MS = sized(300, 5)

export async function* gatewayRows(say: (line: string) => void): AsyncGenerator<Row> {
  const folder = mkdtempSync(join(process.env.TOLLGATE_BENCH_DIR ?? tmpdir(), 'tollgate-bench-'))
  try {
    say('gateway: durable governed calls …')
    yield* governed(join(folder, 'calls'), folder)
    say('gateway: POST /v1/evaluate over loopback …')
    yield await evaluating(join(folder, 'api'))
    say(`gateway: a ledger of ${RECEIPTS.toLocaleString('en-US')} receipts …`)
    yield* growing(join(folder, 'large'), say)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Durable governed calls per second with 1, 16 and 128 in flight, alternating with bare signatures and commits. */
async function* governed(data: string, folder: string): AsyncGenerator<Row> {
  const child = start('calls', data, String(WARM_MS))
  const floor = bareFloor(folder)
  const rounds: { perSignature: number; perCommit: number; rates: Record<string, number> }[] = []
  for (let i = 0; i < ROUNDS; i++) {
    const perSignature = floor.signature(FLOOR_MS)
    const perCommit = floor.commit(FLOOR_MS)
    const rates: Record<string, number> = {}
    for (const flight of [1, 16, 128]) {
      child.tell(`${flight} ${ROUND_MS}`)
      const { perSecond } = await child.next()
      rates[flight] = perSecond ?? NaN
    }
    rounds.push({ perSignature, perCommit, rates })
  }
  await child.end()
  floor.close()
  // A single call waits for two signatures and two commits. Nothing is shared.
  const alone = rounds.map(({ perSignature, perCommit, rates }) => ({
    value: 1e6 / (rates['1'] ?? NaN),
    floor: 2 * perSignature + 2 * perCommit,
  }))
  yield {
    area: 'gateway',
    name: 'durable governed call, 1 in flight',
    value: median(alone.map(({ value }) => value)),
    unit: 'µs',
    floor: median(alone.map((each) => each.floor)),
    ratio: median(alone.map((each) => each.value / each.floor)),
    target: '≤ 2.2 × (two signatures + two one-row commits)',
    pass: median(alone.map((each) => each.value / each.floor)) <= 2.2,
  }
  for (const flight of ['16', '128']) {
    const shares = rounds.map(({ perSignature, rates }) => ((rates[flight] ?? NaN) * 2 * perSignature) / 1e6)
    const share = median(shares)
    yield {
      area: 'gateway',
      name: `durable governed calls, ${flight} in flight`,
      value: median(rounds.map(({ rates }) => rates[flight] ?? NaN)),
      unit: '/s',
      floor: median(rounds.map(({ perSignature }) => 1e6 / (2 * perSignature))),
      ratio: share,
      target:
        flight === '128' ? '≥ 0.45 of what the signatures alone allow' : 'of what the signatures alone allow',
      pass: flight !== '128' || share >= 0.45,
    }
  }
}

/** `POST /v1/evaluate` with 64 connections, alternating with the same HTTP server answering a constant. */
async function evaluating(data: string): Promise<Row> {
  const [api, constant] = [start('serve', data), start('constant', data)]
  const [apiAt, constantAt] = [await api.next(), await constant.next()]
  const pairs: { api: number; constant: number }[] = []
  for (let i = 0; i <= ROUNDS; i++) {
    const pair = { constant: await load(constantAt, ROUND_MS), api: await load(apiAt, ROUND_MS) }
    // The first round only warms up.
    if (i > 0) pairs.push(pair)
  }
  await Promise.all([api.end(), constant.end()])
  const ratio = median(pairs.map((pair) => pair.api / pair.constant))
  return {
    area: 'gateway',
    name: 'POST /v1/evaluate, 64 connections',
    value: median(pairs.map((pair) => pair.api)),
    unit: '/s',
    floor: median(pairs.map((pair) => pair.constant)),
    ratio,
    target: '≥ 0.25 of the same server answering a constant',
    pass: ratio >= 0.25,
  }
}

/** Requests per second on 64 connections, one request at a time on each. */
async function load({ url = '', token = '' }: Said, milliseconds: number): Promise<number> {
  const { host, port } = new URL(url)
  const body = JSON.stringify({
    tool: 't1/read',
    arguments: { path: '/home/a', body: 'x'.repeat(800) },
    session_id: 's1',
  })
  const request = Buffer.from(
    `POST /v1/evaluate HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  const end = performance.now() + milliseconds
  const done = await Promise.all(Array.from({ length: 64 }, () => lane(Number(port), request, end)))
  return (1000 * done.reduce((sum, count) => sum + count, 0)) / milliseconds
}

/** One connection: sends a request, waits for its answer, sends the next. */
async function lane(port: number, request: Buffer, end: number): Promise<number> {
  const socket: Socket = connect(port, '127.0.0.1')
  socket.setNoDelay(true)
  await once(socket, 'connect')
  let done = 0
  return new Promise((resolve, reject) => {
    let got = ''
    socket.on('error', reject)
    socket.on('data', (chunk: Buffer) => {
      got += chunk.toString('latin1')
      const at = got.indexOf('\r\n\r\n')
      const [, length = ''] = /content-length: (\d+)/i.exec(got.slice(0, at)) ?? []
      if (at < 0 || got.length < at + 4 + Number(length)) return
      if (!got.startsWith('HTTP/1.1 200') || !got.includes('"ALLOW"')) {
        reject(new Error(`unexpected answer: ${got.slice(0, 300)}`))
        return
      }
      got = ''
      done++
      if (performance.now() < end) socket.write(request)
      else {
        socket.end()
        resolve(done)
      }
    })
    socket.write(request)
  })
}

/** The cost of a large ledger: memory, start time and calls, compared with a thousand receipts. */
async function* growing(data: string, say: (line: string) => void): AsyncGenerator<Row> {
  const child = start('fill', data, String(RECEIPTS))
  const speeds: { size: number; micros: number }[] = []
  let rss = 0
  for (let said = await child.next(); ; said = await child.next()) {
    if (said.rss !== undefined) {
      rss = said.rss
      break
    }
    speeds.push({ size: said.size ?? 0, micros: said.micros ?? NaN })
    if (speeds.length % 20 === 0) say(`gateway: ${(said.size ?? 0).toLocaleString('en-US')} receipts …`)
  }
  await child.end()
  yield alone('memory at that size', rss / 2 ** 20, 'MB', 250)
  const opened = await only('start', data)
  yield alone('start at that size', opened.seconds ?? NaN, 's', 2)
  yield await flatness(data, speeds)
}

/** The large ledger compared with a small one, alternating. */
async function flatness(large: string, speeds: readonly { size: number; micros: number }[]): Promise<Row> {
  const small = `${large}-small`
  const children = [start('calls', small, String(WARM_MS)), start('calls', large, String(WARM_MS))] as const
  const pairs: { small: number; large: number }[] = []
  for (let i = 0; i <= ROUNDS; i++) {
    const [few, many] = [await rate(children[0]), await rate(children[1])]
    if (i > 0) pairs.push({ small: 1e6 / few, large: 1e6 / many })
  }
  for (const child of children) await child.end()
  const ratio = median(pairs.map((pair) => pair.large / pair.small))
  return {
    area: 'gateway',
    name: `governed call at ${RECEIPTS.toLocaleString('en-US')} receipts beside some thousand (${speeds.length} s to fill)`,
    value: median(pairs.map((pair) => pair.large)),
    unit: 'µs',
    floor: median(pairs.map((pair) => pair.small)),
    ratio,
    target: '≤ 1.2',
    pass: ratio <= 1.2,
  }
}

async function rate(child: Child): Promise<number> {
  child.tell(`128 ${ROUND_MS}`)
  return (await child.next()).perSecond ?? NaN
}

function alone(name: string, value: number, unit: string, most: number): Row {
  const target = `< ${most} ${unit}`
  return { area: 'gateway', name, value, unit, floor: null, ratio: null, target, pass: value < most }
}

interface Said {
  readonly url?: string
  readonly token?: string
  readonly size?: number
  readonly micros?: number
  readonly perSecond?: number
  readonly rss?: number
  readonly seconds?: number
}

interface Child {
  tell(line: string): void
  next(): Promise<Said>
  end(): Promise<void>
}

function start(name: string, data: string, ...more: readonly string[]): Child {
  const child: ChildProcess = spawn(process.execPath, [CHILD, name, data, ...more], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  if (!child.stdout) throw new Error('the child has no output')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ended = once(child, 'exit')
  return {
    tell: (line) => void child.stdin?.write(`${line}\n`),
    async next() {
      const line: IteratorResult<string, unknown> = await lines.next()
      if (line.done === true) throw new Error(`the child \`${name}\` exited`)
      // Sound: the child prints one line of JSON at a time.
      return JSON.parse(line.value) as Said
    },
    async end() {
      child.stdin?.end()
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function only(name: string, data: string): Promise<Said> {
  const child = start(name, data)
  const said = await child.next()
  await child.end()
  return said
}
