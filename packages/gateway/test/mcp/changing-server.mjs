// A server that follows a file: `node mcp-changing-server.mjs FILE`, where FILE holds `{instructions?, tools: […]}`. It reports
// a change of the file as a change of its tools, and then writes the text of the file to FILE.told. Each call is a line in
// FILE.calls.

import { appendFileSync, readFileSync, watchFile, writeFileSync } from 'node:fs'
import process from 'node:process'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const [file] = process.argv.slice(2)
const content = () => JSON.parse(readFileSync(file, 'utf8'))
const { instructions } = content()
const server = new Server(
  { name: 'changing', version: '1.0.0' },
  { capabilities: { tools: { listChanged: true } }, ...(instructions && { instructions }) },
)

server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: content().tools }))
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  appendFileSync(`${file}.calls`, `${JSON.stringify(params)}\n`)
  return { content: [{ type: 'text', text: `ran ${params.name}` }] }
})
watchFile(file, { interval: 20, persistent: false }, async () => {
  const text = readFileSync(file, 'utf8')
  await server.sendToolListChanged()
  writeFileSync(`${file}.told`, text)
})
await server.connect(new StdioServerTransport())
