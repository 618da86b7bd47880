// Real peers: the official clients, one way to use all of them, and the official servers with how they are started.

import { readFileSync } from 'node:fs'
import { spawn, type ChildProcess } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Client as NewClient, StreamableHTTPClientTransport as NewHttp } from '@modelcontextprotocol/client'
import { StdioClientTransport as NewStdio } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js'

/** An official client: the SDK's first line, or its second in one of the two eras. */
export type Kind = 'v1' | 'v2 legacy' | 'v2 modern'
/** All of them. */
export const KINDS: readonly Kind[] = ['v1', 'v2 legacy', 'v2 modern']

/** Where a client finds its server. */
export type Place =
  | { readonly command: string; readonly args: readonly string[]; readonly env?: Record<string, string> }
  | { readonly url: string; readonly headers?: Record<string, string> }

/** Something a server told or asked. */
export interface Said {
  readonly method: string
  readonly params: unknown
}

/** What came of a request. */
export type Answer = Record<string, unknown>

/** A connected client, whichever it is. */
export interface Peer {
  readonly kind: Kind
  /** Who the server says it is. */
  readonly server: { capabilities: unknown; info: unknown; instructions: unknown }
  /** Every notification, in order. */
  readonly told: readonly Said[]
  /** Every request of the server. */
  readonly asked: readonly Said[]
  /** Sends a request. An error of the protocol is an answer too: `{error: {code, message}}`. */
  ask(method: string, params?: object, options?: AskOptions): Promise<Answer>
  /** Waits for a notification that fits; it may have come before. */
  hears(method: string, fits?: (params: Record<string, unknown>) => boolean): Promise<void>
  /** Asks to be told of changes, in the way of its era. */
  watch(uris: readonly string[]): Promise<void>
  close(): Promise<void>
}

/** How a request is sent. */
export interface AskOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: unknown) => void
}

/** What a client can do for servers, and what it then says. */
const CAPABILITIES = { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } }
// In the order that canonical JSON has: servers that write down what they were answered then write the same.
const REPLIES: Readonly<Record<string, Record<string, unknown>>> = {
  'elicitation/create': { action: 'accept', content: { check: true, integer: 7, name: 'Ada' } },
  'sampling/createMessage': {
    content: { text: 'sampled', type: 'text' },
    model: 'model-of-the-test',
    role: 'assistant',
    stopReason: 'endTurn',
  },
  'roots/list': { roots: [{ name: 'work', uri: 'file:///work/of/ada' }] },
}
const NOTICES = [
  'notifications/message',
  'notifications/resources/updated',
  'notifications/resources/list_changed',
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
] as const

const NAME = { name: 'peer', version: '1.0.0' }
const TIMEOUT = 20_000

/** Connects a client. */
export async function connectPeer(kind: Kind, place: Place): Promise<Peer> {
  return kind === 'v1' ? connectOld(place) : connectNew(kind, place)
}

async function connectOld(place: Place): Promise<Peer> {
  const heard = listening()
  const client = new OldClient(NAME, { capabilities: CAPABILITIES })
  client.setRequestHandler(ElicitRequestSchema, (request) => heard.reply(request))
  client.setRequestHandler(CreateMessageRequestSchema, (request) => heard.reply(request))
  client.setRequestHandler(ListRootsRequestSchema, (request) => heard.reply(request))
  client.fallbackNotificationHandler = (notification) => {
    heard.hear(notification)
    return Promise.resolve()
  }
  const transport =
    'url' in place
      ? new OldHttp(new URL(place.url), { requestInit: { headers: place.headers ?? {} } })
      : new OldStdio({ ...place, args: [...place.args], stderr: 'ignore' })
  // Sound: the SDK's own transports; its types are not made for exact optional properties.
  await client.connect(transport, { timeout: TIMEOUT })
  return {
    kind: 'v1',
    ...heard.record,
    server: {
      capabilities: client.getServerCapabilities(),
      info: client.getServerVersion(),
      instructions: client.getInstructions(),
    },
    ask: (method, params = {}, { signal, onProgress } = {}) =>
      answerOf(
        client.request({ method, params: { ...params } }, ResultSchema, {
          timeout: TIMEOUT,
          ...(signal && { signal }),
          ...(onProgress && { onprogress: onProgress }),
        }),
      ),
    async watch(uris) {
      for (const uri of uris) await client.subscribeResource({ uri })
    },
    close: () => client.close(),
  }
}

async function connectNew(kind: Kind, place: Place): Promise<Peer> {
  const heard = listening()
  const modern = kind === 'v2 modern'
  const client = new NewClient(NAME, {
    capabilities: CAPABILITIES,
    versionNegotiation: { mode: modern ? { pin: '2026-07-28' } : 'legacy' },
  })
  client.setRequestHandler('elicitation/create', (request) => heard.reply(request))
  client.setRequestHandler('sampling/createMessage', (request) => heard.reply(request))
  client.setRequestHandler('roots/list', (request) => heard.reply(request))
  for (const method of NOTICES) client.setNotificationHandler(method, (notice) => heard.hear(notice))
  const transport =
    'url' in place
      ? new NewHttp(new URL(place.url), { requestInit: { headers: place.headers ?? {} } })
      : new NewStdio({ ...place, args: [...place.args], stderr: 'ignore' })
  await client.connect(transport, { timeout: TIMEOUT })
  return {
    kind,
    ...heard.record,
    server: {
      capabilities: client.getServerCapabilities(),
      info: client.getServerVersion(),
      instructions: client.getInstructions(),
    },
    ask: (method, params = {}, { signal, onProgress } = {}) =>
      answerOf(
        // Sound: every method that the tests use is one of the protocol.
        client.request(
          { method: method as 'tools/call', params: params as never },
          {
            timeout: TIMEOUT,
            ...(signal && { signal }),
            ...(onProgress && { onprogress: onProgress }),
          },
        ),
      ),
    async watch(uris) {
      if (modern) {
        await client.listen({
          toolsListChanged: true,
          promptsListChanged: true,
          resourcesListChanged: true,
          resourceSubscriptions: [...uris],
        })
      } else for (const uri of uris) await client.subscribeResource({ uri })
    },
    close: () => client.close(),
  }
}

