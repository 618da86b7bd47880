// The gateway that the benchmark of hooks asks: `node bench/hook-child.mjs DATA FOLDER`. Writes the hook of Claude Code into the folder.
// Prints one line of JSON once its doors are open, and runs until it is told to end.

import { activatePolicy } from '@tollgate/kernel/admin'
import { parsePolicy } from '@tollgate/kernel/policy'
import { install } from '../packages/gateway/dist/src/cli/setup/agents/install.js'
import { runGateway } from '../packages/gateway/dist/src/cli/setup/run-gateway.js'
import { readConfig } from '../packages/gateway/dist/src/config/config.js'
import { silent } from '../packages/gateway/dist/src/log.js'
import { hooksPath } from '../packages/gateway/dist/src/mcp/client/local-path.js'
import { makeData } from './child-data.mjs'

const POLICY = `
tollgate: 1
name: bench
principals: { "agent:*": { tier: standard } }
tools: { "builtin/*": { effect: execute, destinations: none } }
rules: [{ id: all, allow: "builtin/*" }]
`

const [, , data, folder] = process.argv
await makeData(data, '')
const { gateway, url, close } = await runGateway(readConfig(data), silent)
const parsed = parsePolicy(POLICY)
if (!parsed.ok) throw new Error(JSON.stringify(parsed.mistakes))
await activatePolicy(gateway.kernel, parsed.policy, 'user:bench')
const agent = { role: 'agent', tenant: 'default', principal: 'agent:claude-code' }
const { token } = await gateway.tokens.issue(agent, 'user:bench')
install('claude-code', folder, token, { url: 'http://localhost', socket: hooksPath(data), ca: undefined })
console.log(JSON.stringify({ url, token }))
process.once('SIGTERM', () => void close())
