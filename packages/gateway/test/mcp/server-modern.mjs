// A modern server, built on the official library: over stdio, or over HTTP on a port that it prints.

import { createServer } from 'node:http'
import process from 'node:process'
import { Readable } from 'node:stream'
import { createMcpHandler, fromJsonSchema, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const text = (value) => ({ content: [{ type: 'text', text: value }] })
const schema = (properties) => fromJsonSchema({ type: 'object', properties })

function make() {
  const server = new McpServer(
    { name: 'modern', version: '1.2.3' },
    { capabilities: { tools: { listChanged: true }, logging: {} }, instructions: 'be kind' },
  )
  const place = { place: { type: 'string', 'x-mcp-header': 'Place' } }
  server.registerTool('echo', { inputSchema: schema(place) }, (given) => text(JSON.stringify(given)))
  server.registerTool('work', { inputSchema: schema({}) }, async (_, ctx) => {
    const { progressToken } = ctx.mcpReq._meta ?? {}
    await ctx.mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken, progress: 1, total: 1 },
    })
    await ctx.mcpReq.log('info', 'working')
    return text('worked')
  })
  server.registerTool('slow', { inputSchema: schema({}) }, async (_, ctx) => {
    await new Promise((resolve) => ctx.mcpReq.signal.addEventListener('abort', resolve))
    process.stderr.write('cancelled\n')
    return text('never heard')
  })
  server.registerTool('meet', { inputSchema: schema({}) }, (_, ctx) => {
    const given = ctx.mcpReq.inputResponses
    if (given) return text(JSON.stringify(given))
    return inputRequired({
      inputRequests: {
        name: inputRequired.elicit({
          message: 'who are you?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
        }),
        model: inputRequired.createMessage({
          messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }],
          maxTokens: 9,
        }),
      },
      requestState: 'kept',
    })
  })
  server.registerTool('change', { inputSchema: schema({}) }, () => {
    setImmediate(() => (handler ? handler.notify.toolsChanged() : server.sendToolListChanged()))
    return text('changed')
  })
  return server
}

let handler
if (process.argv[2] === 'stdio') serveStdio(make, { legacy: 'reject' })
else await serveHttp()

async function serveHttp() {
  handler = createMcpHandler(make, { legacy: 'reject' })
  const http = createServer((request, response) => void answer(request, response))
  http.listen(0, '127.0.0.1', () => process.stdout.write(`${http.address().port}\n`))
}

async function answer(request, response) {
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  const body = request.method === 'POST' ? { body: Readable.toWeb(request), duplex: 'half' } : {}
  const url = `http://127.0.0.1${request.url}`
  const given = await handler.fetch(
    new Request(url, { method: request.method, headers, signal: gone.signal, ...body }),
  )
  response.writeHead(given.status, Object.fromEntries(given.headers))
  if (!given.body) return response.end()
  Readable.fromWeb(given.body)
    .on('error', () => response.destroy())
    .pipe(response)
}
