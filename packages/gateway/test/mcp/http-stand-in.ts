// A scriptable HTTP server: the name of the called tool selects its behaviour. It records every request.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '@tollgate/evidence'
import { formatSse } from '../../src/sse.ts'

export interface Got {
  readonly verb: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly message: JsonObject
  readonly response: ServerResponse
}

export interface StandInOptions {
  readonly protocol: 'modern' | 'legacy'
  readonly version?: string
  readonly capabilities?: JsonObject
  /** Answers the modern greeting. By default it answers as its protocol requires. */
  readonly onDiscover?: (got: Got) => void
  readonly onInitialize?: (got: Got) => void
  /** The tools by name. */
  readonly tools?: Readonly<Record<string, (got: Got, say: Say) => void>>
  /** Answers any other request. */
  onOther?(got: Got): void
  /** Whether there is a stream for messages that belong to no request. */
  readonly aside?: boolean
}

export interface Say {
  json(message: JsonObject, status?: number, type?: string): void
  /** Begins a stream and returns the function that writes an event. */
  stream(): (message: JsonObject) => void
  done(text?: string): void
  text(text: string): JsonObject
}

export interface HttpStandIn {
  readonly url: string
  readonly got: readonly Got[]
  /** Ids of known sessions. */
  readonly sessions: Set<string>
  /** Resolves with the first request that fits. */
  gotten(fits: (got: Got) => boolean): Promise<Got>
  /** The stream for messages that belong to no request. */
  asides(): readonly ServerResponse[]
}

const open = new Set<() => Promise<void>>()

/** Closes everything that a test left open. */
export async function closeStandIns(): Promise<void> {
  await Promise.all([...open].map((close) => close()))
  open.clear()
}

export async function startHttp(options: StandInOptions): Promise<HttpStandIn> {
  const got: Got[] = []
  const watchers = new Set<() => void>()
  const sessions = new Set<string>()
  const asides: ServerResponse[] = []

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const one: Got = {
        verb: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        // Sound: the gateway sends objects.
        message: (body === '' ? {} : JSON.parse(body)) as JsonObject,
        response,
      }
      got.push(one)
      answer(one)
      for (const watcher of [...watchers]) watcher()
    })
  })

  function answer(one: Got): void {
    const { verb, message, response, headers } = one
    const say = sayTo(one, options.protocol)
    const { method } = message
    if (verb === 'GET')
      return options.aside === true ? beginAside(response) : void response.writeHead(405).end()
    if (verb === 'DELETE') return void response.writeHead(200).end()
    if (method === 'server/discover') return (options.onDiscover ?? discover)(one)
    if (method === 'initialize') return (options.onInitialize ?? initialize)(one)
    const session = headers['mcp-session-id']
    if (options.protocol === 'legacy' && !(typeof session === 'string' && sessions.has(session))) {
      return say.json(
        { jsonrpc: '2.0', id: null, error: { code: -32_001, message: 'Session not found' } },
        404,
      )
    }
    if (message.id === undefined || method === undefined) return void response.writeHead(202).end()
    if (method === 'tools/call') return callTool(one, say)
    if (options.onOther) return options.onOther(one)
    say.json({ jsonrpc: '2.0', id: message.id, result: {} })
  }

  function callTool(one: Got, say: Say): void {
    // Sound: the tests call tools by name.
    const name = (one.message.params as { name: string }).name
    const tool = options.tools?.[name]
    if (tool) tool(one, say)
    else say.done()
  }

  function beginAside(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(':\n\n')
    asides.push(response)
  }

  const serverInfo = { name: 'stand-in', version: '1' }
  const { capabilities = {}, version = '2025-11-25' } = options

  function discover(one: Got): void {
    const { id = null } = one.message
    const say = sayTo(one, options.protocol)
    if (options.protocol === 'legacy') {
      return say.json({ jsonrpc: '2.0', id: null, error: { code: -32_000, message: 'no session' } }, 400)
    }
    const supportedVersions = ['2026-07-28']
    say.json({
      jsonrpc: '2.0',
      id,
      result: { resultType: 'complete', supportedVersions, capabilities, serverInfo },
    })
  }

  function initialize({ message, response }: Got): void {
    const session = `session-${sessions.size + 1}`
    sessions.add(session)
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'mcp-session-id': session })
    const result = { protocolVersion: version, capabilities, serverInfo }
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // Sound: it listens on a port.
  const { port } = server.address() as AddressInfo
  open.add(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    url: `http://127.0.0.1:${port}/mcp?tenant=7`,
    got,
    sessions,
    asides: () => asides,
    async gotten(fits) {
      for (;;) {
        const found = got.find(fits)
        if (found) return found
        await new Promise<void>((resolve) => {
          const watcher = (): void => {
            watchers.delete(watcher)
            resolve()
          }
          watchers.add(watcher)
        })
      }
    },
  }
}

function sayTo({ message, response }: Got, protocol: StandInOptions['protocol']): Say {
  const { id = null } = message
  const text = (value: string): JsonObject => ({
    jsonrpc: '2.0',
    id,
    result: {
      ...(protocol === 'modern' && { resultType: 'complete' }),
      content: [{ type: 'text', text: value }],
    },
  })
  const json: Say['json'] = (value, status = 200, type = 'application/json') => {
    response.writeHead(status, { 'content-type': type })
    response.end(JSON.stringify(value))
  }
  return {
    json,
    text,
    done: (value = 'done') => json(text(value)),
    stream() {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(':\n\n')
      return (value) => response.write(formatSse(JSON.stringify(value)))
    },
  }
}
