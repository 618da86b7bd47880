// The gateway that is attacked: `node bench/abuse-child.mjs DATA NAMES`. It runs with the limits that `tollgate init` writes, and has an
// agent for each name. Prints one line of JSON once its doors are open, and runs until it is told to end.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { activatePolicy } from '@tollgate/kernel/admin'
import { parsePolicy } from '@tollgate/kernel/policy'
import { createData } from '../packages/gateway/dist/src/cli/setup/create.js'
import { runGateway } from '../packages/gateway/dist/src/cli/setup/run-gateway.js'
import { readConfig } from '../packages/gateway/dist/src/config/config.js'
import { silent } from '../packages/gateway/dist/src/log.js'

const SERVER = fileURLToPath(new URL('./mcp-server.mjs', import.meta.url))
const POLICY = `
tollgate: 1
name: bench
principals: { "agent:*": { tier: standard } }
tools: { "*": { effect: read, destinations: none } }
rules: [{ id: all, allow: "t1/*" }]
`

const [, , data = '', names = ''] = process.argv
const server = spawn(process.execPath, [SERVER, 'http'], { stdio: ['ignore', 'pipe', 'inherit'] })
const [line] = await once(createInterface({ input: server.stdout }), 'line')
await createData(data, { port: 0 }, () => undefined)
const upstream = `http://127.0.0.1:${JSON.parse(line).port}/`
appendFileSync(join(data, 'tollgate.yaml'), `\nmcp: { servers: { bench: { url: "${upstream}" } } }\n`)
const { gateway, url, close } = await runGateway(readConfig(data), silent)
const parsed = parsePolicy(POLICY)
if (!parsed.ok) throw new Error(JSON.stringify(parsed.mistakes))
await activatePolicy(gateway.kernel, parsed.policy, 'user:bench')
const tokens = {}
for (const name of names.split(',')) {
  const agent = { role: 'agent', tenant: 'default', principal: `agent:${name}` }
  tokens[name] = (await gateway.tokens.issue(agent, 'user:bench')).token
}
console.log(JSON.stringify({ url, tokens }))
process.once('SIGTERM', () => {
  server.kill()
  void close()
})
