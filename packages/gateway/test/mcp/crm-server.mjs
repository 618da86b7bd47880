// An MCP server for tests that looks up a person and posts texts.

import { createInterface } from 'node:readline'

const tool = (name, ...members) => ({
  name,
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(members.map((each) => [each, { type: 'string' }])),
  },
})
const ANSWERS = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'crm', version: '1' },
  },
  'tools/list': { tools: [tool('lookup', 'id'), tool('post', 'url', 'text')] },
}
const SAYS = { lookup: 'Account 4711-2203 belongs to Ada Byron.', post: 'posted' }
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const result = ANSWERS[method] ?? { content: [{ type: 'text', text: SAYS[params.name] }] }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
})
