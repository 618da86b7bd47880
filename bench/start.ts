// Measures how long people and MCP clients wait for a start, compared with a bare start of Node.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { besideNode, COMMAND, envOf, POLICY, run, serve, took, type Beside, type Timed } from './command.ts'
import type { Row } from './measure.ts'

const SERVER = [process.execPath, fileURLToPath(new URL('mcp-server.mjs', import.meta.url))]
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
}

interface Start {
  readonly name: string
  readonly work: Timed
  /** The largest ratio, or the largest value in milliseconds. */
  readonly times?: number
  readonly ms?: number
}

/** Starts: medians over runs that alternate with bare starts of Node. */
export async function* startRows(say: (line: string) => void): AsyncGenerator<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-start-'))
  const [data, other] = [join(folder, 'data'), join(folder, 'other')]
  const env = { HOME: folder }
  const token = run(['init', '--data', data], env).stdout.trim()
  run(['init', '--data', other], env)
  const { child, url } = await serve(data, folder)
  const command = (args: readonly string[], more = {}): Timed => {
    return () => took(() => run(args, { ...env, ...more }))
  }
  const starts: readonly Start[] = [
    { name: '--version', times: 1.5, work: command(['--version']) },
    {
      name: 'status, asking the gateway',
      ms: 300,
      work: command(['status', '--url', url], { TOLLGATE_TOKEN: token }),
    },
    { name: 'policy check FILE', ms: 200, work: command(['policy', 'check', POLICY]) },
    {
      name: 'first answer of an MCP server: what the wrapper adds',
      times: 3,
      work: () => added(data, folder),
    },
    { name: 'a gateway, until it accepts calls', ms: 1000, work: () => opened(other, folder) },
  ]
  try {
    say('start: starting commands, wrapped servers and gateways …')
    const measured = await besideNode(starts.map(({ work }) => work))
    for (const [i, start] of starts.entries()) yield rowOf(start, measured[i] ?? { value: NaN, floor: NaN })
  } finally {
    child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

function rowOf({ name, times = Infinity, ms = Infinity }: Start, measured: Beside): Row {
  const { value, floor } = measured
  const ratio = value / floor
  const target = times < Infinity ? `at most ${times} ×` : `under ${ms} ms`
  return { area: 'start', name, value, unit: 'ms', floor, ratio, target, pass: ratio <= times && value < ms }
}

/** How much later `initialize` is answered with the wrapper than without it. */
async function added(data: string, home: string): Promise<number> {
  const direct = await answered(SERVER, home)
  const words = [process.execPath, COMMAND, 'mcp', '--name', 'bench', '--data', data, '--', ...SERVER]
  return (await answered(words, home)) - direct
}

async function answered([program = '', ...args]: readonly string[], home: string): Promise<number> {
  const began = performance.now()
  const child = spawn(program, args, { env: envOf({ HOME: home }), stdio: ['pipe', 'pipe', 'ignore'] })
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`)
  let text = ''
  while (!text.includes('\n')) text += String((await once(child.stdout, 'data'))[0])
  const time = performance.now() - began
  if (!text.includes('"result"')) throw new Error(`not initialized: ${text}`)
  child.stdin.end()
  await once(child, 'exit')
  return time
}

async function opened(data: string, home: string): Promise<number> {
  const began = performance.now()
  const { child } = await serve(data, home)
  const time = performance.now() - began
  child.kill()
  await once(child, 'exit')
  return time
}
