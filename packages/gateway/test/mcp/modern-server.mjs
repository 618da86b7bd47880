// A server of the 2026-07-28 revision, built on the official SDK, with every feature: `node mcp-modern-server.mjs stdio` or `…
// http`, which prints its address. COUNTER names a file with one line per tool run, TAP a file with one line per HTTP message.

import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import process from 'node:process'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  acceptedContent,
  completable,
  createMcpHandler,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const { COUNTER, TAP } = process.env
// A white pixel.
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg=='
const PAGE = 2
const MEMOS = ['one', 'two', 'three', 'four', 'five']

// State added at run time. With HTTP every request gets its own server.
let grown = false
let handler

function count(line) {
  if (COUNTER) appendFileSync(COUNTER, `${line}\n`)
}

function build() {
  const server = new McpServer(
    { name: 'modern', title: 'A modern server', version: '1.2.3' },
    {
      instructions: 'Everything here is for tests.',
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        completions: {},
        logging: {},
      },
    },
  )
  addTools(server)
  addAskingTools(server)
  addResources(server)
  addPrompts(server)
  return server
}

async function tellProgress({ mcpReq }, progress) {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return
  await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...progress } })
  // The client gets it before the next message.
  await sleep(20)
}

function addTools(server) {
  const text = (value) => ({ content: [{ type: 'text', text: value }] })
  const tool = (name, config, run) =>
    server.registerTool(name, config, (...given) => {
      count(name)
      return run(...given)
    })
  tool(
    'echo',
    {
      title: 'Echo',
      description: 'Says it again',
      inputSchema: z.object({ text: z.string().max(10_000) }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    (args) => text(`again: ${args.text}`),
  )
  tool(
    'sum',
    {
      description: 'Adds numbers',
      inputSchema: z.object({ numbers: z.array(z.number()).max(16) }),
      outputSchema: z.object({ sum: z.number(), count: z.number() }),
    },
    ({ numbers }) => {
      const structuredContent = { sum: numbers.reduce((a, b) => a + b, 0), count: numbers.length }
      return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
    },
  )
  tool('picture', { description: 'One pixel and its kin' }, () => ({
    content: [
      {
        type: 'image',
        data: PIXEL,
        mimeType: 'image/png',
        annotations: { audience: ['user'], priority: 0.5 },
      },
      { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'memo:///one', name: 'one', mimeType: 'text/plain' },
      { type: 'resource', resource: { uri: 'memo:///two', mimeType: 'text/plain', text: 'memo two' } },
    ],
    _meta: { 'example.com/kept': { yes: true } },
  }))
  tool('fail', { description: 'Fails, and says so' }, () => ({ ...text('it did not work'), isError: true }))
  tool('throw', { description: 'Fails by throwing' }, () => {
    throw new Error('thrown on purpose')
  })
  tool(
    'slow',
    { description: 'Tells how far it is', inputSchema: z.object({ steps: z.int().max(100) }) },
    async ({ steps }, ctx) => {
      for (let i = 1; i <= steps; i++) {
        await tellProgress(ctx, { progress: i, total: steps, message: `step ${i}` })
        await ctx.mcpReq.log('info', `logged step ${i}`, 'slow')
      }
      return text(`${steps} steps`)
    },
  )
  tool('hang', { description: 'Ends when it is cancelled' }, async (ctx) => {
    const { signal } = ctx.mcpReq
    await tellProgress(ctx, { progress: 0 })
    // Keeps the process alive.
    const alive = setInterval(() => undefined, 1000)
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
    clearInterval(alive)
    count('hang was cancelled')
    return text('cancelled')
  })
  tool('grow', { description: 'Adds a tool, or takes it away' }, () => {
    grown = !grown
    if (grown) added = addGrown(server)
    else added?.remove()
    handler?.notify.toolsChanged()
    return text(grown ? 'grown' : 'shrunk')
  })
  tool(
    'touch',
    { description: 'Says that a resource has changed', inputSchema: z.object({ uri: z.string() }) },
    async ({ uri }) => {
      if (handler) handler.notify.resourceUpdated(uri)
      else await server.server.sendResourceUpdated({ uri })
      return text('touched')
    },
  )
  let added = grown ? addGrown(server) : undefined
}

function addGrown(server) {
  return server.registerTool('grown', { description: 'Was not there before' }, () => {
    count('grown')
    return { content: [] }
  })
}

function addAskingTools(server) {
  const say = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] })
  const asking = (name, description, run) =>
    server.registerTool(name, { description }, (ctx) => {
      count(`${name}${ctx.mcpReq.inputResponses ? ' again' : ''}`)
      return run(ctx.mcpReq)
    })
  asking('ask', 'Asks the user', ({ inputResponses }) => {
    const given = acceptedContent(inputResponses, 'who', z.object({ name: z.string() }))
    if (given) return say({ given })
    if (inputResponses?.who) return say({ declined: true })
    const requestedSchema = {
      type: 'object',
      properties: { name: { type: 'string', title: 'Name' } },
      required: ['name'],
    }
    return inputRequired({
      inputRequests: { who: inputRequired.elicit({ message: 'Who are you?', requestedSchema }) },
    })
  })
  asking('sample', 'Asks the model, with a state', ({ inputResponses, requestState }) => {
    const answer = inputResponse(inputResponses, 'thought')
    if (answer.kind === 'sampling') return say({ answer: answer.result, state: requestState() })
    return inputRequired({
      inputRequests: {
        thought: inputRequired.createMessage({
          messages: [{ role: 'user', content: { type: 'text', text: 'Think.' } }],
          maxTokens: 10,
        }),
      },
      requestState: 'state-of-sample',
    })
  })
  asking('roots', 'Asks for the roots', ({ inputResponses }) => {
    const answer = inputResponse(inputResponses, 'where')
    if (answer.kind === 'roots') return say({ roots: answer.roots })
    return inputRequired({ inputRequests: { where: inputRequired.listRoots() } })
  })
}

