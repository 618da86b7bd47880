// The gateway that the MCP benchmark goes through: `node bench/mcp-child.mjs DATA`. Everything of its servers is approved and
// allowed. Prints one line of JSON once its doors are open, and runs until it is told to end.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { activatePolicy, pinTool } from '@tollgate/kernel/admin'
import { parsePolicy } from '@tollgate/kernel/policy'
import { runGateway } from '../packages/gateway/dist/src/cli/setup/run-gateway.js'
import { readConfig } from '../packages/gateway/dist/src/config/config.js'
import { silent } from '../packages/gateway/dist/src/log.js'
import { makeData } from './child-data.mjs'

const SERVER = fileURLToPath(new URL('./mcp-server.mjs', import.meta.url))
const POLICY = `
tollgate: 1
name: bench
principals: { "agent:*": { tier: standard } }
tools: { "*": { effect: read, destinations: none } }
rules: [{ id: all, allow: "*" }]
`

const [, , data] = process.argv
const server = spawn(process.execPath, [SERVER, 'http'], { stdio: ['ignore', 'pipe', 'inherit'] })
const [line] = await once(createInterface({ input: server.stdout }), 'line')
const upstream = `http://127.0.0.1:${JSON.parse(line).port}/`
const own = `{ command: [${JSON.stringify(process.execPath)}, ${JSON.stringify(SERVER)}, stdio] }`
await makeData(data, `mcp: { servers: { bench: { url: ${JSON.stringify(upstream)} }, own: ${own} } }`)
const { gateway, url, close } = await runGateway(readConfig(data), silent)
const { kernel, tokens } = gateway
const parsed = parsePolicy(POLICY)
if (!parsed.ok) throw new Error(JSON.stringify(parsed.mistakes))
await activatePolicy(kernel, parsed.policy, 'user:bench')
const agent = { role: 'agent', tenant: 'default', principal: 'agent:bench' }
const { token } = await tokens.issue(agent, 'user:bench')
for (const name of ['bench', 'own']) await meet(`${url}/mcp/${name}`)
for (const name of kernel.catalogue.names())
  await pinTool(kernel, name, kernel.catalogue.offered(name).hash, 'user:bench')
console.log(JSON.stringify({ url, token, upstream }))
process.once('SIGTERM', () => {
  server.kill()
  void close()
})

/** Asks a server once for what it offers. */
async function meet(at) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const answer = await fetch(at, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/list',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } }),
  })
  if (!answer.ok) throw new Error(`${at} answers ${answer.status}`)
}
