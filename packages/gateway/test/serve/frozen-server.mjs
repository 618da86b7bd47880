// An MCP server for tests that records its start and everything it receives: `node frozen-server.mjs FILE`.

import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [, , file] = process.argv
appendFileSync(file, 'started\n')
const ANSWERS = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {}, resources: { subscribe: true } },
    serverInfo: { name: 'recorder', version: '1' },
  },
  'tools/list': { tools: [{ name: 'note', inputSchema: { type: 'object' } }] },
}
createInterface({ input: process.stdin }).on('line', (line) => {
  appendFileSync(file, `${line}\n`)
  const { id, method } = JSON.parse(line)
  if (id === undefined) return
  const result = ANSWERS[method]
  const answer = result ? { result } : { error: { code: -32601, message: 'not here' } }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`)
})
