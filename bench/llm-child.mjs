// The gateway that the LLM benchmark goes through: `node bench/llm-child.mjs DATA UPSTREAM plain|gates`. Notes may be read, mail may
// not be sent; with `gates` what was said to the model and what it calls is scanned and followed besides.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { activatePolicy } from '@tollgate/kernel/admin'
import { parsePolicy } from '@tollgate/kernel/policy'
import { runGateway } from '../packages/gateway/dist/src/cli/setup/run-gateway.js'
import { readConfig } from '../packages/gateway/dist/src/config/config.js'
import { silent } from '../packages/gateway/dist/src/log.js'
import { makeData } from './child-data.mjs'
import { present } from './llm-ipc.mjs'

const POLICY = `
tollgate: 1
name: bench
principals: { "agent:*": { tier: standard } }
tools:
  "read_note": { effect: read, destinations: none }
  "send_mail": { effect: send, destinations: none }
rules:
  - { id: notes, allow: "read_note" }
  - { id: mail, deny: "send_mail", because: mail stays here }
`

// As examples/policies/full.yaml has them.
const GATES = `
gates:
  taint:
    deny: [secret, flagged]
    ask: [personal]
    internal: [example.com, "*.example.com"]
    follow: values
    provenance: { untrusted: allow, flagged: deny }
    results: { secret: redact }
  threat:
    arguments: { high: deny, medium: ask, low: label }
    results: { high: redact, medium: label, low: label }
    sources: { high: ask, medium: label, low: label }
`

const [, , data, upstream, which] = process.argv
const parsed = parsePolicy(which === 'gates' ? POLICY + GATES : POLICY)
if (!parsed.ok) throw new Error(JSON.stringify(parsed.mistakes))
const model = { url: `${upstream}/v1`, 'key-file': 'upstream.key' }
await makeData(data, `llm: ${JSON.stringify({ openai: model, anthropic: model })}`)
writeFileSync(join(data, 'upstream.key'), 'sk-bench\n', { mode: 0o600 })
const { gateway, url, close } = await runGateway(readConfig(data), silent)
await activatePolicy(gateway.kernel, parsed.policy, 'user:bench')
// Many agents: one that is denied a thousand calls in an hour is frozen.
const tokens = []
for (let i = 0; i < 8; i++) {
  const agent = { role: 'agent', tenant: 'default', principal: `agent:${i}` }
  tokens.push((await gateway.tokens.issue(agent, 'user:bench')).token)
}
present({ url, tokens }, () => void close())
