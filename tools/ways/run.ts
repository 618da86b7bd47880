// Runs the instrumented gateway and makes one call in each way. What is asked is the marker's name, of the same tool.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { MARKER, startModel, writeSite } from './site.ts'

/** The ways from an agent to a tool. */
export const WAYS = ['http', 'mcp', 'llm'] as const
export type WayName = (typeof WAYS)[number]

/** When a call was made and when its answer was there, by the clock of all processes. */
export interface Span {
  readonly from: bigint
  readonly to: bigint
}

type Call = (name: string) => Promise<void>
type Post = (path: string, body: object, token?: string) => Promise<Readonly<Record<string, unknown>>>

/**
 * Makes the calls, several rounds of each. `folder` has the instrumented packages, and gets what the recorder writes under `log`.
 *
 * @throws Error if a call fails or does not pass.
 */
export async function runWays(folder: string): Promise<ReadonlyMap<WayName, readonly Span[]>> {
  const model = await startModel()
  const data = join(folder, 'data')
  const log = join(folder, 'log')
  mkdirSync(log)
  writeSite(data, model.url)
  const gateway = start(folder, ['up', '--json', '--port', '0', '--data', data])
  const talks = [gateway]
  try {
    // Sound: this is the one line that `up --json` prints.
    const opened = JSON.parse(await gateway.next()) as Opened
    const post = poster(opened.url, opened.agent_token)
    const http = await rounds(byHttp(post), log)
    const llm = await rounds(byLlm(post), log)
    // The last: a client that stays hears of things at times of its own.
    const wrapper = start(folder, ['mcp', '--data', data, '--name', 'notes', '--', process.execPath, SERVER])
    talks.unshift(wrapper)
    const mcp = await rounds(await byMcp(wrapper, opened), log)
    return new Map(Object.entries({ http, mcp, llm }) as [WayName, readonly Span[]][])
  } finally {
    model.server.close()
    model.server.closeAllConnections()
    for (const talk of talks) await talk.end()
  }
}

type Opened = Readonly<Record<'url' | 'agent_token' | 'admin_token', string>>

const ROUNDS = 5
const LONGEST = 45_000
const SERVER = fileURLToPath(new URL('server.mjs', import.meta.url))

/** A process that is spoken to in lines. */
interface Talk {
  say(message: object): void
  next(): Promise<string>
  end(): Promise<void>
}

function start(folder: string, args: readonly string[]): Talk {
  const command = join(folder, 'packages/gateway/bin/tollgate.mjs')
  const env = {
    ...process.env,
    TOLLGATE_WAYS: join(folder, 'log'),
    TOLLGATE_MARKER: MARKER,
    TOLLGATE_TOKEN: '',
    TOLLGATE_AGENT_TOKEN: '',
    XDG_CONFIG_HOME: join(folder, 'config'),
    NODE_OPTIONS: '',
  }
  const child = spawn(process.execPath, [command, ...args], {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    // Whoever waits for it learns that it has ended.
    timeout: LONGEST,
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    say: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    async next() {
      const line = await lines.next()
      if (line.done === true) throw new Error(`\`tollgate ${args.join(' ')}\` ended: ${said}`)
      return line.value
    },
    end: () => ended(child),
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  await gone
}

/** Calls that are alike. What only a first call does is done before, and each is quite over before the next begins. */
async function rounds(call: Call, log: string): Promise<readonly Span[]> {
  const spans: Span[] = []
  await call('warm')
  while (spans.length < ROUNDS) {
    await untilQuiet(log)
    const from = process.hrtime.bigint()
    await call(MARKER)
    spans.push({ from, to: process.hrtime.bigint() })
  }
  return spans
}

/** Waits until no thread has written anything for a while. */
async function untilQuiet(log: string): Promise<void> {
  let before = -1
  for (let size = sizeOf(log); size !== before; size = sizeOf(log)) {
    before = size
    await sleep(50)
  }
}

function sizeOf(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}

function poster(url: string, agent: string): Post {
  return async (path, body, token = agent) => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
    // Sound: the gateway answers these routes with an object.
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  }
}

function byHttp(post: Post): Call {
  return async (name) => {
    const asked = { tool: 'read_note', arguments: { name }, session_id: 'http' }
    const { receipt: decision, verdict } = await post('/v1/evaluate', asked)
    requireThat(verdict === 'ALLOW', `the call was judged ${String(verdict)}`)
    await post('/v1/effects', { decision, status: 'COMPLETED', output: 'milk, bread' })
  }
}

function byLlm(post: Post): Call {
  const parameters = { type: 'object', properties: { name: { type: 'string' } } }
  const tools = [{ type: 'function', function: { name: 'read_note', parameters } }]
  return async (content) => {
    const body = { model: 'gpt-test', messages: [{ role: 'user', content }], tools }
    const reply = JSON.stringify(await post('/openai/v1/chat/completions', body))
    requireThat(reply.includes('tool_calls'), `the call did not pass: ${reply}`)
  }
}

/** Says hello by the wrapper, and has its one tool approved. */
async function byMcp(talk: Talk, { url, admin_token: admin }: Opened): Promise<Call> {
  let numbered = 0
  const request = async (method: string, params: object): Promise<string> => {
    const id = ++numbered
    talk.say({ jsonrpc: '2.0', id, method, params })
    for (;;) {
      const line = await talk.next()
      // Between an answer and the next there may be notifications.
      if (line.includes(`"id":${id}`)) return line
    }
  }
  const clientInfo = { name: 'ways', version: '1' }
  await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  talk.say({ jsonrpc: '2.0', method: 'notifications/initialized' })
  await request('tools/list', {})
  await approve(url, admin)
  return async (name) => {
    const answer = await request('tools/call', { name: 'read', arguments: { name } })
    requireThat(answer.includes('milk'), `the call did not pass: ${answer}`)
  }
}

async function approve(url: string, admin: string): Promise<void> {
  const headers = { authorization: `Bearer ${admin}` }
  const answer = await fetch(`${url}/v1/tools/definition?tool=notes/read`, { headers })
  const { offered } = (await answer.json()) as { offered?: string }
  await poster(url, admin)('/v1/tools/pin', { tool: 'notes/read', hash: offered })
}

function requireThat(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise)
}
