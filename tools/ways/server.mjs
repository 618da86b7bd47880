// An MCP server with one tool, which reads a note. It stands behind the gateway while a call is followed.

import { createInterface } from 'node:readline'

const ANSWERS = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'notes', version: '1' },
  },
  'tools/list': {
    tools: [{ name: 'read', inputSchema: { type: 'object', properties: { name: { type: 'string' } } } }],
  },
  'tools/call': { content: [{ type: 'text', text: 'milk, bread' }] },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  const result = ANSWERS[method]
  if (id === undefined) return
  const answer = result ? { result } : { error: { code: -32601, message: 'not known' } }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`)
})
