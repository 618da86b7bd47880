// An MCP server over HTTP that records the calls that reach it.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { at, isFields, type Fields } from './reading.ts'

/** The server, and the arguments of each call that has reached it. */
export interface Recorder {
  readonly url: string
  readonly calls: readonly Fields[]
  /** Runs inside of the next call, before the server answers it. */
  during(work: () => Promise<void>): void
  close(): void
}

const TOOLS = ['read', 'ask', 'forbidden', 'leak'].map((name) => ({
  name,
  description: `The tool ${name} of the suite.`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
}))
/** Looks like a key of a cloud provider, and is none. */
export const SECRET: string = ['AKIA', 'Q3E7XW5ZP2MHT4LK'].join('')

export async function startRecorder(): Promise<Recorder> {
  const calls: Fields[] = []
  let next: (() => Promise<void>) | undefined
  const answer = async (message: Fields): Promise<unknown> => {
    if (message.method === 'initialize') return greeting(message)
    if (message.method === 'tools/list') return { tools: TOOLS }
    if (message.method !== 'tools/call') return {}
    const args = at(message, 'params', 'arguments')
    calls.push(isFields(args) ? args : {})
    const work = next
    next = undefined
    await work?.()
    const isLeak = at(message, 'params', 'name') === 'leak'
    return { content: [{ type: 'text', text: isLeak ? `the key is ${SECRET}` : 'done' }] }
  }
  const server = createServer((request, response) => void reply(request, response, answer))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the recorder has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    calls,
    during: (work) => void (next = work),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function greeting(message: Fields): Fields {
  const version = at(message, 'params', 'protocolVersion')
  const serverInfo = { name: 'recorder', version: '1' }
  return { protocolVersion: version, capabilities: { tools: {} }, serverInfo }
}

async function reply(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (message: Fields) => Promise<unknown>,
): Promise<void> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  const message: unknown = request.method === 'POST' ? JSON.parse(text) : undefined
  if (!isFields(message)) return void response.writeHead(405).end()
  if (message.id === undefined) return void response.writeHead(202).end()
  const result = await answer(message)
  const body = JSON.stringify({ jsonrpc: '2.0', id: message.id, result })
  response.writeHead(200, { 'content-type': 'application/json' }).end(body)
}