function addResources(server) {
  const template = new ResourceTemplate('memo:///{name}', {
    list: () => ({ resources: MEMOS.map((name) => ({ uri: `memo:///${name}`, name })) }),
    complete: { name: (value) => MEMOS.filter((name) => name.startsWith(value)) },
  })
  server.registerResource(
    'memo',
    template,
    { title: 'Memos', description: 'Short texts', mimeType: 'text/plain' },
    (uri, { name }) => ({
      contents: [{ uri: uri.href, mimeType: 'text/plain', text: `memo ${String(name)}`, _meta: { n: 1 } }],
    }),
  )
  server.registerResource('pixel', 'pixel:///white', { mimeType: 'image/png' }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: 'image/png', blob: PIXEL }],
  }))
  // Pagination, which the SDK does not provide.
  server.server.setRequestHandler('resources/list', ({ params }) => {
    const from = Number(params?.cursor ?? 0)
    const resources = MEMOS.slice(from, from + PAGE).map((name) => ({ uri: `memo:///${name}`, name }))
    return { resources, ...(from + PAGE < MEMOS.length && { nextCursor: String(from + PAGE) }) }
  })
}

function addPrompts(server) {
  const argsSchema = z.object({
    whom: completable(z.string(), (value) =>
      ['Ada', 'Alan', 'Grace'].filter((name) => name.startsWith(value)),
    ),
  })
  server.registerPrompt('greet', { title: 'Greeting', description: 'Greets', argsSchema }, ({ whom }) => ({
    description: 'A greeting',
    messages: [
      { role: 'user', content: { type: 'text', text: `Greet ${whom}.` } },
      { role: 'assistant', content: { type: 'image', data: PIXEL, mimeType: 'image/png' } },
    ],
  }))
}

async function serveHttp() {
  handler = createMcpHandler(build, { legacy: 'reject' })
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  process.stdout.write(`http://127.0.0.1:${server.address().port}/mcp\n`)
}

async function answer(incoming, outgoing) {
  const chunks = []
  for await (const chunk of incoming) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  if (TAP && body.length > 0) appendFileSync(TAP, `${body}\n`)
  const gone = new AbortController()
  outgoing.on('close', () => gone.abort())
  const response = await handler.fetch(
    new Request(`http://${incoming.headers.host}${incoming.url}`, {
      method: incoming.method,
      headers: incoming.headers,
      signal: gone.signal,
      ...(body.length > 0 && { body }),
    }),
  )
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (!response.body) outgoing.end()
  else
    Readable.fromWeb(response.body)
      .on('error', () => outgoing.destroy())
      .pipe(outgoing)
}

if (process.argv[2] === 'http') await serveHttp()
else serveStdio(build, { legacy: 'reject' })
