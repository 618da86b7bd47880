// Measures the MCP door: what a governed, signed, durable call adds to a direct one, on stdio and over HTTP, and the
// throughput compared with a bare proxy.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpRequest, Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { bareFloor } from './floor.ts'
import { median, quantile, sized, type Row } from './measure.ts'

const SERVER = fileURLToPath(new URL('./mcp-server.mjs', import.meta.url))
const CHILD = fileURLToPath(new URL('./mcp-child.mjs', import.meta.url))
const TOLLGATE = fileURLToPath(new URL('../packages/gateway/bin/tollgate.mjs', import.meta.url))
const ROUNDS = sized(7, 1)
const ROUND_MS = sized(1200, 20)
const FLOOR_MS = sized(200, 5)
// The engine needs some ten thousand calls to optimise the longest path.
const WARM_MS = sized(6000, 20)

/** A path to a server: sends a call and resolves with its answer. */
interface Way {
  call(): Promise<void>
  close(): Promise<void>
}

/** The rows of the MCP door. */
export async function* mcpRows(say: (line: string) => void): AsyncGenerator<Row> {
  const folder = mkdtempSync(join(process.env.TOLLGATE_BENCH_DIR ?? tmpdir(), 'tollgate-bench-'))
  const data = join(folder, 'data')
  const gateway = spawn(process.execPath, [CHILD, data], { stdio: ['pipe', 'pipe', 'inherit'] })
  try {
    const lines = createInterface({ input: gateway.stdout })
    const gone = once(gateway, 'exit').then(() => Promise.reject(new Error('the gateway exited')))
    const [line] = (await Promise.race([once(lines, 'line'), gone])) as [string]
    gone.catch(() => undefined)
    // Sound: the child prints this.
    const { url, token, upstream } = JSON.parse(line) as { url: string; token: string; upstream: string }
    say('mcp: calls over stdio …')
    yield* overStdio(data, folder)
    say('mcp: calls over HTTP …')
    yield* overHttp({ url, token, upstream }, folder)
  } finally {
    if (gateway.exitCode === null) {
      gateway.kill('SIGTERM')
      await once(gateway, 'exit')
    }
    rmSync(folder, { recursive: true, force: true })
  }
}

async function* overStdio(data: string, folder: string): AsyncGenerator<Row> {
  const direct = await stdioWay([SERVER, 'stdio'])
  const passing = await stdioWay([SERVER, 'pass'])
  const governed = await stdioWay([
    TOLLGATE,
    'mcp',
    '--name',
    'own',
    '--data',
    data,
    '--',
    process.execPath,
    SERVER,
    'stdio',
  ])
  yield* compare('stdio', { direct, governed, passing }, folder)
  for (const way of [direct, passing, governed]) await way.close()
}

async function* overHttp(
  { url, token, upstream }: { url: string; token: string; upstream: string },
  folder: string,
): AsyncGenerator<Row> {
  const direct = await httpWay(upstream, {})
  const governed = await httpWay(`${url}/mcp/bench`, { authorization: `Bearer ${token}` })
  yield* compare('HTTP', { direct, governed }, folder)
  await direct.close()
  await governed.close()
}

interface Ways {
  readonly direct: Way
  readonly governed: Way
  readonly passing?: Way
}

