// Measures the hooks of coding agents, beside the start of the smallest program and of a bare Node: the hook as an HTTP request on a new
// connection, and the script that `tollgate setup` writes. Every call is decided, signed and on disk before the answer.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { quantile, sized, type Row } from './measure.ts'

const CHILD = fileURLToPath(new URL('./hook-child.mjs', import.meta.url))
const WARM = sized(300, 1)
const ROUNDS = sized(250, 2)
/** HTTP hooks in each round: they are much shorter than programs. */
const HOOKS = sized(4, 1)

let uses = 0

/** The payload of a call. Each has an id of its own: a repeated call would get its old answer. */
function payload(): string {
  return JSON.stringify({
    ...{ session_id: 'bench', transcript_path: '/tmp/t.jsonl', cwd: '/tmp', permission_mode: 'default' },
    ...{ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_use_id: `toolu_${uses++}` },
    tool_input: { command: 'npm test', description: 'Run the tests' },
  })
}

/** The rows of the hook door. */
export async function* hookRows(say: (line: string) => void): AsyncGenerator<Row> {
  const folder = mkdtempSync(join(process.env.TOLLGATE_BENCH_DIR ?? tmpdir(), 'tollgate-bench-'))
  const hook = join(folder, 'hook')
  const gateway = spawn(process.execPath, [CHILD, join(folder, 'data'), hook], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  try {
    const gone = once(gateway, 'exit').then(() => Promise.reject(new Error('the gateway exited')))
    const [line] = (await Promise.race([once(createInterface({ input: gateway.stdout }), 'line'), gone])) as [
      string,
    ]
    gone.catch(() => undefined)
    say('hook: requests and programs, one after the other …')
    // Sound: the child prints this.
    yield* compare(JSON.parse(line) as { url: string; token: string }, join(hook, 'hook'))
  } finally {
    if (gateway.exitCode === null) {
      gateway.kill('SIGTERM')
      await once(gateway, 'exit')
    }
    rmSync(folder, { recursive: true, force: true })
  }
}

async function* compare(at: { url: string; token: string }, script: string): AsyncGenerator<Row> {
  for (let i = 0; i < WARM; i++) await post(at)
  const times: Record<'http' | 'nothing' | 'node' | 'script', number[]> = {
    ...{ http: [], nothing: [], node: [], script: [] },
  }
  // In turns, so that other load affects all of them.
  for (let i = 0; i < ROUNDS; i++) {
    for (let each = 0; each < HOOKS; each++) times.http.push(await timed(() => post(at)))
    times.nothing.push(await timed(() => run('/bin/true', [])))
    times.node.push(await timed(() => run(process.execPath, ['-e', '0'])))
    times.script.push(await timed(() => run('/bin/sh', [script, 'PreToolUse'], payload())))
  }
  const [http, nothing, node, shell] = [times.http, times.nothing, times.node, times.script].map((all) =>
    Float64Array.from(all),
  )
  if (!http || !nothing || !node || !shell) throw new Error('nothing was measured')
  const floor = median(nothing)
  yield row('HTTP hook, p50', median(http), null, 5, 'at most 5 ms')
  yield row('HTTP hook, p99', quantile(http, 0.99), median(http), 2, 'at most 2 × p50')
  yield { ...row('start of /bin/true, p50', floor, null, Infinity, ''), target: '' }
  yield { ...row('start of `node -e 0`, p50', median(node), floor, Infinity, ''), target: '' }
  yield row('hook script, p50', median(shell), median(node), 0.35, 'at most 0.35 × a bare Node')
  yield row('hook script, p99', quantile(shell, 0.99), median(shell), 2, 'at most 2 × p50')
}

const median = (values: Float64Array): number => quantile(values, 0.5)

/** A row in milliseconds; the limit is for the ratio, or for the value if there is no floor. */
function row(name: string, value: number, floor: number | null, limit: number, target: string): Row {
  const ratio = floor === null ? null : value / floor
  return { area: 'hook', name, value, unit: 'ms', floor, ratio, target, pass: (ratio ?? value) <= limit }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** One hook as an HTTP request, on a connection of its own as a hook has it. */
async function post({ url, token }: { readonly url: string; readonly token: string }): Promise<void> {
  const body = payload()
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }
  const sent = request(`${url}/v1/hooks/claude-code`, { method: 'POST', headers, agent: false })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream & { statusCode: number }]
  let text = ''
  for await (const part of response) text += String(part)
  if (response.statusCode !== 200 || !text.includes('"allow"'))
    throw new Error(`the gateway answered ${text}`)
}

async function run(program: string, args: readonly string[], input = ''): Promise<void> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.on('error', () => undefined).end(input)
  let text = ''
  child.stdout.on('data', (part: Buffer) => (text += part.toString()))
  const [code] = (await once(child, 'close')) as [number]
  if (code !== 0 || (input !== '' && !text.includes('"allow"')))
    throw new Error(`${program} ended with ${code}: ${text}`)
}
