// A scripted model provider: a real HTTP server with all four dialects that records its requests. Like real providers it
// refuses inconsistent conversations.

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { constants, createGzip } from 'node:zlib'
import { isList, type Json, type JsonObject } from '@tollgate/evidence'
import { createAnthropicWire } from './upstream-anthropic.ts'
import { createChatWire } from './upstream-chat.ts'
import { createGeminiWire } from './upstream-gemini.ts'
import { createResponsesWire } from './upstream-responses.ts'
import {
  isObject,
  textIn,
  written,
  type Failure,
  type Frame,
  type Raw,
  type Sending,
  type Spoken,
  type Step,
  type Wire,
} from './upstream-script.ts'

export type { ScriptedCall, Step } from './upstream-script.ts'

/** The end of an exchange: everything was sent, the client disconnected before, or the script ended the socket. */
export type Ending = 'sent' | 'hung up' | 'died'

/** A request that it got. */
export interface Recorded {
  readonly verb: string
  readonly path: string
  /** The query, with its question mark. */
  readonly search: string
  readonly headers: IncomingHttpHeaders
  /** An empty object if there was none. */
  readonly body: JsonObject
  /** Whether a stream is requested. */
  readonly streamed: boolean
  /** As received. */
  readonly text: string
  /** The error that the client got. */
  readonly objection: string | undefined
  readonly ended: Promise<Ending>
  /** When the client disconnected, by `performance.now()`; undefined if it did not. */
  readonly hungUpAt: number | undefined
}

export interface Upstream {
  /** The base URL without a path. The dialects are under `/v1`. */
  readonly url: string
  readonly requests: readonly Recorded[]
  /** The number of unused replies in the script. */
  readonly left: number
  /** Adds replies, one for each request. */
  script(...steps: readonly Step[]): void
  /** From now on, requests without tools get this reply, such as requests for a title. */
  aside(step: Step): void
  close(): Promise<void>
}

interface Exchange {
  readonly recorded: { -readonly [Member in keyof Recorded]: Recorded[Member] }
  readonly response: ServerResponse
  readonly wire: Wire
}

