// What is measured in a process of its own: `node bench/gateway-child.mjs TASK DATA [N]`. Plain JavaScript on what was built, so
// that nothing but the gateway is in its memory. Prints one line of JSON for each thing it has measured.

import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { enforce, policyOf } from '@tollgate/kernel'
import { activatePolicy } from '@tollgate/kernel/admin'
import { parsePolicy } from '@tollgate/kernel/policy'
import { runGateway } from '../packages/gateway/dist/src/cli/setup/run-gateway.js'
import { readConfig } from '../packages/gateway/dist/src/config/config.js'
import { openKeyring } from '../packages/gateway/dist/src/keyring.js'
import { silent } from '../packages/gateway/dist/src/log.js'
import { openGateway } from '../packages/gateway/dist/src/open.js'
import { makeData } from './child-data.mjs'

const [, , task, data, count] = process.argv
const TASKS = { calls, fill, start, serve: serveApi, constant: serveConstant }

/** Makes the data directory if it is not there, with what `tollgate init` writes: what is measured is what people run. */
async function configOf() {
  if (existsSync(data)) return readConfig(data)
  await makeData(data, `head-guard: ${JSON.stringify(`${data}-heads`)}`)
  return readConfig(data)
}

async function open() {
  const config = await configOf()
  const gateway = await openGateway(config, await openKeyring(config), silent)
  await prepare(gateway)
  return gateway
}

/** Activates the policy of the benchmark, once. */
async function prepare({ kernel }) {
  const parsed = parsePolicy(policyText())
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.mistakes))
  if (policyOf(kernel, 'default').hash === parsed.policy.hash) return
  await activatePolicy(kernel, parsed.policy, 'user:bench')
}

/** Fifty rules, each with a condition, as the kernel's benchmark has them. */
function policyText() {
  const names = Array.from({ length: 50 }, (_, i) => `t${i}`)
  return [
    'tollgate: 1',
    'name: bench',
    'principals: { "agent:*": { tier: standard } }',
    'tools:',
    ...names.map((name) => `  "${name}/read": { effect: read, destinations: none }`),
    'rules:',
    ...names.map((name) => `  - { id: ${name}, allow: "${name}/*", when: 'args.path.startsWith("/home/")' }`),
  ].join('\n')
}

const BODY = 'x'.repeat(800)
const OUTPUT = new Uint8Array(100)
const LANE = process.env.TOLLGATE_BENCH_LANE ?? ''
let sent = 0

/** One governed call: decided, durable, run, durable. */
async function govern({ kernel }) {
  const i = sent++
  const call = {
    // Each gateway of a fleet has its own agents, as behind a balancer that keeps sessions together.
    caller: { tenant: 'default', principal: `agent:${LANE}${i % 32}` },
    door: 'mcp',
    assurance: 'enforced',
    tool: `t${i % 50}/read`,
    args: { path: `/home/a${i}`, body: BODY },
    session_id: `s${i % 256}`,
  }
  const { effect, decided } = await enforce(kernel, call, () =>
    Promise.resolve({ status: 'COMPLETED', output: OUTPUT }),
  )
  if (!effect) throw new Error(`denied: ${decided.reason}`)
}

/** After so many milliseconds to warm up, for each line `FLIGHT MS` on standard input: so many calls in flight for so long, and how many there were a second. */
async function calls() {
  const gateway = await open()
  await together(gateway, 64, Number(count))
  for await (const line of createInterface({ input: process.stdin })) {
    const [flight, milliseconds] = line.split(' ').map(Number)
    say({ perSecond: await together(gateway, flight, milliseconds) })
  }
  await gateway.close()
}

async function together(gateway, flight, milliseconds) {
  const began = performance.now()
  let done = 0
  const lane = async () => {
    while (performance.now() - began < milliseconds) {
      await govern(gateway)
      done++
    }
  }
  await Promise.all(Array.from({ length: flight }, lane))
  return (1000 * done) / (performance.now() - began)
}

/** Governed calls until the ledger has this many receipts, 128 in flight; says how fast they were on the way. */
async function fill() {
  const gateway = await open()
  const target = Number(count)
  let size = await gateway.view.size()
  const lane = async () => {
    while (size < target) {
      size += 2
      await govern(gateway)
    }
  }
  let [last, at] = [size, performance.now()]
  const report = setInterval(() => {
    const now = performance.now()
    say({ size, micros: (1000 * (now - at)) / ((size - last) / 2) })
    ;[last, at] = [size, now]
  }, 1000)
  await Promise.all(Array.from({ length: 128 }, lane))
  clearInterval(report)
  say({ size, rss: process.memoryUsage.rss() })
  await gateway.close()
}

/** How long it takes until a gateway is open and has answered its first question. */
async function start() {
  const began = performance.now()
  const gateway = await open()
  const { decided } = await gateway.kernel.ledger.append({ run: () => ({ decided: true }) })
  const size = await gateway.view.size()
  say({ size, seconds: (performance.now() - began) / 1000, rss: process.memoryUsage.rss(), decided })
  await gateway.close()
}

async function serveApi() {
  const { gateway, url, close } = await runGateway(await configOf(), silent, { prepare })
  const request = { role: 'agent', tenant: 'default', principal: 'agent:1', run: true }
  const { token } = await gateway.tokens.issue(request, 'user:bench')
  say({ url, token })
  process.on('SIGTERM', () => void close().then(() => process.exit(0)))
}

/** The same HTTP server, which reads the body and answers with a constant. */
async function serveConstant() {
  const answer = JSON.stringify({
    verdict: 'ALLOW',
    reason_code: 'RULE_ALLOWED',
    receipt: 'a'.repeat(64),
    padding: 'x'.repeat(200),
  })
  const headers = { 'content-type': 'application/json', 'content-length': String(answer.length) }
  const server = createServer((request, response) => {
    request.on('data', () => undefined)
    request.on('end', () => response.writeHead(200, headers).end(answer))
  })
  server.listen(0, '127.0.0.1', () =>
    say({ url: `http://127.0.0.1:${server.address().port}`, token: 'none' }),
  )
  process.on('SIGTERM', () => process.exit(0))
}

function say(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

await TASKS[task]()
