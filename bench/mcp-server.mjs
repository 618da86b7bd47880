// A server with one tool that does nothing, written with the official SDK: `node bench/mcp-server.mjs stdio|http|pass`. `pass` is a
// bare proxy for the first, written with the same SDK: what somebody would write who wants a proxy and nothing else.

import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const INFO = { name: 'bench', version: '1' }
const TOOL = {
  name: 'echo',
  description: 'Says what it is told.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
}

function serverWith({ list, call }) {
  const server = new Server(INFO, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, list)
  server.setRequestHandler(CallToolRequestSchema, call)
  return server
}

function echoServer() {
  return serverWith({
    list: () => ({ tools: [TOOL] }),
    call: ({ params }) => ({ content: [{ type: 'text', text: params.arguments.text }] }),
  })
}

async function passing() {
  const client = new Client(INFO)
  const args = [fileURLToPath(import.meta.url), 'stdio']
  await client.connect(new StdioClientTransport({ command: process.execPath, args }))
  return serverWith({
    list: () => client.listTools(),
    call: ({ params }) => client.callTool(params),
  })
}

/** One transport and server for each session, as the SDK's examples have it. */
function listen() {
  const sessions = new Map()
  const server = createServer((request, response) => {
    void (async () => {
      const chunks = []
      for await (const chunk of request) chunks.push(chunk)
      const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : undefined
      const known = sessions.get(request.headers['mcp-session-id'])
      if (known) return known.handleRequest(request, response, body)
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => String(sessions.size + 1),
        enableJsonResponse: true,
        onsessioninitialized: (id) => sessions.set(id, transport),
      })
      await echoServer().connect(transport)
      await transport.handleRequest(request, response, body)
    })()
  })
  server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })))
}

const [, , task] = process.argv
if (task === 'http') listen()
else await (task === 'pass' ? await passing() : echoServer()).connect(new StdioServerTransport())