/** Starts one. */
export async function startUpstream(...script: readonly Step[]): Promise<Upstream> {
  const steps = [...script]
  let apart: Step | undefined
  const requests: Recorded[] = []
  const wires: Readonly<Record<string, Wire>> = {
    '/v1/chat/completions': createChatWire(),
    '/v1/responses': createResponsesWire(),
    '/v1/messages': createAnthropicWire(),
    '/v1beta/models:generateContent': createGeminiWire(),
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const recorded = await record(request, response)
    requests.push(recorded)
    const wire = recorded.verb === 'POST' ? wires[usualPath(recorded.path)] : undefined
    if (wire === undefined) {
      sendFixed(recorded, response)
      return
    }
    const fault = wire.objection(recorded.body)
    if (fault !== undefined) {
      recorded.objection = JSON.stringify(fault.body)
      await sendFailure({ recorded, response, wire }, fault, {})
      return
    }
    const { tools } = recorded.body
    const isAside = apart !== undefined && !(isList(tools) && tools.length > 0)
    await perform({ recorded, response, wire }, (isAside ? apart : steps.shift()) ?? NOTHING_LEFT)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      // A fault of the script. It must not look like an answer.
      response.destroy(error instanceof Error ? error : new Error(String(error)))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Sound: a listening server has an address with a port.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    get left() {
      return steps.length
    },
    script: (...more) => void steps.push(...more),
    aside: (step) => void (apart = step),
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

// Prevents a retry, which would hide a superfluous request.
const NOTHING_LEFT: Step = {
  raw: {
    status: 400,
    headers: { 'content-type': 'application/json', 'x-should-retry': 'false' },
    body: '{"type":"error","error":{"type":"invalid_request_error","message":"the script has no more replies"}}',
  },
}

async function record(request: IncomingMessage, response: ServerResponse): Promise<Exchange['recorded']> {
  const chunks: Buffer[] = []
  // Sound: without an encoding, a request yields buffers.
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  const { method: verb = '', headers } = request
  const { pathname: path, search } = new URL(request.url ?? '/', 'http://upstream')
  const recorded: Exchange['recorded'] = {
    ...{ verb, path, search },
    headers,
    text,
    body: bodyOf(text),
    streamed: bodyOf(text).stream === true || path.endsWith(':streamGenerateContent'),
    objection: undefined,
    ended: once(response, 'close').then(() => {
      if (response.writableFinished) return 'sent'
      if (dying.has(response)) return 'died'
      recorded.hungUpAt = performance.now()
      return 'hung up'
    }),
    hungUpAt: undefined,
  }
  return recorded
}

function bodyOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

const dying = new WeakSet<ServerResponse>()

async function perform(exchange: Exchange, step: Step): Promise<void> {
  if ('raw' in step) return sendRaw(exchange, step)
  if ('status' in step) return sendFailure(exchange, exchange.wire.failure(step), step)
  return exchange.recorded.streamed ? sendStream(exchange, step) : sendReply(exchange, step)
}

function sendRaw({ response }: Exchange, { raw, ...sending }: Raw & Sending): Promise<void> {
  response.writeHead(raw.status, raw.headers)
  return write(response, [Buffer.from(raw.body)], sending)
}

function sendFailure({ response, wire }: Exchange, failure: Failure, sending: Sending): Promise<void> {
  const { status, headers, body } = failure
  return sendJson(response, body, { status, headers: { ...wire.headers(), ...headers }, sending })
}

function sendReply({ response, wire, recorded }: Exchange, step: Spoken & Sending): Promise<void> {
  const body = wire.reply(recorded.body, step)
  const text = JSON.stringify(body)
  const dieAfter = step.dieAfter === 'arguments' ? midstOf(text, step) : step.dieAfter
  const sending = { ...step, ...(dieAfter !== undefined && { dieAfter }) }
  return sendJson(response, body, { status: 200, headers: wire.headers(), sending })
}

/** Half of the arguments of the first call, which are a text or a value. */
function midstOf(text: string, { calls = [] }: Spoken): number {
  for (const call of calls) {
    for (const spelled of [JSON.stringify(written(call)), written(call)]) {
      const at = text.indexOf(spelled)
      if (at >= 0) return Buffer.byteLength(text.slice(0, at + Math.floor(spelled.length / 2)))
    }
  }
  throw new Error('no arguments to die in')
}

interface JsonAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly sending: Sending
}

async function sendJson(response: ServerResponse, body: JsonObject, answer: JsonAnswer): Promise<void> {
  const { status, headers, sending } = answer
  const pieces = await encoded([JSON.stringify(body)], sending)
  response.writeHead(status, {
    ...headers,
    ...(sending.gzip === true && { 'content-encoding': 'gzip' }),
    'content-type': 'application/json',
    'content-length': pieces.reduce((total, { length }) => total + length, 0),
  })
  await write(response, pieces, sending)
}

async function sendStream({ response, wire, recorded }: Exchange, step: Spoken & Sending): Promise<void> {
  const frames = wire.stream(recorded.body, step)
  const pieces = await encoded(
    frames.map(({ text }) => text),
    step,
  )
  response.writeHead(200, {
    ...wire.headers(),
    ...(step.gzip === true && { 'content-encoding': 'gzip' }),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  })
  const dieAfter = step.dieAfter === 'arguments' ? midst(frames, pieces) : step.dieAfter
  await write(response, pieces, { ...step, ...(dieAfter !== undefined && { dieAfter }) })
}

/** Half of the events that carry arguments. */
function midst(frames: readonly Frame[], pieces: readonly Buffer[]): number {
  const carrying = [...frames.keys()].filter((at) => frames[at]?.args === true)
  const middle = carrying[Math.floor(carrying.length / 2)]
  if (middle === undefined) throw new Error('no arguments to die in')
  return pieces.slice(0, middle).reduce((total, { length }) => total + length, 0)
}

async function encoded(texts: readonly string[], { gzip }: Sending): Promise<Buffer[]> {
  if (gzip !== true) return texts.map((text) => Buffer.from(text))
  const coder = createGzip()
  let out: Buffer[] = []
  coder.on('data', (chunk: Buffer) => void out.push(chunk))
  const pieces: Buffer[] = []
  for (const text of texts) {
    coder.write(text)
    await new Promise<void>((resolve) => {
      coder.flush(constants.Z_SYNC_FLUSH, resolve)
    })
    pieces.push(Buffer.concat(out))
    out = []
  }
  coder.end()
  await once(coder, 'end')
  return [...pieces, Buffer.concat(out)]
}

async function write(response: ServerResponse, pieces: readonly Buffer[], sending: Sending): Promise<void> {
  const { dieAfter } = sending
  const all = typeof dieAfter === 'number' ? [Buffer.concat(pieces).subarray(0, dieAfter)] : pieces
  response.socket?.setNoDelay(true)
  let first = true
  for (const piece of inChunks(all, sending)) {
    if (!first) await (sending.delayMs === undefined ? nextTurn() : pause(sending.delayMs))
    first = false
    if (response.destroyed) return
    if (!response.write(piece)) await Promise.race([once(response, 'drain'), once(response, 'close')])
  }
  if (typeof dieAfter !== 'number') {
    response.end()
    return
  }
  dying.add(response)
  // Written data should reach the client before the connection ends.
  await pause(20)
  response.socket?.destroy()
}

function inChunks(pieces: readonly Buffer[], { chunks = 'events' }: Sending): readonly Buffer[] {
  const parts = pieces.filter(({ length }) => length > 0)
  if (chunks === 'events') return parts
  const whole = Buffer.concat(parts)
  return chunks === 'whole' ? [whole] : Array.from(whole, (byte) => Buffer.of(byte))
}

/** The path of OpenAI for a path of Azure, and one path for all models and versions of Gemini. */
function usualPath(path: string): string {
  return path
    .replace(/^\/openai(?:\/deployments\/[\w.-]+|\/v1)?(?=\/)/, '/v1')
    .replace(/^\/v1(?:beta)?\/models\/[\w.-]+:(?:stream)?(\w+)$/, (_, method: string) => {
      return `/v1beta/models:${method[0]?.toLowerCase()}${method.slice(1)}`
    })
}

/** Requests that cannot hold a call are answered without a script. */
function sendFixed({ verb, path, headers, body }: Recorded, response: ServerResponse): void {
  const answer = FIXED[`${verb} ${usualPath(path)}`]?.(body, headers)
  response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(answer ?? { error: { message: `Invalid URL (${verb} ${path})`, code: null } }))
}

