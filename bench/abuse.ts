// Measures the latency of an honest caller: its p99 without load, and while one agent, or a client without a token, attacks
// the gateway. The attacker has one core. All processes run on this machine.

import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { ARCHIVE_END, archiveHeader, archivePadding, readArchive } from '../packages/evidence/src/tar.ts'
import { quantile, sized, type Row } from './measure.ts'

const GATEWAY = fileURLToPath(new URL('./abuse-child.mjs', import.meta.url))
const ATTACKER = fileURLToPath(new URL('./abuse-attacker.mjs', import.meta.url))
const VERIFIER = fileURLToPath(new URL('../packages/evidence/test/verify-memory-child.mjs', import.meta.url))
const DEMO = fileURLToPath(new URL('../vectors/demo/demo.pack', import.meta.url))

const ROUND_MS = sized(8000, 30)
const BYTES = sized((8 << 20) - 1024, 65_536)
const MANY = sized(1500, 8)
const BRACKETS = sized(20 << 20, 1 << 10)
const MOST = 5

const ATTACKS: Readonly<Record<string, string>> = {
  valid: '8 MiB bodies over MCP, 3 loops',
  malformed: '8 MiB malformed bodies, 3 loops',
  escapes: '8 MiB of string escapes, 3 loops',
  brackets: '8 MiB of `[],`, 3 loops',
  'half-open': `${MANY} half-open connections without a token`,
  slow: `${MANY} bodies that drip`,
  denied: 'denied calls, 16 loops',
}

/** The rows for attacks. */
export async function* abuseRows(say: (line: string) => void): AsyncGenerator<Row> {
  const folder = mkdtempSync(join(process.env.TOLLGATE_BENCH_DIR ?? tmpdir(), 'tollgate-bench-'))
  const names = ['honest', ...Object.keys(ATTACKS)].join(',')
  const gateway = spawn(process.execPath, [GATEWAY, join(folder, 'data'), names], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    // Sound: the child prints this.
    const { url, tokens } = JSON.parse(await firstLine(gateway)) as Gateway
    const honest = callerOf(url, tokens.honest ?? '')
    await latencies(honest, ROUND_MS)
    for (const [attack, about] of Object.entries(ATTACKS)) {
      say(`abuse: ${about} …`)
      yield await under(attack, about, { url, tokens }, honest)
    }
    say('abuse: a manifest of `[],` …')
    yield await verifying(folder)
  } finally {
    if (gateway.exitCode === null) {
      gateway.kill('SIGTERM')
      await once(gateway, 'exit')
    }
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Gateway {
  readonly url: string
  readonly tokens: Readonly<Record<string, string>>
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('the child has no output')
  const gone = once(child, 'exit').then(() => Promise.reject(new Error('the child has ended')))
  const [line] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), gone])) as [
    string,
  ]
  return line
}

/** The honest caller's p99 just before an attack and during it. */
async function under(attack: string, about: string, { url, tokens }: Gateway, honest: Call): Promise<Row> {
  const quiet = quantile(await latencies(honest, ROUND_MS), 0.99)
  const { port } = new URL(url)
  const attacker = onOneCore([ATTACKER, attack, port, tokens[attack] ?? '', String(BYTES), String(MANY)])
  let attacked: number
  try {
    await firstLine(attacker)
    attacked = quantile(await latencies(honest, ROUND_MS), 0.99)
  } finally {
    attacker.stdin?.end()
    if (attacker.exitCode === null) await once(attacker, 'exit')
  }
  const ratio = attacked / quiet
  return {
    area: 'abuse',
    name: `p99 of an honest call: ${about}`,
    value: attacked,
    unit: 'ms',
    floor: quiet,
    ratio,
    target: `< ${MOST} × the same without the attack`,
    pass: ratio < MOST,
  }
}

/** The last core, if the system supports pinning. */
function onOneCore(args: readonly string[]): ChildProcess {
  const options = { stdio: ['pipe', 'pipe', 'inherit'] as ('pipe' | 'inherit')[] }
  if (process.platform !== 'linux' || !hasTaskset()) return spawn(process.execPath, args, options)
  return spawn('taskset', ['-c', String(cpus().length - 1), process.execPath, ...args], options)
}

function hasTaskset(): boolean {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

type Call = () => Promise<void>

/** Latencies in milliseconds of consecutive calls during a time; at least a few. */
async function latencies(call: Call, ms: number): Promise<Float64Array> {
  const taken: number[] = []
  const end = performance.now() + ms
  while (performance.now() < end || taken.length < 5) {
    const start = performance.now()
    await call()
    taken.push(performance.now() - start)
  }
  return Float64Array.from(taken)
}

/** Sends a call that must be allowed over a keep-alive connection. */
function callerOf(url: string, token: string): Call {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const body = JSON.stringify({ tool: 't1/read', arguments: { path: '/home/a' }, session_id: 's1' })
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': body.length,
  }
  return () =>
    new Promise((resolve, reject) => {
      const sent = httpRequest(`${url}/v1/evaluate`, { method: 'POST', agent, headers }, (reply) => {
        let text = ''
        reply.setEncoding('utf8').on('data', (piece: string) => (text += piece))
        reply.on('end', () => {
          if (reply.statusCode === 200 && text.includes('"ALLOW"')) resolve()
          else reject(new Error(`an honest call got ${reply.statusCode}: ${text.slice(0, 300)}`))
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })
}

/** Measures the verifier on a pack whose manifest consists only of brackets. */
async function verifying(folder: string): Promise<Row> {
  const pack = join(folder, 'brackets.pack')
  const manifest = Buffer.from(`[${'[],'.repeat(BRACKETS)}[]]`)
  const pieces: Uint8Array[] = []
  for await (const { name, bytes } of readArchive(readFileSync(DEMO), {
    maxMembers: 1e5,
    maxSize: () => 64 << 20,
  })) {
    const content = name === 'manifest.json' ? manifest : bytes
    pieces.push(archiveHeader(name, content.length), content, archivePadding(content.length))
  }
  writeFileSync(pack, Buffer.concat([...pieces, ARCHIVE_END]))
  const text = execFileSync(process.execPath, [VERIFIER, pack], { encoding: 'utf8' })
  // Sound: the child prints this.
  const { exit, megabytes } = JSON.parse(text) as { exit: number; megabytes: number }
  if (exit !== 2) throw new Error(`the verifier exited with ${exit}`)
  return {
    area: 'abuse',
    name: 'peak memory of the verifier, 60 MiB of `[],` as the manifest',
    value: megabytes,
    unit: 'MB',
    floor: null,
    ratio: null,
    target: '< 300 MB',
    pass: megabytes < 300,
  }
}