/** All paths alternating, round by round, compared with two bare durable appends at the same time. */
async function* compare(transport: string, ways: Ways, folder: string): AsyncGenerator<Row> {
  const floor = bareFloor(folder)
  const rounds: {
    append: number
    p50: number
    p99: number
    share: number
    ofDirect: number
    p50At32: number
    p99At32: number
  }[] = []
  for (const way of Object.values(ways) as Way[]) await load(way, 32, WARM_MS)
  for (let i = 0; i < ROUNDS; i++) {
    const append = floor.signature(FLOOR_MS) + floor.commit(FLOOR_MS)
    const [direct1, governed1] = [
      await load(ways.direct, 1, ROUND_MS),
      await load(ways.governed, 1, ROUND_MS),
    ]
    const [direct32, governed32] = [
      await load(ways.direct, 32, ROUND_MS),
      await load(ways.governed, 32, ROUND_MS),
    ]
    const passing32 = ways.passing ? await load(ways.passing, 32, ROUND_MS) : undefined
    rounds.push({
      append,
      p50: governed1.p50 - direct1.p50,
      p99: governed1.p99 - direct1.p99,
      p50At32: governed32.p50 - direct32.p50,
      p99At32: governed32.p99 - direct32.p99,
      share: passing32 ? governed32.perSecond / passing32.perSecond : NaN,
      ofDirect: governed32.perSecond / direct32.perSecond,
    })
  }
  floor.close()
  const of = (name: keyof (typeof rounds)[number]): number => median(rounds.map((round) => round[name]))
  const added = of('p50') / (2 * of('append'))
  const aimed = transport === 'stdio'
  yield {
    area: 'mcp',
    name: `${transport}, 1 in flight: added to a direct call, p50`,
    value: of('p50'),
    unit: 'µs',
    floor: 2 * of('append'),
    ratio: added,
    target: aimed ? '≤ 1.6 × two bare durable appends' : 'of two bare durable appends',
    pass: !aimed || added <= 1.6,
  }
  yield {
    area: 'mcp',
    name: `${transport}, 1 in flight: added, p99 beside p50`,
    value: of('p99'),
    unit: 'µs',
    floor: of('p50'),
    ratio: of('p99') / of('p50'),
    target: aimed ? '≤ 4 × its p50' : 'of its p50',
    pass: !aimed || of('p99') <= 4 * of('p50'),
  }
  yield {
    area: 'mcp',
    name: `${transport}, 32 in flight: added, p99 beside p50`,
    value: of('p99At32'),
    unit: 'µs',
    floor: of('p50At32'),
    ratio: of('p99At32') / of('p50At32'),
    target: 'of its p50',
    pass: true,
  }
  yield {
    area: 'mcp',
    name: `${transport}, 32 in flight: throughput`,
    value: of('ofDirect') * 100,
    unit: '% of direct',
    floor: null,
    ratio: null,
    target: '',
    pass: true,
  }
  if (!ways.passing) return
  yield {
    area: 'mcp',
    name: `${transport}, 32 in flight: throughput beside a bare proxy`,
    value: of('share') * 100,
    unit: '%',
    floor: null,
    ratio: null,
    target: '≥ 50 % of a pass-through proxy on the same SDK',
    pass: of('share') >= 0.5,
  }
}

/** Calls without pauses, this many at a time. Returns the median and a high quantile in microseconds. */
async function load(
  way: Way,
  flight: number,
  ms: number,
): Promise<{ p50: number; p99: number; perSecond: number }> {
  const taken: number[] = []
  const began = performance.now()
  const lane = async (): Promise<void> => {
    while (performance.now() - began < ms) {
      const start = performance.now()
      await way.call()
      taken.push(1000 * (performance.now() - start))
    }
  }
  await Promise.all(Array.from({ length: flight }, lane))
  const perSecond = (1000 * taken.length) / (performance.now() - began)
  const all = Float64Array.from(taken).sort()
  return { p50: quantile(all, 0.5), p99: quantile(all, 0.99), perSecond }
}

const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } }
const CALL = { name: 'echo', arguments: { text: 'x'.repeat(200) } }

function textOf(id: number, method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

/** A minimal client without an SDK, so that mainly the server side is measured. */
async function stdioWay(args: readonly string[]): Promise<Way> {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = new Map<number, (answer: string) => void>()
  let ids = 0
  createInterface({ input: child.stdout }).on('line', (line) => {
    const id = Number(/"id":(\d+)/.exec(line)?.[1])
    waiting.get(id)?.(line)
    waiting.delete(id)
  })
  const ask = (method: string, params: object): Promise<string> =>
    new Promise((resolve) => {
      const id = ids++
      waiting.set(id, resolve)
      child.stdin.write(`${textOf(id, method, params)}\n`)
    })
  await ask('initialize', HELLO)
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  return {
    call: async () => expectEcho(await ask('tools/call', CALL)),
    async close() {
      // The bare proxy does not exit on its own.
      child.kill()
      await once(child, 'exit')
    },
  }
}

async function httpWay(url: string, headers: Readonly<Record<string, string>>): Promise<Way> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  let session: string | undefined
  let ids = 0
  const ask = (body: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const sent = httpRequest(
        url,
        {
          method: 'POST',
          agent,
          headers: {
            ...headers,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            'content-length': Buffer.byteLength(body),
            ...(session !== undefined && { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
          },
        },
        (response) => {
          session ??= response.headers['mcp-session-id'] as string | undefined
          let got = ''
          response.setEncoding('utf8').on('data', (piece: string) => (got += piece))
          response.on('end', () => resolve(got))
        },
      )
      sent.on('error', reject)
      sent.end(body)
    })
  await ask(textOf(ids++, 'initialize', HELLO))
  await ask('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  return {
    call: async () => expectEcho(await ask(textOf(ids++, 'tools/call', CALL))),
    close() {
      agent.destroy()
      return Promise.resolve()
    },
  }
}

/** The measured calls must succeed. */
function expectEcho(answer: string): void {
  if (!answer.includes(CALL.arguments.text)) throw new Error(`not the echo: ${answer.slice(0, 400)}`)
}