const FIXED: Readonly<Record<string, (body: JsonObject, headers: IncomingHttpHeaders) => JsonObject>> = {
  'GET /v1/models': (_, headers) => {
    if ('x-goog-api-key' in headers) return GEMINI_MODELS
    return 'anthropic-version' in headers ? ANTHROPIC_MODELS : OPENAI_MODELS
  },
  'POST /v1/embeddings': (body) => ({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: embedding(body.encoding_format) }],
    model: textIn(body.model),
    usage: { prompt_tokens: 4, total_tokens: 4 },
  }),
  'POST /v1/moderations': () => ({
    id: 'modr-scripted',
    model: 'omni-moderation-latest',
    results: [
      {
        flagged: false,
        categories: { violence: false },
        category_scores: { violence: 0.0001 },
        category_applied_input_types: { violence: ['text'] },
      },
    ],
  }),
  'POST /v1/messages/count_tokens': () => ({ input_tokens: 82 }),
  'POST /v1beta/models:countTokens': () => ({ totalTokens: 82 }),
  'POST /v1beta/models:embedContent': () => ({ embedding: { values: [0.25, -0.5, 1] } }),
  'POST /v1beta/models:batchEmbedContents': () => ({ embeddings: [{ values: [0.25, -0.5, 1] }] }),
  'GET /v1beta/models': () => GEMINI_MODELS,
}

const OPENAI_MODELS: JsonObject = {
  object: 'list',
  data: [{ id: 'gpt-4.1', object: 'model', created: 1_744_316_542, owned_by: 'system' }],
}

const GEMINI_MODELS: JsonObject = { models: [{ name: 'models/gemini-3-pro-preview' }] }

const ANTHROPIC_MODELS: JsonObject = {
  data: [
    {
      type: 'model',
      id: 'claude-opus-5',
      display_name: 'Claude Opus 5',
      created_at: '2026-05-05T00:00:00Z',
    },
  ],
  has_more: false,
  first_id: 'claude-opus-5',
  last_id: 'claude-opus-5',
}

function embedding(format: Json | undefined): Json {
  const numbers = [0.25, -0.5, 1]
  return format === 'base64' ? Buffer.from(new Float32Array(numbers).buffer).toString('base64') : numbers
}
