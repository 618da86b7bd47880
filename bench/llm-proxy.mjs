// A bare proxy for the LLM benchmark: `node bench/llm-proxy.mjs UPSTREAM`. What somebody would write who wants a proxy and nothing
// else, with the same server and client that the gateway has: bytes go through, both ways, and nobody looks at them.

import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { present } from './llm-ipc.mjs'

// The one that the gateway has; here there may be another.
const { Pool } = createRequire(new URL('../packages/gateway/package.json', import.meta.url))('undici')
const ONE_HOP = ['connection', 'host', 'keep-alive', 'transfer-encoding']

const [, , upstream] = process.argv
const pool = new Pool(upstream, { connections: 1024, pipelining: 1 })
const server = createServer((request, response) => {
  const { method, url: path } = request
  pool
    .stream({ method, path, headers: further(request.headers), body: request }, ({ statusCode, headers }) =>
      response.writeHead(statusCode, further(headers)),
    )
    .catch(() => response.destroy())
})
server.keepAliveTimeout = 10_000
server.listen(0, '127.0.0.1', () => present({ url: `http://127.0.0.1:${server.address().port}` }))

/** The headers that concern more than one connection. */
function further(headers) {
  const kept = { ...headers }
  for (const name of ONE_HOP) delete kept[name]
  return kept
}
