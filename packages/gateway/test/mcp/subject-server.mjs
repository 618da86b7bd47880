// A server with every feature of the conformance suite, on the official SDK, with both protocols at one address: `node
// mcp-subject-server.mjs both` or `… legacy`. It prints its address.

import { randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import process from 'node:process'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  acceptedContent,
  completable,
  createMcpHandler,
  createRequestStateCodec,
  fromJsonSchema,
  inputRequired,
  inputResponse,
  isLegacyRequest,
  McpServer,
  ResourceTemplate,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { z } from 'zod'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg=='
const SOUND = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='
const image = { type: 'image', data: PIXEL, mimeType: 'image/png' }
const text = (value) => ({ content: [{ type: 'text', text: value }] })
const codec = createRequestStateCodec({ key: randomBytes(32) })
const modern = createMcpHandler(build, { legacy: 'reject' })

function build() {
  const server = new McpServer(
    { name: 'subject', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        completions: {},
        logging: {},
      },
      requestState: { verify: codec.verify },
    },
  )
  addAnswering(server)
  addTelling(server)
  addAsking(server)
  addRounds(server)
  addResources(server)
  addPrompts(server)
  server.server.setRequestHandler('resources/subscribe', () => ({}))
  server.server.setRequestHandler('resources/unsubscribe', () => ({}))
  return server
}

/** Tools that answer at once. */
function addAnswering(server) {
  const answering = (name, result) =>
    server.registerTool(name, { description: `Answers, for ${name}` }, () => result)
  answering('test_simple_text', text('This is a simple text response for testing.'))
  answering('test_image_content', { content: [image] })
  answering('test_audio_content', { content: [{ type: 'audio', data: SOUND, mimeType: 'audio/wav' }] })
  const embedded = (uri, mimeType, value) => ({ type: 'resource', resource: { uri, mimeType, text: value } })
  answering('test_embedded_resource', {
    content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  })
  answering('test_multiple_content_types', {
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  })
  answering('test_error_handling', {
    ...text('This tool intentionally returns an error for testing'),
    isError: true,
  })
  const inputSchema = fromJsonSchema({
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    required: ['region'],
  })
  server.registerTool('test_headers', { description: 'Has a header', inputSchema }, ({ region }) =>
    text(region),
  )
}

/** Tools that send notifications while they run. */
function addTelling(server) {
  const telling = (name, run) =>
    server.registerTool(name, { description: `Tells, for ${name}` }, async (ctx) => {
      await run(ctx.mcpReq)
      return text('told')
    })
  const log = async (request) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await request.log('info', line)
      await sleep(50)
    }
  }
  telling('test_tool_with_logging', log)
  telling('test_logging_tool', log)
  telling('test_tool_with_progress', async (request) => {
    const progressToken = request._meta?.progressToken
    for (const progress of [0, 50, 100]) {
      const params = { progressToken, progress, total: 100 }
      if (progressToken !== undefined) await request.notify({ method: 'notifications/progress', params })
      await sleep(50)
    }
  })
  telling('test_trigger_tool_change', () => modern.notify.toolsChanged())
  telling('test_trigger_prompt_change', () => modern.notify.promptsChanged())
}

const elicit = (message, properties, required = Object.keys(properties)) =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required } })
const STRING = { type: 'string' }
const sample = (prompt, maxTokens = 100) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
    maxTokens,
  })