/** What a client hears, and what it says to servers that ask. */
function listening(): {
  record: Pick<Peer, 'told' | 'asked' | 'hears'>
  hear(said: { method: string; params?: unknown }): void
  reply(said: { method: string; params?: unknown }): never
} {
  const told: Said[] = []
  const asked: Said[] = []
  let wake = new Set<() => void>()
  return {
    record: {
      told,
      asked,
      async hears(method, fits = () => true) {
        const has = (): boolean =>
          told.some((each) => each.method === method && fits({ ...(each.params as object | undefined) }))
        while (!has()) await new Promise<void>((resolve) => wake.add(resolve))
      },
    },
    hear({ method, params }) {
      told.push({ method, params })
      const waiting = wake
      wake = new Set()
      for (const each of waiting) each()
    },
    reply({ method, params }) {
      asked.push({ method, params })
      // Sound: each method's own reply; what kind it must be, only the SDK's types know.
      return structuredClone(REPLIES[method]) as never
    },
  }
}

async function answerOf(request: Promise<unknown>): Promise<Answer> {
  try {
    return (await request) as Answer
  } catch (fault) {
    const { code, message } = fault as { code?: unknown; message?: unknown }
    return { error: { code, message } }
  }
}

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const file = (name: string): string => `${root}node_modules/@modelcontextprotocol/${name}`

/** The command of a server that is started for each client: program and arguments. */
export const COMMANDS: Readonly<
  Record<'everything' | 'filesystem' | 'memory' | 'modern', readonly string[]>
> = {
  everything: [process.execPath, file('server-everything/dist/index.js'), 'stdio'],
  filesystem: [process.execPath, file('server-filesystem/dist/index.js')],
  memory: [process.execPath, file('server-memory/dist/index.js')],
  modern: [process.execPath, fileURLToPath(new URL('./modern-server.mjs', import.meta.url)), 'stdio'],
}

/** What writes down all that a server is sent. */
export function tapped(tap: string, command: readonly string[]): readonly string[] {
  return [process.execPath, fileURLToPath(new URL('./tap.mjs', import.meta.url)), tap, ...command]
}

/** A command as a client starts it. */
export function placeOf(
  [command = '', ...args]: readonly string[],
  env: Record<string, string> = {},
): Extract<Place, { command: string }> {
  return { command, args, env: { PATH: process.env.PATH ?? '', ...env } }
}

/** The messages of one method that a tap has seen. */
export function seen(tap: string, method?: string): readonly Record<string, unknown>[] {
  let text = ''
  try {
    text = readFileSync(tap, 'utf8')
  } catch {
    // Nothing has ever been sent.
  }
  const messages = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  return method === undefined ? messages : messages.filter((message) => message.method === method)
}

/** A server with HTTP that has been started. */
export interface Started {
  readonly url: string
  stop(): Promise<void>
}

/** Starts the everything server with Streamable HTTP. */
export async function startEverything(): Promise<Started> {
  const port = await freePort()
  const child = spawn(process.execPath, [file('server-everything/dist/index.js'), 'streamableHttp'], {
    env: { PATH: process.env.PATH ?? '', PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await said(child, 'stderr', /listening on port/)
  return { url: `http://127.0.0.1:${port}/mcp`, stop: () => stopped(child) }
}

/** Starts the modern server with HTTP. */
export async function startModern(env: Record<string, string>): Promise<Started> {
  const [program = '', script = ''] = COMMANDS.modern
  const child = spawn(program, [script, 'http'], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await said(child, 'stdout', /^(http:\S+)\n/)
  return { url, stop: () => stopped(child) }
}

/** Starts the server that the conformance suite finds everything in. */
export async function startSubject(eras: 'both' | 'legacy'): Promise<Started> {
  const script = fileURLToPath(new URL('./subject-server.mjs', import.meta.url))
  const child = spawn(process.execPath, [script, eras], {
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await said(child, 'stdout', /^(http:\S+)\n/)
  return { url, stop: () => stopped(child) }
}

/** Waits until a process has said something; answers with the first group. */
export function said(child: ChildProcess, stream: 'stdout' | 'stderr', what: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    child[stream]?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const found = what.exec(text)
      if (found) resolve(found[1] ?? '')
    })
    child.once('exit', (code) => reject(new Error(`it has ended with ${code ?? 'a signal'}: ${text}`)))
  })
}

/** Ends a process, and waits for its end. */
export function stopped(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill(signal)
  })
}

/** A port that was free a moment ago. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