/** Tools that ask one question; in the legacy protocol that is a request of the server. */
function addAsking(server) {
  const asking = (name, properties, request, answer) =>
    server.registerTool(
      name,
      { description: `Asks, for ${name}`, inputSchema: z.object(properties) },
      (args, ctx) => {
        const given = inputResponse(ctx.mcpReq.inputResponses, 'it')
        return given.kind === 'missing'
          ? inputRequired({ inputRequests: { it: request(args) } })
          : text(answer(given, ctx.mcpReq.inputResponses.it))
      },
    )
  asking(
    'test_sampling',
    { prompt: z.string() },
    ({ prompt }) => sample(prompt),
    (_, raw) => `LLM response: ${raw.content.text}`,
  )
  const told = (_, raw) => `User response: ${JSON.stringify(raw)}`
  const asked = { username: { ...STRING, description: "User's response" }, email: { ...STRING } }
  asking('test_elicitation', { message: z.string() }, ({ message }) => elicit(message, asked), told)
  const completed = (_, raw) =>
    `Elicitation completed: action=${raw.action}, content=${JSON.stringify(raw.content)}`
  const defaults = {
    name: { ...STRING, default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { ...STRING, enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  }
  asking('test_elicitation_sep1034_defaults', {}, () => elicit('Defaults?', defaults, []), completed)
  asking('test_elicitation_sep1330_enums', {}, () => elicit('Choose', choices(), []), completed)
  asking('test_streaming_elicitation', {}, () => elicit('Stream?', { name: STRING }), completed)
  asking('test_missing_capability', {}, () => sample('Are you able to?'), completed)
}

function choices() {
  const titled = (names) => names.map((title, i) => ({ const: `value${i + 1}`, title }))
  const options = ['option1', 'option2', 'option3']
  return {
    untitledSingle: { ...STRING, enum: options },
    titledSingle: { ...STRING, oneOf: titled(['First Option', 'Second Option', 'Third Option']) },
    legacyEnum: {
      ...STRING,
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { ...STRING, enum: options } },
    titledMulti: {
      type: 'array',
      items: { anyOf: titled(['First Choice', 'Second Choice', 'Third Choice']) },
    },
  }
}

/** Tools of the modern protocol, which ask in rounds. */
function addRounds(server) {
  const rounds = (name, run) =>
    server.registerTool(`test_input_required_result_${name}`, { description: `Asks, for ${name}` }, (ctx) =>
      run(ctx.mcpReq.inputResponses, ctx.mcpReq, ctx),
    )
  const named = z.object({ name: z.string() })
  const who = elicit('What is your name?', { name: STRING })
  rounds('elicitation', (given) => {
    const answer = acceptedContent(given, 'user_name', named)
    return answer ? text(`Hello, ${answer.name}!`) : inputRequired({ inputRequests: { user_name: who } })
  })
  rounds('sampling', (given) =>
    given?.capital_question
      ? text(JSON.stringify(given.capital_question))
      : inputRequired({ inputRequests: { capital_question: sample('What is the capital of France?') } }),
  )
  rounds('list_roots', (given) =>
    given?.client_roots
      ? text(JSON.stringify(given.client_roots))
      : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } }),
  )
  const confirm = elicit('Please confirm', { ok: { type: 'boolean' } })
  for (const name of ['request_state', 'tampered_state']) {
    rounds(name, async (given, request, ctx) =>
      given?.confirm && request.requestState()?.name === name
        ? text('state-ok')
        : inputRequired({ inputRequests: { confirm }, requestState: await codec.mint({ name }, ctx) }),
    )
  }
  rounds('multiple_inputs', async (given, _, ctx) => {
    if (given?.user_name && given.greeting && given.client_roots) return text('all three')
    const asked = { user_name: who, greeting: sample('Generate a greeting', 50) }
    return inputRequired({
      inputRequests: { ...asked, client_roots: inputRequired.listRoots() },
      requestState: await codec.mint({ name: 'many' }, ctx),
    })
  })
  rounds('multi_round', async (given, request, ctx) => {
    const { step = 0 } = request.requestState() ?? {}
    if (given?.step2 && step === 2) return text('three rounds')
    const next = given?.step1 && step === 1 ? 2 : 1
    const question =
      next === 1
        ? elicit('Step 1: What is your name?', { name: STRING })
        : elicit('Step 2: What is your favorite color?', { color: STRING })
    return inputRequired({
      inputRequests: { [`step${next}`]: question },
      requestState: await codec.mint({ step: next }, ctx),
    })
  })
  rounds('capabilities', (given, request) => {
    if (given) return text('asked')
    const able = request.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {}
    return inputRequired({
      inputRequests: {
        ...(able.elicitation && { who }),
        ...(able.sampling && { greeting: sample('Generate a greeting', 50) }),
      },
    })
  })
}

function addResources(server) {
  const resource = (uri, mimeType, content) =>
    server.registerResource(uri, uri, { description: `The resource ${uri}`, mimeType }, (at) => ({
      contents: [{ uri: at.href, mimeType, ...content }],
    }))
  resource('test://static-text', 'text/plain', { text: 'This is the content of the static text resource.' })
  resource('test://static-binary', 'image/png', { blob: PIXEL })
  resource('test://watched-resource', 'text/plain', { text: 'Watched.' })
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined })
  const mimeType = 'application/json'
  server.registerResource('template', template, { description: 'By id', mimeType }, (uri, { id }) => ({
    contents: [
      {
        uri: uri.href,
        mimeType,
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
      },
    ],
  }))
}

function addPrompts(server) {
  const say = (...contents) => ({ messages: contents.map((content) => ({ role: 'user', content })) })
  const line = (value) => ({ type: 'text', text: value })
  const prompt = (name, argsSchema, run) =>
    server.registerPrompt(name, { description: `The prompt ${name}`, ...(argsSchema && { argsSchema }) }, run)
  prompt('test_simple_prompt', undefined, () => say(line('This is a simple prompt for testing.')))
  const arg1 = completable(z.string(), (value) => ['paris', 'park'].filter((each) => each.startsWith(value)))
  prompt('test_prompt_with_arguments', z.object({ arg1, arg2: z.string() }), (args) =>
    say(line(`Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'`)),
  )
  prompt('test_prompt_with_embedded_resource', z.object({ resourceUri: z.string() }), ({ resourceUri }) => {
    const value = 'Embedded resource content for testing.'
    const resource = { uri: resourceUri, mimeType: 'text/plain', text: value }
    return say({ type: 'resource', resource }, line('Please process the embedded resource above.'))
  })
  prompt('test_prompt_with_image', undefined, () => say(image, line('Please analyze the image above.')))
  prompt('test_input_required_result_prompt', undefined, (ctx) => {
    const given = acceptedContent(
      ctx.mcpReq.inputResponses,
      'user_context',
      z.object({ context: z.string() }),
    )
    if (given) return say(line(`With ${given.context}`))
    const asked = elicit('What context should the prompt use?', { context: STRING })
    return inputRequired({ inputRequests: { user_context: asked } })
  })
}

/** The legacy protocol has sessions, each with its own server. */
const sessions = new Map()

async function legacy(request) {
  const known = sessions.get(request.headers.get('mcp-session-id') ?? '')
  if (known) return known.handleRequest(request)
  if (request.headers.has('mcp-session-id')) return new Response('no such session', { status: 404 })
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  })
  await build().connect(transport)
  return transport.handleRequest(request)
}

const legacyOnly = process.argv[2] === 'legacy'

async function answer(incoming, outgoing) {
  const chunks = []
  for await (const chunk of incoming) chunks.push(chunk)
  const gone = new AbortController()
  outgoing.on('close', () => gone.abort())
  const request = new Request(`http://127.0.0.1${incoming.url}`, {
    method: incoming.method,
    headers: Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    signal: gone.signal,
    ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
  })
  const old = legacyOnly || (await isLegacyRequest(request))
  const response = await (old ? legacy(request) : modern.fetch(request))
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (!response.body) outgoing.end()
  else
    Readable.fromWeb(response.body)
      .on('error', () => outgoing.destroy())
      .pipe(outgoing)
}

const server = createServer((incoming, outgoing) => {
  answer(incoming, outgoing).catch(() => outgoing.destroy())
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
process.stdout.write(`http://localhost:${server.address().port}/mcp\n`)
